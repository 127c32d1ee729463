import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { forkDnsServer } from "../dns/dns-server.ts";
import { testWithTools } from "../process/require-tool.ts";

const run = promisify(execFile);

async function seenBy(program: string, ...words: readonly string[]): Promise<unknown> {
  const path = fileURLToPath(new URL(`../../../clients/php/tests/${program}`, import.meta.url));
  return JSON.parse((await run("php", [path, ...words])).stdout);
}

const ZONE = {
  "four.example": { a: ["192.0.2.1", "192.0.2.2"] },
  "six.example": { aaaa: ["2001:db8::6"] },
  "alias.example": { cname: "four.example" },
  "short.inner.example": { a: ["192.0.2.3"] },
  "forged.example": { a: ["192.0.2.4"], behave: "forgedFirst" },
  "silent.example": { behave: "silent" },
  "garbage.example": { behave: "garbage" },
  "loop.example": { behave: "pointerLoop" },
  "other.id.example": { behave: "wrongId" },
  "servfail.example": { behave: "servfail" },
} as const;

/** What is found, or the kind of the fault. */
const NAMES: Readonly<Record<string, readonly string[] | string>> = {
  "four.example": ["192.0.2.1", "192.0.2.2"],
  "four.example.": ["192.0.2.1", "192.0.2.2"],
  "six.example": ["2001:db8::6"],
  "alias.example": ["192.0.2.1", "192.0.2.2"],
  short: ["192.0.2.3"],
  "forged.example": ["192.0.2.4"],
  "both.example": ["127.0.0.9", "::1"],
  "OTHER.example": ["127.0.0.9"],
  "192.0.2.9": ["192.0.2.9"],
  "[2001:db8::9]": ["2001:db8::9"],
  "gone.example": "network",
  "silent.example": "timeout",
  "garbage.example": "timeout",
  "loop.example": "network",
  "other.id.example": "timeout",
  "servfail.example": "network",
};

testWithTools(["php"], "the PHP client looks up names by its deadline", async () => {
  const dns = await forkDnsServer(ZONE);
  try {
    const asked = Object.entries(NAMES).map(([name, want]) => [
      name,
      want === "timeout" ? 200 : 10_000,
    ]);
    const words = [`127.0.0.1:${String(dns.port)}`, JSON.stringify(Object.fromEntries(asked))];
    assert.deepEqual(await seenBy("run_names.php", ...words), NAMES);
  } finally {
    await dns.close();
  }
});

testWithTools(["php"], "the PHP client verifies every form of a raw body", async () => {
  assert.deepEqual(await seenBy("run_webhooks.php"), {
    text: true,
    stream: true,
    other: false,
    "no body": false,
    "no signature": false,
    "two signatures": false,
    "no secret": false,
    parsed: "body: give the raw body, not what a parser made of it: docs/webhooks.md",
  });
});
