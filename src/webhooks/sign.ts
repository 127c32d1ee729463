import { createHmac } from "node:crypto";

/** Lower-case hex HMAC-SHA256 of `body`: 64 characters. `body` is the exact octets that are sent. */
export function sign(secret: string, body: Uint8Array): string {
  // An empty key is legal to HMAC and would make every forger right, so it is refused here.
  if (secret === "") throw new Error("sign: empty secret");
  return createHmac("sha256", secret).update(body).digest("hex");
}
