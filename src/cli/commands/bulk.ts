import { Option } from "@commander-js/extra-typings";
import { TableFault } from "../../core/batch/entry-cell.ts";
import type { Clock } from "../../base/clock.ts";
import type { FileFacts, FileWriter, Files } from "../../base/files.ts";
import type { FileSlices, ListOptions, ListPage, ReadShape } from "../../bulk/files/list-file.ts";
import { workbookOf } from "../../bulk/files/write-workbook.ts";
import { type CsvCell, RESULT_COLUMNS } from "../../core/batch/result-cells.ts";
import {
  type FileFormat,
  type TextFormat,
  cellsOf,
  formatNamed,
  formatOfForm,
  textWriter,
} from "../bulk/entry-writer.ts";
import { type CommandBulkChecker, type CheckedPage, checkPages } from "../bulk/check-pages.ts";
import { rowsFor } from "../command.ts";
import { CommandFailure, EXIT, type Terminal, misuse, withOpened, wordsOf } from "../terminal.ts";
import { isInconclusive } from "../../core/validate/result.ts";
import { EMPTY_TALLY, type Tally, entryClassOf } from "../../core/batch/batch-chunk.ts";

interface RunState {
  rows: number;
  /** Rows that could not be read, and the first reasons. */
  spoilt: number;
  readonly reasons: string[];
  shape?: ReadShape;
  readonly tally: Record<keyof Tally, number>;
  /** Entries of `tally.invalidDns` for which DNS did not answer. */
  inconclusive: number;
}

function count(state: RunState, { rows, shape }: CheckedPage): void {
  state.shape = shape;
  state.rows += rows.length;
  for (const { results, reason } of rows) {
    if (reason !== undefined) {
      state.spoilt += 1;
      if (state.reasons.length < 10) state.reasons.push(reason);
    }
    for (const result of results) {
      const kind = entryClassOf(result);
      state.tally[kind] += 1;
      if (kind === "invalidDns" && isInconclusive(result)) state.inconclusive += 1;
    }
  }
}

interface BulkSource {
  readonly path: string;
  readonly facts: FileFacts | undefined;
  readonly slices: AsyncIterable<Uint8Array>;
  readonly readBytes: () => number;
}

async function openInput(path: string, files: Files, stop: AbortSignal): Promise<BulkSource> {
  const facts = await files.stat(path);
  if (path !== "-" && facts === undefined) {
    throw new CommandFailure(EXIT.failed, wordsOf({ code: "ENOENT", path }));
  }
  let readBytes = 0;
  async function* slices(): AsyncGenerator<Uint8Array> {
    for await (const slice of files.read(path, stop)) {
      readBytes += slice.length;
      yield slice;
    }
  }
  return { path, facts, slices: slices(), readBytes: () => readBytes };
}

/** How much of a file was read; undefined for standard input. */
function shareOf({ facts, readBytes }: BulkSource): number | undefined {
  if (facts === undefined) return undefined;
  return facts.sizeBytes === 0 ? 1 : Math.min(1, readBytes() / facts.sizeBytes);
}

export interface RunProgress {
  readonly entries: number;
  readonly elapsedMs: number;
  /** 0 to 1; absent when the size of the input is unknown. */
  readonly share?: number;
}

const grouped = (count: number): string => count.toLocaleString("en-US");

/** One line of at most `columns` characters: bar, share, entries, rate and time left. */
export function progressLine({ entries, elapsedMs, share }: RunProgress, columns: number): string {
  const perSecond = elapsedMs <= 0 ? 0 : (entries * 1_000) / elapsedMs;
  const rate = `${grouped(Math.round(perSecond))}/s`;
  if (share === undefined) return `${grouped(entries)} entries  ${rate}`.slice(0, columns);
  const left = share <= 0 ? undefined : (elapsedMs * Math.max(0, 1 - share)) / share;
  const facts = [
    `${String(Math.floor(share * 100)).padStart(3)} %`,
    `${grouped(entries)} entries`,
    rate,
    ...(left === undefined ? [] : [`${clockTime(left)} left`]),
  ].join("  ");
  const width = columns - facts.length - "[] ".length;
  if (width < 5) return facts.slice(0, columns);
  const full = Math.round(share * width);
  return `[${"#".repeat(full)}${"-".repeat(width - full)}] ${facts}`;
}

export function clockTime(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1_000);
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  const [hours = 0, minutes = 0, rest = 0] = parts;
  const tail = String(rest).padStart(2, "0");
  return hours === 0
    ? `${String(minutes)}:${tail}`
    : `${String(hours)}:${String(minutes).padStart(2, "0")}:${tail}`;
}

