import { strict as assert } from "node:assert";
import { manualClock } from "../time/manual-clock.ts";
import type { Answer } from "../../src/core/mail/lookup.ts";
import { createDnsLookup } from "../../src/dns/lookup.ts";
import type { Resolver } from "../../src/dns/resolver.ts";
import type { Reply } from "../../src/dns/message/wire.ts";

const TYPES = new Map([
  [1, "A"],
  [2, "NS"],
  [15, "MX"],
  [16, "TXT"],
  [28, "AAAA"],
]);

export type Replies = Readonly<Record<string, Reply<unknown>>>;

/** A lookup on a resolver that says what the literal says, "MX a.example" for a key; all else is SERVFAIL. */
export function world(replies: Replies) {
  const clock = manualClock();
  const asked: string[] = [];
  const said = new Map(Object.entries(replies));
  let isClosed = false;
  const resolver: Resolver = {
    ask({ name, kind }, done) {
      const key = `${TYPES.get(kind.type)} ${name}`;
      asked.push(key);
      const reply = said.get(key) ?? { kind: "unknown", why: "servfail" };
      // The literal's records are of the type its key names.
      setImmediate(() => done(reply as Parameters<typeof done>[0], 0));
    },
    room: () => undefined,
    stats: () => assert.fail("not asked for"),
    close: () => void (isClosed = true),
  };
  const lookup = createDnsLookup(resolver, { clock });
  return { clock, asked, said, lookup, isClosed: () => isClosed };
}

export const found = (records: readonly unknown[], ttlSeconds = 300): Reply<unknown> => ({
  kind: "found",
  records,
  ttlSeconds,
});

export const noName: Reply<unknown> = { kind: "absent", why: "noName", ttlSeconds: 60 };

/** An answer with seconds to live for an instant of its end. */
export function told(answer: Answer<unknown>, nowMs: number): unknown {
  const { expiresAtMs = NaN, ...rest } = answer;
  return { ...rest, seconds: (expiresAtMs - nowMs) / 1_000 };
}

export const host = { preference: 1, host: "mx.example" };
