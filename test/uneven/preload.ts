// Given to Node by `--import` (scripts/uneven.mjs): from here on whatever comes to this process or thread from outside comes late,
// each time by another while, and now and then it gets no turn at all. Nothing comes earlier than it would, and
// what comes from one source keeps its order, so a program that is right stays right.
import { syncBuiltinESMExports } from "node:module";
import { lateFiles } from "./files.ts";
import { chance } from "./late.ts";
import { lateLines } from "./lines.ts";
import { lateNeighbours } from "./neighbours.ts";

/** The longest while without a turn; 0: none. */
const STALL_MS = Number(process.env["UNEVEN_STALL_MS"] ?? 0);
const BETWEEN_STALLS_MS = 800;

function stallNowAndThen(): void {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const after = setTimeout;
  const next = (): void => {
    const stall = (): void => {
      Atomics.wait(cell, 0, 0, chance() * STALL_MS);
      next();
    };
    after(stall, chance() * BETWEEN_STALLS_MS).unref();
  };
  next();
}

// The process that runs the test files only reads what they say.
if (!process.execArgv.includes("--test")) {
  lateLines();
  lateNeighbours();
  lateFiles();
  syncBuiltinESMExports();
  if (STALL_MS > 0) stallNowAndThen();
}