/** The progress bar, on a terminal that does not show the output itself. */
function createMeter(input: BulkSource, out: string, { terminal, clock }: BulkRun) {
  const startMs = clock.monotonicMs();
  const elapsedMs = (): number => clock.monotonicMs() - startMs;
  const width = terminal.columns - 1;
  const isShown = terminal.interactive && (out !== "-" || !terminal.colours);
  return {
    elapsedMs,
    show: ({ rows: entries }: RunState): void => {
      if (!isShown) return;
      const share = shareOf(input);
      const progress = { entries, elapsedMs: elapsedMs(), ...(share !== undefined && { share }) };
      terminal.err(`\r${progressLine(progress, width).padEnd(width)}`);
    },
    clear: (): void => {
      if (isShown) terminal.err(`\r${" ".repeat(width)}\r`);
    },
  };
}

export interface CliBulk {
  readonly files: Files;
  readonly clock: Clock;
  readonly openCheck: () => Promise<CommandBulkChecker>;
  /** Throws a `TableFault`. */
  readonly readPages: (slices: FileSlices, options: ListOptions) => AsyncIterable<ListPage>;
  /** Calls `stop` at the first interrupt; a later one ends the process. Returns a function that stops listening. */
  readonly onInterrupt: (stop: () => void) => () => void;
}

interface BulkOptions extends Pick<ListOptions, "column" | "sheet" | "encoding"> {
  readonly out?: string;
  readonly force?: true;
  readonly format?: FileFormat;
  readonly bom?: true;
}

/** `gatepost bulk FILE|-`: checks every entry of a file. */
export const bulkCommand = rowsFor<CliBulk>()("bulk", {
  about: "check a file of entries without a server",
  takes: (to) =>
    to
      .argument("<file>", 'text, CSV, JSON, vCard or .xlsx; "-" reads standard input')
      .option("--out <file>", "write to this file; it must not exist")
      .option("--force", "replace the file that --out names")
      .addOption(
        new Option(
          "--format <format>",
          "output format; default: by the name of --out, else the input's",
        ).choices(["list", "csv", "ndjson", "xlsx"]),
      )
      .addOption(new Option("--json", "the same as --format ndjson").implies({ format: "ndjson" }))
      .option("--column <name>", "column or JSON member with the entries (number from 1, or name)")
      .option("--sheet <name>", "sheet of a workbook (name, or number from 1)")
      .option("--encoding <label>", "encoding of the text, such as shift_jis; default: found out")
      .option("--bom", "write CSV in UTF-8 with a byte order mark, for Excel"),
  details:
    "list: the valid entries, one a line. csv: every row with its result; a cell that a\n" +
    "spreadsheet would run gets a '. xlsx: the same as a workbook. ndjson: every object with\n" +
    "its result. Entries keep their order.\n" +
    "\nExit codes: 0 every entry has a result; 3 DNS did not answer for some of them, or the\n" +
    "command failed.",
  examples: [
    "gatepost bulk people.csv --column email --out checked.csv",
    "gatepost bulk list.txt > valid.txt",
  ],
  run: ({ args: [file], ...options }, deps, terminal) => bulk(file, options, { ...deps, terminal }),
});

interface BulkRun extends CliBulk {
  readonly terminal: Terminal;
  readonly stop: AbortSignal;
}

async function bulk(path: string, options: BulkOptions, deps: Omit<BulkRun, "stop">) {
  const stopping = new AbortController();
  const callOff = deps.onInterrupt(() => {
    deps.terminal.err("\nFinishing what is running; press Ctrl-C again to quit now.\n");
    stopping.abort();
  });
  try {
    refuseSpreadsheet(options);
    const input = await openInput(path, deps.files, stopping.signal);
    await refuseOutput(input, options, deps);
    await carryOut(input, options, { ...deps, stop: stopping.signal });
  } catch (error) {
    throw tableFailure(path, error);
  } finally {
    stopping.abort(); // stops reading the input
    callOff();
  }
}

export const tableFailure = (path: string, fault: unknown): unknown =>
  fault instanceof TableFault
    ? new CommandFailure(EXIT.failed, `${path}: ${fault.message}`)
    : fault;

/** No program opens text under the name of a spreadsheet. */
function refuseSpreadsheet({ out = "", format = formatNamed(out) }: BulkOptions): void {
  const isWorkbook = format === "xlsx" && /\.xlsx$/i.test(out);
  if (/\.(?:xlsx?|ods|numbers)$/i.test(out) && !isWorkbook) {
    throw misuse(`--out: ${out} would not be a spreadsheet; use .xlsx or .csv`);
  }
}

