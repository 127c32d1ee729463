import assert from "node:assert/strict";
import { test } from "node:test";
import { checkDeps, domainOf } from "../../test/process/check-run.ts";
import { leastOf, longestTurnMs, TURN_MAX_MS } from "../../test/time/longest-turn.ts";
import { realClock } from "../../test/time/real-clock.ts";
import { runChecks } from "../core/checks/run.ts";
import { createDnsLookup } from "./lookup.ts";
import type { Resolver } from "./resolver.ts";

/** A resolver that answers every TXT question with one text, and has nothing else. */
function textResolver(textOf: (name: string) => string): Resolver {
  return {
    ask({ name, kind }, done) {
      const records = [textOf(name)] as never[];
      const isText = kind.type === 16;
      setImmediate(() =>
        isText
          ? done({ kind: "found", records, ttlSeconds: 300 }, 0)
          : done({ kind: "absent", why: "noData", ttlSeconds: 300 }, 0),
      );
    },
    room: () => undefined,
    stats: () => assert.fail("not asked for"),
    close: () => undefined,
  };
}

const next = (name: string): string =>
  `r${String(Number(/^r(\d+)/.exec(name)?.[1] ?? 0) + 1)}.a.example`;
const filled = (unit: string, redirect: (name: string) => string) => (name: string) =>
  `v=spf1 ${unit.repeat(64_000 / unit.length)} redirect=${redirect(name)}`;

const TEXTS: readonly (readonly [what: string, textOf: (name: string) => string])[] = [
  ["redirects of 64 KB of macros", () => `v=spf1 redirect=${"%{d}".repeat(16_000)}`],
  [
    "redirects of many macros, ten deep",
    (name) => `v=spf1 redirect=${"%{d1r-}.".repeat(27)}${next(name)}`,
  ],
  ["64 KB of escapes, ten deep", filled(`x=${"%%".repeat(100)} `, next)],
  ["terms, ten deep", filled("a:%{d} ", next)],
  ["long texts, ten deep", filled(`ip4:192.0.2.1${" ".repeat(400)}`, next)],
  ["tags", () => `v=DMARC1; ${"a=b;".repeat(16_000)}`],
  ["a key", () => `v=DKIM1; p=${"A".repeat(64_000)}`],
];

for (const [what, textOf] of TEXTS) {
  test(`no turn of the event loop takes more than ${String(TURN_MAX_MS)} ms of the processor: ${what}`, async () => {
    const lookup = createDnsLookup(textResolver(textOf), { clock: realClock });
    const deps = checkDeps({
      ...lookup,
      registration: () => ({ kind: "unknown", why: "refused" }),
    });
    const asked = {
      features: ["spf", "dkim", "dmarc", "inbox_provider"],
      spamTrap: false,
    } as const;
    const subject = { domain: domainOf("a.example"), mail: { kind: "unknown" } } as const;
    // The first round fills the cache, so that the others read all texts without a pause for the network.
    await runChecks(asked, subject, deps);
    const least = await leastOf(() => longestTurnMs(() => runChecks(asked, subject, deps)));
    assert.ok(least <= TURN_MAX_MS, `${least.toFixed(0)} ms`);
  });
}
