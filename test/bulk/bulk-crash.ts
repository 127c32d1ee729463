import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { BulkProcessLine, BulkProcessOrder } from "./bulk-process.ts";
import { domains } from "./bulk-world.ts";
import { addAccount, openStores } from "../contracts/stores.ts";
import { inPatience } from "../time/until.ts";

/** A process under test and its output so far. */
export interface BulkProcess {
  readonly child: ChildProcess;
  readonly lines: readonly BulkProcessLine[];
  /** Waits for its end; returns the signal that ended it. */
  ended(): Promise<NodeJS.Signals | null>;
}

/** A data directory with the account that crash tests charge. */
export async function crashDirectory(t: TestContext): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), "gatepost-bulk-"));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const stores = await openStores(t, dataDir);
  await addAccount(stores);
  return dataDir;
}

export function startBulkProcess(t: TestContext, order: BulkProcessOrder): BulkProcess {
  const program = fileURLToPath(new URL("./bulk-process.js", import.meta.url));
  const child = spawn(process.execPath, [program, JSON.stringify(order)], {
    stdio: [order.waits === true ? "pipe" : "ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  const lines: BulkProcessLine[] = [];
  const reading = createInterface({ input: child.stdout ?? process.stdin });
  reading.on("line", (line) => lines.push(JSON.parse(line) as BulkProcessLine));
  const closed = once(reading, "close");
  const end = once(child, "exit").then(async ([, signal]) => {
    await closed;
    return signal as NodeJS.Signals | null;
  });
  return { child, lines, ended: () => inPatience("the end of a process at a list", end) };
}

/** The last message of a process that ended normally. */
export function lastWord({ lines }: BulkProcess): Extract<BulkProcessLine, { kind: "ended" }> {
  const word = lines.at(-1);
  if (word?.kind !== "ended") throw new Error(`it ended with ${JSON.stringify(word)}`);
  return word;
}

export const count = (lines: readonly BulkProcessLine[], kind: BulkProcessLine["kind"]): number =>
  lines.filter((line) => line.kind === kind).length;

export const ENTRIES = 1_204;
const TEXT = `${domains(1_200)},silent.example,nonsense,d1@d1.example,D1@d1.example,d2@d2.example`;

/** A stage at which the process is killed. */
export interface Death {
  readonly name: string;
  readonly stage: string;
  /** At which pass of the stage. */
  readonly times: number;
  /** Whether the database has the job after the kill. */
  readonly isThere: boolean;
  /** Number of events in total. */
  readonly events: number;
}

/** What an undisturbed process finds. */
export async function unfaulted(t: TestContext): Promise<readonly string[]> {
  const calm = startBulkProcess(t, { dataDir: await crashDirectory(t), text: TEXT });
  await calm.ended();
  const { results } = lastWord(calm);
  assert.equal(results.length, ENTRIES + 1);
  return results;
}

/** One process dies, and the next one finds the same as after an undisturbed run: charged once, the owner may submit again. */
export async function dieAndGoOn(
  t: TestContext,
  death: Death,
  want: readonly string[],
): Promise<void> {
  const { stage, times, isThere, events } = death;
  const dataDir = await crashDirectory(t);
  const first = startBulkProcess(t, { dataDir, text: TEXT, dieAt: { stage, times } });
  assert.equal(await first.ended(), "SIGKILL");
  const second = startBulkProcess(t, { dataDir, text: TEXT });
  assert.equal(await second.ended(), null);
  const { state, units, results, slotIsFree } = lastWord(second);
  assert.deepEqual([state, units, slotIsFree], ["completed", ENTRIES, true]);
  assert.deepEqual(results, want);
  assert.equal(count(second.lines, "accepted"), isThere ? 0 : 1);
  assert.equal(count(first.lines, "event") + count(second.lines, "event"), events);
}
