import { strict as assert } from "node:assert";
import { test } from "node:test";
import { found, host, noName, type Replies, told, world } from "../../test/dns/scripted-replies.ts";
import type { Reply } from "./message/wire.ts";

const alias = (target: string, ttlSeconds = 300): Reply<unknown> => ({
  kind: "alias",
  target,
  ttlSeconds,
});

const hops = (count: number): Replies =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `MX c${index}.example`,
      alias(`c${index + 1}.example`),
    ]),
  );

const aliasCases: readonly (readonly [string, Replies, unknown])[] = [
  [
    "an alias is asked on, and its TTL counts",
    { "MX c0.example": alias("x.example", 40), "MX x.example": found([host]) },
    { kind: "found", records: [host], seconds: 40 },
  ],
  [
    "an alias to nothing is absent, no longer than the alias lives",
    { "MX c0.example": alias("x.example", 20), "MX x.example": noName },
    { kind: "absent", why: "noName", seconds: 20 },
  ],
  [
    "seven aliases are followed",
    { ...hops(7), "MX c7.example": found([host]) },
    { kind: "found", records: [host], seconds: 300 },
  ],
  [
    "eight are not",
    { ...hops(8), "MX c8.example": found([host]) },
    { kind: "unknown", why: "malformed", seconds: 5 },
  ],
  [
    "a loop is unknown",
    { "MX c0.example": alias("c1.example"), "MX c1.example": alias("c0.example") },
    { kind: "unknown", why: "malformed", seconds: 5 },
  ],
  [
    "an alias to the root is unknown",
    { "MX c0.example": alias("") },
    { kind: "unknown", why: "malformed", seconds: 5 },
  ],
  [
    "an alias to a name that is no host name is asked on",
    { "MX c0.example": alias("_a\\046.example"), "MX _a\\046.example": found([host]) },
    { kind: "found", records: [host], seconds: 300 },
  ],
];

for (const [name, replies, want] of aliasCases) {
  test(`aliases: ${name}`, async () => {
    const { lookup, clock } = world(replies);
    assert.deepEqual(told(await lookup.mx("c0.example"), clock.nowMs()), want);
  });
}
