import { strict as assert } from "node:assert";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { dnsClient } from "../../test/dns/dns-client.ts";
import { startDnsServer } from "../../test/dns/dns-server.ts";
import type { ServedName, ServedZone } from "../../test/dns/dns-zone.ts";
import { type ManualClock, manualClock } from "../../test/time/manual-clock.ts";
import type { Answer, Until } from "../core/mail/lookup.ts";
import type { DnsLookup } from "./lookup.ts";

/** Packets travel in real time; the clock is turned in small steps. */
async function pass(clock: ManualClock, milliseconds: number): Promise<void> {
  for (let ms = 0; ms < milliseconds; ms += 5) {
    await sleep(1);
    clock.advance(5);
  }
  await sleep(20);
}

interface World {
  readonly lookup: DnsLookup;
  readonly clock: ManualClock;
  readonly asked: readonly string[];
  /** A deadline `milliseconds` from now. */
  readonly within: (milliseconds: number) => Until;
}

async function inWorld(zone: ServedZone, run: (world: World) => Promise<void>): Promise<void> {
  const clock = manualClock();
  const server = await startDnsServer(zone, {}, clock);
  const lookup = dnsClient([server], { clock });
  const within = (milliseconds: number): Until => {
    const endMs = clock.monotonicMs() + milliseconds;
    return {
      get isPast() {
        return clock.monotonicMs() >= endMs;
      },
    };
  };
  try {
    await run({ lookup, clock, asked: server.asked, within });
  } finally {
    lookup.close();
    await server.close();
  }
}

const NAME = "shop.example";

const CASES: readonly [
  name: string,
  served: ServedName,
  asks: "mx" | "addresses",
  want: string[],
][] = [
  ["silence: no further try", { behave: "silent" }, "mx", ["MX shop.example"]],
  [
    "a late answer without A: no question about AAAA",
    { mx: ["10 mx.example"], delayMs: 350 },
    "addresses",
    ["A shop.example"],
  ],
  [
    "a late alias: its target is not asked for",
    { cname: "other.example", lazyAlias: true, delayMs: 350 },
    "mx",
    ["MX shop.example"],
  ],
  [
    "a late truncated answer: TCP is not asked",
    { behave: "truncated", mx: ["10 mx.example"], delayMs: 350 },
    "mx",
    ["MX shop.example"],
  ],
  [
    "a late FORMERR: no question without EDNS",
    { behave: "formErrOnEdns", mx: ["10 mx.example"], delayMs: 350 },
    "mx",
    ["MX shop.example"],
  ],
];

for (const [name, served, type, want] of CASES) {
  test(`nothing is sent after the deadline of ${name}`, () =>
    inWorld({ [NAME]: served, "other.example": { mx: ["10 mx.example"] } }, async (world) => {
      const { lookup, clock, asked, within } = world;
      void lookup[type](NAME, undefined, within(300));
      await pass(clock, 2_000);
      assert.deepEqual(asked, want);
    }));
}

test("an answer that comes after the deadline is kept for the next asker", () =>
  inWorld({ [NAME]: { mx: ["10 mx.example"], delayMs: 350 } }, async (world) => {
    const { lookup, clock, asked, within } = world;
    void lookup.mx(NAME, undefined, within(300));
    await pass(clock, 450);
    assert.equal((await lookup.mx(NAME)).kind, "found");
    assert.deepEqual(asked, ["MX shop.example"]);
  }));

test("what was given up is asked again at once by the next asker, and not from the cache", () =>
  inWorld(
    {
      [NAME]: { cname: "other.example", lazyAlias: true, delayMs: 350 },
      "other.example": { mx: ["10 mx.example"] },
    },
    async (world) => {
      const { lookup, clock, within } = world;
      void lookup.mx(NAME, undefined, within(300));
      await pass(clock, 600);
      let answer: Answer<unknown> | undefined;
      void Promise.resolve(lookup.mx(NAME)).then((given) => (answer = given));
      await pass(clock, 600);
      assert.equal(answer?.kind, "found");
    },
  ));

test("tries go on when another asker joins a question that nobody waited for", () =>
  inWorld({ [NAME]: { behave: "silent", times: 1, mx: ["10 mx.example"] } }, async (world) => {
    const { lookup, clock, asked, within } = world;
    void lookup.mx(NAME, undefined, within(300));
    await pass(clock, 600);
    assert.equal(asked.length, 1);
    let answer: Answer<unknown> | undefined;
    void Promise.resolve(lookup.mx(NAME, undefined, within(1_500))).then(
      (given) => (answer = given),
    );
    await pass(clock, 1_000);
    assert.equal(answer?.kind, "found");
    assert.equal(asked.length, 2);
  }));

test("a try that was left out because nobody waited makes no unknown that others are given", () =>
  inWorld({ [NAME]: { behave: "silent", times: 1, mx: ["10 mx.example"] } }, async (world) => {
    const { lookup, clock, within } = world;
    void lookup.mx(NAME, undefined, within(50));
    await pass(clock, 3_000);
    let answer: Answer<unknown> | undefined;
    void Promise.resolve(lookup.mx(NAME)).then((given) => (answer = given));
    await pass(clock, 300);
    assert.equal(answer?.kind, "found");
  }));

test("where UDP is silent, TCP is found though every asker leaves before the last try", () => {
  const names = Array.from({ length: 8 }, (_, index) => `n${String(index)}.example`);
  const served: ServedName = { behave: "silentUdp", mx: ["10 mx.example"] };
  const zone = Object.fromEntries(names.map((name) => [name, served]));
  return inWorld(zone, async ({ lookup, clock, within }) => {
    const kinds: string[] = [];
    for (const name of names) {
      const answer = Promise.resolve(lookup.mx(name, undefined, within(1_000)));
      void answer.then(({ kind }) => kinds.push(kind));
      await pass(clock, 2_700);
    }
    assert.deepEqual(kinds.slice(-2), ["found", "found"]);
  });
});
