/**
 * `npm run bench:core`: how fast the core checks entries with DNS answers in memory, and how its cost
 * grows with the length of hostile input. One thread; rates depend on the machine, ratios do not.
 */
import { readEntry } from "../src/core/address/address.ts";
import type { Answer, Lookup, MailExchange } from "../src/core/mail/lookup.ts";
import { validate, type World } from "../src/core/validate/validate.ts";
import { literalDatasets } from "../test/lists/literal-datasets.ts";
import { sized } from "./short.ts";

const ENTRIES = sized(200_000, 2_000);
const RUNS = sized(20, 2);
const NOTHING = { features: [], spamTrap: false };

const hosts: readonly Answer<MailExchange>[] = Array.from({ length: 500 }, (_, index) => ({
  kind: "found",
  records: [{ preference: 10, host: `mx${String(index)}.provider.example` }],
}));
const address: Answer<string> = { kind: "found", records: ["192.0.2.1"] };

/** Answers like a cache: at once, without a promise. */
function lookupAtHand(): Lookup {
  const mx = new Map(names().map((name, index) => [name, hosts[index % hosts.length]]));
  const absent: Answer<never> = { kind: "absent", why: "noData" };
  return {
    mx: (name) => mx.get(name) ?? absent,
    addresses: () => address,
    txt: () => absent,
    registration: () => absent,
  };
}

function names(): readonly string[] {
  return Array.from({ length: ENTRIES }, (_, index) => `shop-${index.toString(36)}.com`);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
}

async function entriesPerSecond(): Promise<number> {
  const lookup = lookupAtHand();
  const world: World = {
    datasets: literalDatasets({}),
    lookup,
    within: () => lookup,
  };
  const texts = names().map((name) => `jo.doe@${name}`);
  const rates: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const startedMs = performance.now();
    for (const text of texts) {
      await validate({ text, mode: "either", asked: NOTHING, nowMs: 0, implicitMx: false }, world);
    }
    rates.push((ENTRIES * 1_000) / (performance.now() - startedMs));
  }
  return median(rates);
}

/** The factor in time for ten times the input; linear work gives about 10, quadratic 100. */
function growth(make: (length: number) => string): number {
  const cost = (length: number): number => {
    const text = make(length);
    const times = Array.from({ length: sized(9, 1) }, () => {
      const startedMs = performance.now();
      for (let run = 0; run < RUNS; run += 1) readEntry(text, "either");
      return performance.now() - startedMs;
    });
    return median(times);
  };
  cost(100_000);
  return cost(1_000_000) / cost(100_000);
}

const HOSTILE: readonly (readonly [string, (length: number) => string])[] = [
  ["one long word", (length) => "a".repeat(length)],
  ["at signs", (length) => "@".repeat(length)],
  ["dots", (length) => ".".repeat(length)],
  ["blanks around a word", (length) => `${" ".repeat(length)}a${" ".repeat(length)}`],
  ["quotes and backslashes", (length) => `"${"\\".repeat(length)}"@example.com`],
  ["a Unicode domain", (length) => `a@${"é".repeat(length)}.example`],
];

console.log(
  `entries checked a second: ${Math.round(await entriesPerSecond()).toLocaleString("en")}`,
);
for (const [name, make] of HOSTILE) {
  console.log(`ten times the length costs ${growth(make).toFixed(1)} times as much: ${name}`);
}
