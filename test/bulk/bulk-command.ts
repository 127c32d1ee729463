import { systemClock as clock } from "../../src/base/clock.ts";
import { type Files, systemFiles } from "../../src/base/files.ts";
import type { CommandBulkChecker } from "../../src/cli/bulk/check-pages.ts";
import { readListFile } from "../../src/bulk/files/list-file.ts";
import { opening } from "../../src/cli/command.ts";
import { bulkCommand } from "../../src/cli/commands/bulk.ts";
import { program, runProgram } from "../../src/cli/program.ts";
import type { Lookup } from "../../src/core/mail/lookup.ts";
import type { Terminal } from "../../src/cli/terminal.ts";
import { coreEntryCheck } from "../../src/bulk/jobs/entry-check.ts";
import { mailEverywhere, noDatasets } from "./bulk-world.ts";

export interface BulkCommandOptions {
  readonly terminal: Terminal;
  readonly files?: Files;
  readonly lookup?: Lookup;
  readonly room?: CommandBulkChecker["room"];
  readonly onInterrupt?: (stop: () => void) => () => void;
}

const SOME_SILENT = mailEverywhere((name) => name.startsWith("silent"));

/** `gatepost bulk`; unless told otherwise every domain has mail, and DNS does not answer for names that begin with "silent". */
export function runBulkCommand(
  words: readonly string[],
  { terminal, files = systemFiles, lookup = SOME_SILENT, room, onInterrupt }: BulkCommandOptions,
): Promise<number> {
  const check = coreEntryCheck({
    datasets: () => noDatasets,
    lookup,
    again: lookup,
    clock,
    implicitMx: false,
    budgetMs: 5_000,
    againBudgetMs: 1_000,
  });
  const deps = {
    readPages: readListFile,
    files,
    clock,
    openCheck: () =>
      Promise.resolve({ check, room: room ?? (() => undefined), close: () => Promise.resolve() }),
    onInterrupt: onInterrupt ?? (() => () => undefined),
  };
  const command = bulkCommand(terminal, opening(deps));
  return runProgram(program("1.2.3", terminal, [command]), ["bulk", ...words], terminal);
}
