import { strict as assert } from "node:assert";
import { suite, test } from "node:test";
import { zoneLookup, type Zone } from "../../test/dns/zone-lookup.ts";
import { type ManualClock, manualClock } from "../../test/time/manual-clock.ts";
import { literalDatasets } from "../../test/lists/literal-datasets.ts";
import type { Feature } from "../core/checks/registry.ts";
import type { Answer, Awaitable, Lookup } from "../core/mail/lookup.ts";
import type { Clock } from "../base/clock.ts";
import { createSingleCheck } from "./single-check.ts";

/** Timers of Node may fire up to 1 ms before the clock says so. */
const EARLY_MS = 0.9;

const early = (clock: ManualClock): Clock => ({
  ...clock,
  after: (delayMs, task) => clock.after(Math.max(0, delayMs - EARLY_MS), task),
});

const count = <T>(length: number, make: (at: number) => T): T[] =>
  Array.from({ length }, (_, at) => make(at));

const GOOD = { mx: ["10 mx.good.test"], a: ["203.0.113.5"] };
const DEEP = "a.b.c.d.e.f.good.test";

interface Chain {
  readonly name: string;
  readonly entry: string;
  readonly features: readonly Feature[];
  readonly zone: Zone;
}

const CHAINS: readonly Chain[] = [
  {
    name: "mail hosts",
    entry: "good.test",
    features: [],
    zone: { "good.test": { mx: count(10, (at) => `${String(at)} mx${String(at)}.good.test`) } },
  },
  {
    name: "selectors of DKIM",
    entry: "good.test",
    features: ["dkim"],
    zone: { "good.test": GOOD },
  },
  { name: "the walk of DMARC", entry: DEEP, features: ["dmarc"], zone: { [DEEP]: GOOD } },
  {
    name: "redirects of SPF",
    entry: "good.test",
    features: ["spf"],
    zone: {
      "good.test": { ...GOOD, txt: ["v=spf1 redirect=r0.test"] },
      ...Object.fromEntries(
        count(9, (at) => [
          `r${String(at)}.test`,
          { txt: [`v=spf1 redirect=r${String(at + 1)}.test`] },
        ]),
      ),
    },
  },
  {
    name: "includes of SPF behind a gateway",
    entry: "good.test",
    features: ["inbox_provider", "spf"],
    zone: {
      "good.test": {
        mx: ["10 mx.pphosted.com"],
        txt: [`v=spf1 ${count(9, (at) => `include:i${String(at)}.test`).join(" ")} -all`],
      },
    },
  },
  {
    name: "the registry",
    entry: "good.test",
    features: ["domain_age"],
    zone: { "good.test": GOOD },
  },
  {
    name: "all of them",
    entry: "good.test",
    features: ["spf", "dmarc", "dkim", "domain_age", "inbox_provider", "deliverability"],
    zone: { "good.test": { ...GOOD, txt: ["v=spf1 redirect=r0.test"] } },
  },
];

/** Which answers come, and after how many milliseconds; Infinity: never. */
const SERVERS: readonly (readonly [name: string, delayMs: (asked: number) => number])[] = [
  ["that answers nothing", () => Infinity],
  ["that answers the first question only", (asked) => (asked === 1 ? 20 : Infinity)],
  ["that answers late", () => 700],
  ["whose first answer is late", (asked) => (asked === 1 ? 2_350 : Infinity)],
  ["that answers one question in three", (asked) => (asked % 3 === 1 ? 40 : Infinity)],
  ["that gives up after 350 ms", (asked) => (asked === 1 ? 20 : -350)],
];

interface Slow {
  readonly lookup: Lookup;
  /** When each question was asked. */
  readonly askedMs: readonly number[];
}

function slowLookup(zone: Zone, clock: ManualClock, delayMs: (asked: number) => number): Slow {
  const askedMs: number[] = [];
  const zoned = zoneLookup(zone);
  const later = <T>(answer: Awaitable<Answer<T>>): Promise<Answer<T>> => {
    askedMs.push(clock.monotonicMs());
    const ms = delayMs(askedMs.length);
    return new Promise((resolve) => {
      if (ms === Infinity) return;
      const given = ms < 0 ? ({ kind: "unknown", why: "timeout" } as const) : answer;
      clock.after(Math.abs(ms), () => resolve(given));
    });
  };
  const lookup: Lookup = {
    mx: (name) => later(zoned.mx(name)),
    addresses: (name) => later(zoned.addresses(name)),
    txt: (name) => later(zoned.txt(name)),
    registration: (name) => later(zoned.registration(name)),
  };
  return { lookup, askedMs };
}

/** Lets promises that are ready go on. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Stops between the early timer of a whole millisecond and that millisecond, and lets what is ready run. */
async function runFor(clock: ManualClock, milliseconds: number): Promise<void> {
  for (let ms = 0; ms < milliseconds; ms += 5) {
    clock.advance(4.5);
    await settle();
    clock.advance(0.5);
    await settle();
  }
}

const BUDGETS_MS = [50, 300, 1_500, 5_000];

for (const [server, delayMs] of SERVERS) {
  suite(`a server ${server}`, () => {
    for (const { name, entry, features, zone } of CHAINS) {
      test(`${name}: the result is there at the deadline, and nothing is asked after it`, async () => {
        for (const budgetMs of BUDGETS_MS) {
          const clock = manualClock();
          const { lookup, askedMs } = slowLookup(zone, clock, delayMs);
          const check = createSingleCheck(
            { lookup, datasets: () => literalDatasets(), clock, implicitMx: false },
            early(clock),
          );
          const asked = { features, spamTrap: false };
          let tookMs: number | undefined;
          void check({ text: entry, mode: "domain", asked, budgetMs }).then(
            () => (tookMs = clock.monotonicMs()),
          );
          await settle();
          await runFor(clock, budgetMs + 5);
          assert.ok(
            tookMs !== undefined && tookMs <= budgetMs + 5,
            `${String(budgetMs)} ms: still open`,
          );
          await runFor(clock, 1_000);
          const late = askedMs.filter((ms) => ms > budgetMs);
          assert.deepEqual(late, [], `${String(budgetMs)} ms: asked later`);
        }
      });
    }
  });
}
