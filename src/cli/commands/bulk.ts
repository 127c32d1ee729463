import { Command, Option } from "commander";
import { TableFault } from "../../core/batch/table-fault.ts";
import type { Clock } from "../../ports/process/clock.ts";
import type { Files, FileWriter } from "../../ports/process/files.ts";
import { entryPages, type FileFormat, formatNamed } from "../bulk/entry-source.ts";
import { type Input, openInput } from "../bulk/input.ts";
import { type BulkChecker, checkPages } from "../bulk/check-pages.ts";
import { createMeter } from "../bulk/meter.ts";
import { clockTime, grouped } from "../bulk/progress-bar.ts";
import { NEW_RUN, RunFile, type RunPlan, type RunState, statePath } from "../bulk/resume.ts";
import { writePages } from "../bulk/run.ts";
import { CommandFailure, EXIT, misuse, type Terminal } from "../terminal.ts";

export interface BulkCommandDeps {
  readonly terminal: Terminal;
  readonly files: Files;
  readonly clock: Clock;
  readonly openCheck: () => Promise<BulkChecker>;
  /** Calls `stop` at the first interrupt; a later one ends the process. Returns a function that stops listening. */
  readonly onInterrupt: (stop: () => void) => () => void;
}

interface Options {
  readonly out?: string;
  readonly format?: FileFormat;
  readonly column?: string;
}

/** `gatepost bulk FILE|-`: checks every entry of a file. */
export function bulkCommand(deps: BulkCommandDeps): Command {
  return new Command("bulk")
    .description("check a file of entries without a server")
    .argument("<file>", 'a list, CSV or NDJSON; "-" reads standard input')
    .option("--out <file>", "write to this file, and resume an interrupted run")
    .addOption(
      new Option(
        "--format <format>",
        "output format; default: by the name of --out, else the input's",
      ).choices(["list", "csv", "ndjson"]),
    )
    .option("--column <name>", "column or JSON member with the entries (name, or number from 1)")
    .addHelpText(
      "after",
      "\nlist: the valid entries, one a line. csv: every row with its result; a cell that begins\n" +
        "like a formula gets a '. ndjson: every object with its result. Entries keep their order.\n" +
        "\nExit codes: 0 all checked; 3 not all, see the message.",
    )
    .action((file: string, options: Options) => bulk(file, options, deps));
}

/** One run of the command, prepared. */
interface Run {
  readonly input: Input;
  readonly out: string;
  readonly plan: RunPlan;
  /** Absent: the run cannot be resumed. */
  readonly file?: RunFile;
  readonly from: RunState;
  readonly stop: AbortSignal;
}

async function bulk(path: string, options: Options, deps: BulkCommandDeps): Promise<void> {
  const stopping = new AbortController();
  const callOff = deps.onInterrupt(() => {
    deps.terminal.err("\nFinishing what is running; press Ctrl-C again to quit now.\n");
    stopping.abort();
  });
  try {
    refuseSpreadsheets(path, options.out);
    const input = await openInput(path, deps.files, stopping.signal);
    await carryOut(await prepare(input, options, { ...deps, stop: stopping.signal }), deps);
  } catch (error) {
    throw error instanceof TableFault
      ? new CommandFailure(EXIT.failed, `${path}: ${error.message}`)
      : error;
  } finally {
    stopping.abort(); // stops reading the input
    callOff();
  }
}

/** A spreadsheet's own file is a zip archive: read as text it is nonsense, and text named so does not open. */
function refuseSpreadsheets(...paths: readonly (string | undefined)[]): void {
  const path = paths.find((each) => /\.(?:xlsx?|ods|numbers)$/i.test(each ?? ""));
  if (path !== undefined) throw misuse(`${path}: spreadsheet files are not supported; use .csv`);
}

async function prepare(
  input: Input,
  options: Options,
  { files, terminal, stop }: BulkCommandDeps & { readonly stop: AbortSignal },
): Promise<Run> {
  const { out = "-" } = options;
  const { facts } = input;
  const output = await files.stat(out);
  if (facts !== undefined && facts.id === output?.id) {
    throw new CommandFailure(EXIT.usage, "--out must not be the input file");
  }
  const plan = planOf(input, options);
  const run = { input, out, plan, stop };
  if (out === "-" || facts === undefined) return { ...run, from: NEW_RUN };
  const file = new RunFile(files, out, plan);
  const from = await file.load(output);
  if (from !== NEW_RUN) terminal.err(`Resuming after ${grouped(from.entries)} entries.\n`);
  return { ...run, file, from };
}

function planOf(input: Input, { out = "-", format, column = "" }: Options): RunPlan {
  const { path, facts } = input;
  return {
    input: path,
    inputBytes: facts?.sizeBytes ?? 0,
    inputModifiedMs: facts?.modifiedMs ?? 0,
    from: input.format,
    to: format ?? formatNamed(out) ?? input.format,
    column,
  };
}

async function carryOut(run: Run, deps: BulkCommandDeps): Promise<void> {
  const check = await deps.openCheck();
  try {
    const writer = await deps.files.write(run.out, run.from.outputBytes);
    try {
      await checkAll(run, check, { ...deps, writer });
    } finally {
      await writer.close();
    }
  } finally {
    await check.close();
  }
}

async function checkAll(
  run: Run,
  check: BulkChecker,
  deps: BulkCommandDeps & { readonly writer: FileWriter },
): Promise<void> {
  const { input, plan, from, stop, file } = run;
  const { terminal, clock, writer } = deps;
  const meter = createMeter(run, deps);
  const column = plan.column === "" ? {} : { column: plan.column };
  const source = entryPages(input.texts, { format: plan.from, ...column });
  const pages = checkPages(source, check, { skip: from.entries, stop });
  const state = await writePages(
    pages,
    { format: plan.to, from, mark: input.mark },
    {
      writer,
      clock,
      save: (now) => file?.save(now) ?? Promise.resolve(),
      show: meter.show,
    },
  );
  meter.clear();
  if (stop.aborted) throw stopped(run, state);
  await file?.remove();
  terminal.err(summary(state, meter.elapsedMs()));
}

function stopped({ out, file }: Run, { entries }: RunState): CommandFailure {
  const how =
    file === undefined
      ? "The output ends after them."
      : `Run the same command again to resume (${statePath(out)}).`;
  return new CommandFailure(EXIT.failed, `stopped after ${grouped(entries)} entries. ${how}`);
}

function summary({ tally, inconclusive }: RunState, elapsedMs: number): string {
  const { valid, disposable, invalidDns, invalidFormat } = tally;
  const total = valid + disposable + invalidDns + invalidFormat;
  const unsure = inconclusive === 0 ? "" : ` (DNS did not answer for ${grouped(inconclusive)})`;
  return (
    `${grouped(total)} entries: ${grouped(valid)} valid, ${grouped(disposable)} disposable, ` +
    `${grouped(invalidDns)} without mail server${unsure}, ${grouped(invalidFormat)} malformed; ` +
    `in ${clockTime(elapsedMs)}.\n`
  );
}
