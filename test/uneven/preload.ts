// Loaded by `--import` (scripts/uneven.mjs): input from outside arrives late in this process or thread,
// each time by a different delay, and sometimes the process pauses. Nothing arrives earlier than it would, and
// input from one source keeps its order, so a correct program stays correct.
import { syncBuiltinESMExports } from "node:module";
import { lateFiles } from "./files.ts";
import { chance } from "./late.ts";
import { lateLines } from "./lines.ts";
import { lateNeighbours } from "./neighbours.ts";

/** The longest pause; 0: none. */
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

// The process that runs the test files only reads their output.
if (!process.execArgv.includes("--test")) {
  lateLines();
  lateNeighbours();
  lateFiles();
  syncBuiltinESMExports();
  if (STALL_MS > 0) stallNowAndThen();
}
