import type { Sample } from "./samples.ts";

/** A webhook's signature checked, in the languages of the guide. */
export function verifySamples(): readonly Sample[] {
  return [
    { name: "Node", text: NODE },
    { name: "Python", text: PYTHON },
    { name: "PHP", text: PHP },
  ];
}

/** The body of a message about a finished list. */
export const WEBHOOK_EXAMPLE = JSON.stringify(
  {
    event: "bulk.completed",
    timestamp: "2026-11-20T12:00:00.000Z",
    data: {
      session: "3f2a9c1b5d7e4f60a1b2c3d4e5f60718",
      stats: {
        total: 250,
        unique: 240,
        invalid_format: 3,
        invalid_dns: 11,
        disposable: 26,
        valid: 200,
      },
    },
  },
  null,
  2,
);

const NODE = `import { createHmac, timingSafeEqual } from "node:crypto";

export function isGenuine(body, header, secret) {
  if (secret === "" || header === undefined || !/^[0-9a-f]{64}$/.test(header)) return false;
  const wanted = createHmac("sha256", secret).update(body).digest();
  return timingSafeEqual(wanted, Buffer.from(header, "hex"));
}`;

const PYTHON = `import hashlib, hmac, re

def is_genuine(body: bytes, header: str | None, secret: str) -> bool:
    if not secret or header is None or not re.fullmatch(r"[0-9a-f]{64}", header):
        return False
    wanted = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(wanted, header)`;

const PHP = `<?php
function is_genuine(string $body, ?string $header, string $secret): bool {
    if ($secret === "" || $header === null || !preg_match('/\\A[0-9a-f]{64}\\z/', $header)) {
        return false;
    }
    return hash_equals(hash_hmac("sha256", $body, $secret), $header);
}`;
