import { CELL_MAX_UNITS, CsvReader, detectDelimiter } from "../../core/batch/csv-reader.ts";
import { TableFault } from "../../core/batch/table-fault.ts";

/** A file in slices, each at most some 64 KiB, at the reader's pace. */
export type FileSlices = AsyncIterable<Uint8Array>;

const MARKS: readonly (readonly [label: string, mark: readonly number[]])[] = [
  ["utf-16le", [0xff, 0xfe]],
  ["utf-16be", [0xfe, 0xff]],
];

/** By the byte order mark; without one UTF-16 shows by the NULs of its first ASCII character. */
function encodingOf(start: Uint8Array): string {
  const [first, second] = start;
  const marked = MARKS.find(([, mark]) => mark[0] === first && mark[1] === second)?.[0];
  if (marked !== undefined || start.length < 2) return marked ?? "utf-8";
  if (first === 0 && second !== 0) return "utf-16be";
  return first !== 0 && second === 0 ? "utf-16le" : "utf-8";
}

/**
 * The text of a file in UTF-8 or UTF-16, its byte order mark taken off. Throws a `TableFault` for octets that
 * are neither.
 */
export async function* fileText(slices: FileSlices): AsyncGenerator<string> {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  try {
    for await (const slice of slices) {
      if (slice.length === 0) continue;
      decoder ??= new TextDecoder(encodingOf(slice), { fatal: true });
      yield decoder.decode(slice, { stream: true });
    }
    const rest = decoder?.decode() ?? "";
    if (rest !== "") yield rest;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new TableFault("The file is neither UTF-8 nor UTF-16.");
  }
}

/** The rows of CSV text, some at a time; `note` gets the delimiter, which is what the first line uses. */
export async function* csvRows(
  texts: AsyncIterable<string>,
  note: (delimiter: string) => void = () => undefined,
): AsyncGenerator<readonly (readonly string[])[]> {
  let head = "";
  let reader: CsvReader | undefined;
  const begin = (): CsvReader => {
    const delimiter = detectDelimiter(head);
    note(delimiter);
    return new CsvReader(delimiter);
  };
  for await (const text of texts) {
    if (reader !== undefined) {
      yield reader.push(text);
      continue;
    }
    head += text;
    if (!/[\r\n]/.test(head) && head.length <= CELL_MAX_UNITS) continue;
    reader = begin();
    yield reader.push(head);
  }
  if (reader === undefined) {
    reader = begin();
    yield reader.push(head);
  }
  yield reader.end();
}