/** Before anything is checked: what is there already is not lost by a slip of the hand. */
async function refuseOutput(
  { facts }: BulkSource,
  { out, force }: BulkOptions,
  { files }: Pick<CliBulk, "files">,
): Promise<void> {
  const output = out === undefined ? undefined : await files.stat(out);
  if (output === undefined) return;
  if (facts?.id === output.id) throw misuse("--out must not be the input file");
  if (output.isFile && force !== true) {
    throw misuse(`--out: ${out ?? ""} exists; choose another name, or give --force to replace it`);
  }
}

async function carryOut(input: BulkSource, options: BulkOptions, deps: BulkRun): Promise<void> {
  const { out = "-", force } = options;
  const { stop, terminal, files, openCheck } = deps;
  const openWriter = () => files.write(out, force === true ? "replaced" : "refused");
  const { state, elapsedMs } = await withOpened(openCheck, (check) =>
    withOpened(openWriter, (writer) => writeAll(input, options, { ...deps, check, writer })),
  );
  if (stop.aborted) {
    const count = grouped(state.rows);
    throw new CommandFailure(EXIT.failed, `stopped after ${count} rows; the output ends there`);
  }
  if (state.shape !== undefined) terminal.err(shapeWords(state.shape));
  terminal.err(spoiltWords(state) + summary(state, elapsedMs));
  if (state.inconclusive > 0) {
    const count = grouped(state.inconclusive);
    throw new CommandFailure(
      EXIT.failed,
      `DNS did not answer for ${count} of the entries, so their result is not known; check them again later`,
    );
  }
}

async function writeAll(
  input: BulkSource,
  { out = "-", format = formatNamed(out), bom, ...options }: BulkOptions,
  deps: BulkRun & { readonly check: CommandBulkChecker; readonly writer: FileWriter },
) {
  const { check, writer, stop, clock } = deps;
  const meter = createMeter(input, out, deps);
  const source = deps.readPages(input.slices, { name: input.path, ...options });
  const tally = { ...EMPTY_TALLY };
  const state: RunState = { rows: 0, spoilt: 0, reasons: [], tally, inconclusive: 0 };
  let shownMs = clock.monotonicMs();
  async function* pages(): AsyncGenerator<CheckedPage> {
    for await (const page of checkPages(source, check, stop)) {
      yield page;
      count(state, page);
      if (clock.monotonicMs() - shownMs < 200) continue;
      shownMs = clock.monotonicMs();
      meter.show(state);
    }
  }
  const output = format === "xlsx" ? workbookOf(rowsOf(pages())) : texts(pages(), format, bom);
  for await (const piece of output) await writer.write(piece as string | Uint8Array);
  meter.show(state);
  meter.clear();
  return { state, elapsedMs: meter.elapsedMs() };
}

async function* rowsOf(
  pages: AsyncIterable<CheckedPage>,
): AsyncGenerator<readonly (readonly CsvCell[])[]> {
  let isFirst = true;
  for await (const { rows, shape } of pages) {
    if (isFirst) yield [[...shape.header, ...RESULT_COLUMNS]];
    isFirst = false;
    yield rows.map((row) => cellsOf(row, shape));
  }
}

async function* texts(
  pages: AsyncIterable<CheckedPage>,
  format: TextFormat | undefined,
  isForExcel = false,
): AsyncGenerator<Uint8Array | string> {
  let write: ReturnType<typeof textWriter> | undefined;
  for await (const { rows, shape } of pages) {
    write ??= textWriter(format ?? formatOfForm[shape.form], shape, isForExcel);
    yield write(rows);
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

function shapeWords({
  form,
  encoding,
  column,
  others,
  sheet,
  otherSheets = [],
}: ReadShape): string {
  const text = encoding === "utf-8" ? "" : `Read the text as ${encoding} (--encoding).\n`;
  if (form === "list") return text;
  const where = sheet === undefined ? "" : ` of the sheet "${sheet}"`;
  const columns =
    others.length === 0 ? "" : ` Other columns with entries: ${others.join(", ")} (--column).`;
  const sheets =
    otherSheets.length === 0 ? "" : ` Other sheets: ${otherSheets.join(", ")} (--sheet).`;
  return `${text}Read the column "${column}"${where}.${columns}${sheets}\n`;
}

function spoiltWords({ spoilt, reasons }: RunState): string {
  if (spoilt === 0) return "";
  const more = spoilt > reasons.length ? "  ...\n" : "";
  const lines = reasons.map((reason) => `  ${reason}\n`).join("");
  return `${grouped(spoilt)} rows could not be read and were not checked:\n${lines}${more}`;
}
