import { Command, Option } from "commander";
import { TableFault } from "../../core/batch/table-fault.ts";
import type { Clock } from "../../base/clock.ts";
import type { Files, FileWriter } from "../../base/files.ts";
import { readListFile, type ReadShape } from "../../bulk/list-file.ts";
import { type FileFormat, formatNamed } from "../bulk/entry-writer.ts";
import { type Input, openInput } from "../bulk/input.ts";
import { type BulkChecker, checkPages } from "../bulk/check-pages.ts";
import { createMeter } from "../bulk/meter.ts";
import { clockTime, grouped } from "../bulk/progress-bar.ts";
import { type RunState, writePages } from "../bulk/run.ts";
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
  readonly force?: true;
  readonly format?: FileFormat;
  readonly column?: string;
  readonly sheet?: string;
  readonly bom?: true;
}

/** `gatepost bulk FILE|-`: checks every entry of a file. */
export function bulkCommand(deps: BulkCommandDeps): Command {
  return new Command("bulk")
    .description("check a file of entries without a server")
    .argument("<file>", 'text, CSV, JSON lines or .xlsx; "-" reads standard input')
    .option("--out <file>", "write to this file; it must not exist")
    .option("--force", "replace the file that --out names")
    .addOption(
      new Option(
        "--format <format>",
        "output format; default: by the name of --out, else the input's",
      ).choices(["list", "csv", "ndjson"]),
    )
    .option("--column <name>", "column or JSON member with the entries (name, or number from 1)")
    .option("--sheet <name>", "sheet of a workbook (name, or number from 1)")
    .option("--bom", "begin CSV with a byte order mark, for Excel")
    .addHelpText(
      "after",
      "\nlist: the valid entries, one a line. csv: every row with its result; a cell that begins\n" +
        "like a formula gets a '. ndjson: every object with its result. Entries keep their order.\n" +
        "\nExit codes: 0 every entry has a result; 3 DNS did not answer for some of them, or the\n" +
        "command failed.",
    )
    .action((file: string, options: Options) => bulk(file, options, deps));
}

async function bulk(path: string, options: Options, deps: BulkCommandDeps): Promise<void> {
  const stopping = new AbortController();
  const callOff = deps.onInterrupt(() => {
    deps.terminal.err("\nFinishing what is running; press Ctrl-C again to quit now.\n");
    stopping.abort();
  });
  try {
    refuseSpreadsheet(options.out);
    const input = await openInput(path, deps.files, stopping.signal);
    await refuseOutput(input, options, deps);
    await carryOut(input, options, { ...deps, stop: stopping.signal });
  } catch (error) {
    throw error instanceof TableFault
      ? new CommandFailure(EXIT.failed, `${path}: ${error.message}`)
      : error;
  } finally {
    stopping.abort(); // stops reading the input
    callOff();
  }
}

/** Results are text, which no spreadsheet opens under such a name. */
function refuseSpreadsheet(out: string | undefined): void {
  if (/\.(?:xlsx?|ods|numbers)$/i.test(out ?? "")) {
    throw misuse(`--out: ${out ?? ""} would not be a spreadsheet; use .csv`);
  }
}

/** Before anything is checked: what is there already is not lost by a slip of the hand. */
async function refuseOutput(
  { facts }: Input,
  { out, force }: Options,
  { files }: BulkCommandDeps,
): Promise<void> {
  const output = out === undefined ? undefined : await files.stat(out);
  if (output === undefined) return;
  if (facts?.id === output.id) throw misuse("--out must not be the input file");
  if (output.isFile && force !== true) {
    throw misuse(`--out: ${out ?? ""} exists; choose another name, or give --force to replace it`);
  }
}

async function carryOut(
  input: Input,
  options: Options,
  deps: BulkCommandDeps & { readonly stop: AbortSignal },
): Promise<void> {
  const { out = "-", force } = options;
  const check = await deps.openCheck();
  try {
    const writer = await deps.files.write(out, force === true ? "replaced" : "refused");
    try {
      await checkAll(input, options, { ...deps, check, writer });
    } finally {
      await writer.close();
    }
  } finally {
    await check.close();
  }
}

interface CheckAllDeps extends Pick<BulkCommandDeps, "terminal" | "clock"> {
  readonly check: BulkChecker;
  readonly writer: FileWriter;
  readonly stop: AbortSignal;
}

async function checkAll(
  input: Input,
  { out = "-", format, column, sheet, bom }: Options,
  { check, writer, stop, terminal, clock }: CheckAllDeps,
): Promise<void> {
  const meter = createMeter({ input, out }, { terminal, clock });
  const source = readListFile(input.slices, {
    name: input.path,
    ...(column !== undefined && { column }),
    ...(sheet !== undefined && { sheet }),
  });
  const state = await writePages(
    checkPages(source, check, stop),
    { format: format ?? formatNamed(out), mark: () => bom === true || input.mark() },
    { writer, clock, show: meter.show },
  );
  meter.clear();
  if (stop.aborted) {
    const count = grouped(state.rows);
    throw new CommandFailure(EXIT.failed, `stopped after ${count} rows; the output ends there`);
  }
  if (state.shape !== undefined) terminal.err(shapeWords(state.shape));
  terminal.err(spoiltWords(state) + summary(state, meter.elapsedMs()));
  if (state.inconclusive > 0) {
    const count = grouped(state.inconclusive);
    throw new CommandFailure(
      EXIT.failed,
      `DNS did not answer for ${count} of the entries, so their result is not known; check them again later`,
    );
  }
}

function summary({ tally, inconclusive }: RunState, elapsedMs: number): string {
  const { valid, disposable, invalidDns, invalidFormat } = tally;
  const total = valid + disposable + invalidDns + invalidFormat;
  const unsure =
    inconclusive === 0
      ? ""
      : ` (of which DNS did not answer for ${grouped(inconclusive)}: status unknown, not in a list of the valid ones)`;
  return (
    `${grouped(total)} entries: ${grouped(valid)} valid, ${grouped(disposable)} disposable, ` +
    `${grouped(invalidDns)} without mail server${unsure}, ${grouped(invalidFormat)} malformed; ` +
    `in ${clockTime(elapsedMs)}.\n`
  );
}

/** Which column and sheet were read, and what could be read instead. */
function shapeWords({ form, column, others, sheet, otherSheets = [] }: ReadShape): string {
  if (form === "list") return "";
  const where = sheet === undefined ? "" : ` of the sheet "${sheet}"`;
  const columns =
    others.length === 0 ? "" : ` Other columns with entries: ${others.join(", ")} (--column).`;
  const sheets =
    otherSheets.length === 0 ? "" : ` Other sheets: ${otherSheets.join(", ")} (--sheet).`;
  return `Read the column "${column}"${where}.${columns}${sheets}\n`;
}

function spoiltWords({ spoilt, reasons }: RunState): string {
  if (spoilt === 0) return "";
  const more = spoilt > reasons.length ? "  ...\n" : "";
  const lines = reasons.map((reason) => `  ${reason}\n`).join("");
  return `${grouped(spoilt)} rows could not be read and were not checked:\n${lines}${more}`;
}
