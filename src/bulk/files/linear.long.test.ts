import { strict as assert } from "node:assert";
import { test } from "node:test";
import { HOSTILE_LISTS } from "../../../test/bulk/hostile-lists.ts";
import { leastThreadMs } from "../../../test/bulk/thread-time.ts";
import { HOSTILE_TEXTS } from "../../../test/bulk/hostile-texts.ts";
import { Refusal } from "../../base/refusals.ts";
import { TableFault } from "../../core/batch/entry-cell.ts";
import { readListFile } from "./list-file.ts";
import { readUpload } from "./read-upload.ts";

type Work = () => Promise<void> | void;

/** Milliseconds of the processor, which neighbours on the machine change less than the clock's. */
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
 * Twice the input takes at most 2.5 times the time. The best of several counts, and a larger size when that fails: the machine
 * may be busy, but what is not linear fails at every size.
 */
async function assertLinear(workOn: (size: number) => Work): Promise<void> {
  let { first: size } = SIZE;
  while ((await cpuMs(workOn(size))) < ENOUGH_MS && size < SIZE.max) size *= 4;
  const seen: string[] = [];
  for (const factor of [1, 2, 3]) {
    const [work, twice] = [workOn(factor * size), workOn(2 * factor * size)];
    let [one, two] = [Infinity, Infinity];
    for (let count = 0; count < TRIES; count += 1) {
      one = Math.min(one, await cpuMs(work));
      two = Math.min(two, await cpuMs(twice));
      if (two < ENOUGH_MS || two <= 2.5 * one) return;
    }
    seen.push(`${one.toFixed(1)} ms, then ${two.toFixed(1)} ms for twice ${String(factor * size)}`);
  }
  assert.fail(seen.join("; "));
}

for (const [kind, make] of HOSTILE_LISTS) {
  test(`the reader of lists is linear: ${kind}`, async () => {
    await assertLinear((size) => {
      const octets = Buffer.from(make(size));
      return async () => {
        try {
          for await (const _ of readListFile(slicesOf(octets), {}));
        } catch (error) {
          assert.ok(error instanceof TableFault, String(error));
        }
      };
    });
  });
}

const FILE_MAX_OCTETS = 20_000_000;
/** Of a workbook of so many octets a file of 20 MB and more can be packed. */
const UNPACKED_OCTETS = 100_000_000;
/** 3 s are wanted; the longest take 3.3 s on a quiet machine. */
const THREAD_MS = 4_500;

for (const [kind, make] of HOSTILE_LISTS) {
  test(`a hostile file of 20 MB ends within seconds of the thread's time: ${kind}`, async () => {
    const size = kind.startsWith("a workbook") ? UNPACKED_OCTETS : FILE_MAX_OCTETS;
    const file = Buffer.from(make(size)).subarray(0, FILE_MAX_OCTETS);
    const least = await leastThreadMs(THREAD_MS, async () => {
      try {
        await readUpload(slicesOf(file), { entriesMax: null });
      } catch (error) {
        assert.ok(error instanceof Refusal, String(error));
      }
    });
    assert.ok(least <= THREAD_MS, `${least.toFixed(0)} ms`);
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
