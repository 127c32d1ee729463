import assert from "node:assert/strict";
import { test } from "node:test";
import { keptLog } from "../../test/process/kept-log.ts";
import { manualClock } from "../../test/time/manual-clock.ts";
import { DatabaseFault, type DatabaseFaultCode } from "../store/database-fault.ts";
import { openProcess, systemMachine } from "./process.ts";
import { readConfig } from "./settings/config.ts";
import { openBacking } from "./store.ts";

/** A start whose PostgreSQL fails with these faults in turn, and with "no_database" after that. */
function starting(faults: readonly DatabaseFaultCode[]) {
  const clock = manualClock();
  const log = keptLog();
  const asked: number[] = [];
  const openPostgres = (): Promise<never> => {
    const code = faults[asked.length] ?? "no_database";
    asked.push(clock.monotonicMs());
    return Promise.reject(new DatabaseFault(code, code));
  };
  const machine = { ...systemMachine, clock, openPostgres, openLog: () => log };
  const config = readConfig({
    DATABASE_URL: "postgres://db.example/x",
    GATEPOST_SECRET_KEY: Buffer.alloc(32).toString("base64"),
  });
  const ended = openProcess(config, { machine }, openBacking).then(
    () => "opened",
    (fault: unknown) => String(fault),
  );
  const pass = async (ms: number): Promise<void> => {
    for (let passedMs = 0; passedMs < ms; passedMs += 1_000) {
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(1_000);
    }
  };
  return { log, asked, ended, pass };
}

const AWAY = "unreachable" as const;

test("a start waits for PostgreSQL with one line in the log, and goes on when it is there", async () => {
  const { log, asked, ended, pass } = starting([AWAY, AWAY, AWAY]);
  await pass(10_000);
  assert.match(await ended, /no_database/, "the fourth try reached it");
  assert.deepEqual(asked, [0, 1_000, 2_000, 3_000]);
  assert.deepEqual(log.events, ["start.waiting_for_database"]);
});

test("a PostgreSQL that is away for 60 s ends the start with its fault", async () => {
  const { asked, ended, pass } = starting(Array<DatabaseFaultCode>(100).fill(AWAY));
  await pass(70_000);
  assert.match(await ended, /unreachable/);
  assert.equal(asked.at(-1), 60_000);
});

test("a PostgreSQL that refuses this user is not waited for", async () => {
  const { asked, ended } = starting(["denied"]);
  assert.match(await ended, /denied/);
  assert.equal(asked.length, 1);
});
