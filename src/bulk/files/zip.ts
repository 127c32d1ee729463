import { type Entry, fromBufferPromise, type ZipFile } from "yauzl";
import { TableFault } from "../../core/batch/entry-cell.ts";
import { type Attributes, attributesOf } from "./sheet-xml.ts";

const UNPACKED_MAX_OCTETS = 400_000_000;

const TAG_MAX_UNITS = 16_384;

/** Rows are long where they are wide. */
const PIECE_MAX_UNITS = 4_000_000;

const PIECES_MAX = 2_000_000;

const TAIL_UNITS = 1_000;

export const PARTS_MAX = 5_000;

/** Links of a sheet that Excel writes, and some. */
const LINKS_MAX = 100_000;

export const BROKEN_WORKBOOK =
  "The workbook is broken, or holds too much; open it and save it as .csv.";
const PASSWORD = "The workbook is protected by a password; save it without one.";

export interface Relationship {
  readonly id: string;
  readonly type: string;
  readonly target: string;
  readonly path: string;
}

interface Element {
  /** What stands between it and the one before. */
  readonly before: string;
  readonly name: string;
  readonly attributes: Attributes;
}

/** The parts of a package (ECMA-376 part 2) in memory; names differ by more than the case of letters. */
export class Zip {
  readonly #file: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;
  #unpacked = 0;

  private constructor(file: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#file = file;
    this.#entries = entries;
  }

  static async open(octets: Buffer): Promise<Zip> {
    try {
      const file = await fromBufferPromise(octets, { lazyEntries: true, autoClose: false });
      if (file.entryCount > PARTS_MAX) throw new TableFault(BROKEN_WORKBOOK);
      const entries = new Map<string, Entry>();
      for await (const entry of file.eachEntry()) entries.set(entry.fileName.toLowerCase(), entry);
      return new Zip(file, entries);
    } catch {
      throw new TableFault(BROKEN_WORKBOOK);
    }
  }

  get parts(): readonly Entry[] {
    return [...this.#entries.values()].filter(({ fileName }) => !fileName.endsWith("/"));
  }

  has(path: string): boolean {
    return this.#entries.has(path.toLowerCase());
  }

  async relationships(path: string): Promise<readonly Relationship[]> {
    const listed = linksOf(path);
    const found: Relationship[] = [];
    if (!this.has(listed)) return found;
    await this.eachElement(listed, "Relationship", ({ attributes }) => {
      const { Id: id = "", Type: type = "", Target: target = "" } = attributes;
      const word = type.slice(type.lastIndexOf("/") + 1);
      if (found.length >= LINKS_MAX) throw new TableFault(BROKEN_WORKBOOK);
      // Most links of a sheet go elsewhere, and reading an address takes long.
      const link = {
        id,
        type: word,
        target,
        get path() {
          return pathOf(target, path);
        },
      };
      found.push(link);
    });
    return found;
  }

  /** Takes the elements of these names in a part, of which none is in another. */
  async eachElement(path: string, names: string, take: (element: Element) => void): Promise<void> {
    const tag = new RegExp(`<(?:\\w+:)?(${names})(?=[\\s/>])`);
    for await (const pieces of this.pieces(path, names))
      for (const piece of pieces) {
        const found = tag.exec(piece);
        if (found === null) continue;
        const [open, name = ""] = found;
        const attributes = attributesOf(piece, found.index + open.length);
        take({ before: piece.slice(0, found.index), name, attributes });
      }
  }

  /** The text of a part in pieces, each of which ends with one of these elements, or with the part. */
  async *pieces(path: string, elements: string): AsyncGenerator<readonly string[]> {
    const name = `(?:\\w+:)?(?:${elements})`;
    const end = new RegExp(`</${name}\\s*>|<${name}(?=[\\s/])[^<>]*/>`, "g");
    let held = "";
    let rest = "";
    let root = "";
    let tail = "";
    let count = 0;
    for await (const text of this.#texts(path)) {
      root ||= /<([\w:.-]+)/.exec(text)?.[1] ?? "";
      tail = (tail + text).slice(-TAIL_UNITS);
      const xml = rest + text;
      const pieces: string[] = [];
      let at = 0;
      while (end.exec(xml) !== null) {
        pieces.push(held + xml.slice(at, end.lastIndex));
        held = "";
        at = end.lastIndex;
      }
      yield pieces;
      count += pieces.length;
      held += xml.slice(at, Math.max(at, xml.length - TAG_MAX_UNITS));
      rest = xml.slice(Math.max(at, xml.length - TAG_MAX_UNITS));
      if (held.length > PIECE_MAX_UNITS || count > PIECES_MAX)
        throw new TableFault(BROKEN_WORKBOOK);
    }
    // A remark or an instruction may stand behind the root.
    const whole = new RegExp(`(?:</${root}\\s*>|/>|-->|\\?>)$`);
    if (root === "" || !whole.test(tail.trimEnd())) throw new TableFault(BROKEN_WORKBOOK);
    yield [held + rest];
  }

  async *#texts(path: string): AsyncGenerator<string> {
    let decoder: InstanceType<typeof TextDecoder> | undefined;
    for await (const piece of this.octets(path)) {
      decoder ??= decoderFor(piece);
      yield decoder.decode(piece, { stream: true });
    }
    yield decoder?.decode() ?? "";
  }

  /** Unpacked. All parts together have a limit. */
  async *octets(path: string): AsyncGenerator<Buffer> {
    const entry = this.#entries.get(path.toLowerCase());
    if (entry === undefined) throw new TableFault(BROKEN_WORKBOOK);
    if (entry.isEncrypted()) throw new TableFault(PASSWORD);
    try {
      const stream: AsyncIterable<Buffer> = await this.#file.openReadStreamPromise(entry);
      for await (const piece of stream) {
        this.#unpacked += piece.length;
        if (this.#unpacked > UNPACKED_MAX_OCTETS)
          throw new TableFault("The workbook unpacks to more than 400 MB; save it as .csv.");
        yield piece;
      }
    } catch (error) {
      throw error instanceof TableFault ? error : new TableFault(BROKEN_WORKBOOK);
    }
  }
}

/** The part that says what the part at `path` links to. */
export function linksOf(path: string): string {
  const slash = path.lastIndexOf("/") + 1;
  return `${path.slice(0, slash)}_rels/${path.slice(slash)}.rels`;
}

function pathOf(target: string, from: string): string {
  try {
    return decodeURIComponent(new URL(target, `zip://x/${from}`).pathname.slice(1));
  } catch {
    return "";
  }
}

const decoderFor = ([first, second]: Uint8Array): InstanceType<typeof TextDecoder> =>
  new TextDecoder(
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe ? "utf-16be" : "utf-8",
  );
