import { strict as assert } from "node:assert";
import { test } from "node:test";
import { HOSTILE_LISTS } from "../../../test/bulk/hostile-lists.ts";
import { Yardstick } from "../../../test/bulk/thread-time.ts";
import { HOSTILE_TEXTS } from "../../../test/bulk/hostile-texts.ts";
import { Refusal } from "../../base/refusals.ts";
import { readUpload } from "./read-upload.ts";

type Work = () => Promise<void> | void;

/** Milliseconds of the processor, to the microsecond: those of one thread are counted at its ticks. */
async function cpuMs(work: Work): Promise<number> {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
}

/** Enough to tell twice from four times. */
const ENOUGH_MS = 8;
const SIZE = { first: 60_000, max: 4_000_000 };
const TRIES = 4;

/**
 * Twice the input takes at most 2.5 times the time. The best of several counts, and a larger size when that
 * fails: the machine may be busy, but what is not linear fails at every size. Answers the milliseconds that one octet takes.
 */
async function assertLinear(workOn: (size: number) => Work): Promise<number> {
  let { first: size } = SIZE;
  while ((await cpuMs(workOn(size))) < ENOUGH_MS && size < SIZE.max) size *= 4;
  const seen: string[] = [];
  for (const factor of [1, 2, 3]) {
    const [work, twice] = [workOn(factor * size), workOn(2 * factor * size)];
    let [one, two] = [Infinity, Infinity];
    for (let count = 0; count < TRIES; count += 1) {
      one = Math.min(one, await cpuMs(work));
      two = Math.min(two, await cpuMs(twice));
      if (two < ENOUGH_MS || two <= 2.5 * one) return two / (2 * factor * size);
    }
    seen.push(`${one.toFixed(1)} ms, then ${two.toFixed(1)} ms for twice ${String(factor * size)}`);
  }
  assert.fail(seen.join("; "));
}

/** What is linear takes five times as long in a file of 20 MB, which is the most that is taken. */
const FILE_OCTETS = 4_000_000;
/** Of a workbook of so many octets a file of that size and more can be packed. */
const UNPACKED_OCTETS = 20_000_000;

/** Reads as an upload is read, and allows that it is refused. */
const reading = (octets: Uint8Array) => async (): Promise<void> => {
  try {
    await readUpload(slicesOf(octets), { entriesMax: null });
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error));
  }
};

const addresses = (): string =>
  Array.from({ length: FILE_OCTETS / 16 }, (_, at) => `u${String(1e6 + at)}@a.test\n`).join("");
const plain = new Yardstick(reading(Buffer.from(addresses())));
/** The longest of these takes 4 to 6 times as long as the plain list, which is read the quickest way. */
const TIMES_MOST = 8;

for (const [kind, make] of HOSTILE_LISTS) {
  test(`the reader of lists is linear, and takes little longer than for a plain list: ${kind}`, async () => {
    const size = kind.startsWith("a workbook") ? UNPACKED_OCTETS : FILE_OCTETS;
    const anOctetMs = await assertLinear((octets) => reading(Buffer.from(make(octets))));
    const most = TIMES_MOST * (await plain.plainMs());
    // What is linear, and far from the limit by what a small part takes, need not be read whole.
    if (2 * anOctetMs * size <= most) return;
    const tenth = reading(Buffer.from(make(size / 10)));
    if (10 * (await cpuMs(tenth)) <= most) return;
    const file = Buffer.from(make(size)).subarray(0, FILE_OCTETS);
    const times = await plain.times(TIMES_MOST, reading(file));
    assert.ok(times <= TIMES_MOST, `${times.toFixed(2)} times as long`);
  });
}

async function* slicesOf(octets: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < octets.length; at += 65_536) {
    yield await Promise.resolve(octets.subarray(at, at + 65_536));
  }
}

for (const [kind, read, make] of HOSTILE_TEXTS) {
  test(`what reads a text of others is linear: ${kind}`, async () => {
    await assertLinear((size) => {
      const text = make(size);
      return () => void read(text);
    });
  });
}
