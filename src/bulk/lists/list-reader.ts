import { LRUCache } from "lru-cache";
import { badUpload } from "../../base/refusals.ts";
import { inSlices } from "../../base/slices.ts";
import { type SplitBatch, splitPieces } from "../../core/batch/batch-chunk.ts";
import { keyOf, type TooMany } from "../../core/batch/batch.ts";
import { TableFault } from "../../core/batch/entry-cell.ts";
import { ROW_CLASSES, type RowClass } from "../../core/batch/row-class.ts";
import { type CleanedOrder, type CleanedRows, cleanedTable } from "./cleaned-rows.ts";
import { keptWorkbook } from "../files/kept-workbook.ts";
import {
  type ListOrder,
  type ListSource,
  type ListView,
  readView,
  type ViewRow,
} from "./list-view.ts";

/** Repairs to apply or to take back: those of a class of rows, or of one entry of the file. */
export interface FixOrder {
  readonly of: { readonly class: RowClass } | { readonly entry: string };
  readonly undo: boolean;
}

export const ROW_ORDERS = ["file", "entry", "domain", "verdict", "reason"] as const;
type RowOrder = (typeof ROW_ORDERS)[number];

/** Rows of a class, with a reason, whose entry holds a text; "" for any. */
export interface RowQuery {
  readonly sort?: RowOrder;
  readonly class: RowClass | "";
  readonly why: string;
  readonly text: string;
  readonly from: number;
  readonly count: number;
}

export interface FoundRows {
  readonly total: number;
  readonly rows: readonly ViewRow[];
  readonly reasons: readonly SkippedReason[];
}

export interface SkippedReason {
  readonly why: string;
  readonly rows: number;
}

export interface ListFacts extends Pick<ListView, "shape" | "sample" | "counts"> {
  readonly rows: number;
  /** Entries that are left to check, and those that DNS said nothing about. */
  readonly open: number;
  readonly unsure: number;
  /** Rows with several addresses. */
  readonly several: number;
  readonly repairs: readonly Repairs[];
  readonly disposable: readonly SkippedReason[];
}

export interface Repairs {
  readonly class: RowClass;
  readonly open: number;
  readonly fixed: number;
  readonly slips: readonly { readonly from: string; readonly to: string; readonly rows: number }[];
}

export interface EntriesOrder {
  readonly first: number;
  readonly again: boolean;
  readonly uniqueMax: number;
}

export interface PieceOrder extends CleanedOrder {
  readonly stream: string;
  readonly number: number;
}

/** A part of a cleaned file: rows of it, or octets. */
export type CleanedPiece = CleanedRows | Uint8Array;

const ROWS_MAX = 300_000;

/** Cleaned files that are being made; one that was forgotten is made again up to its next piece. */
const STREAMS_MAX = 4;

interface KnownView {
  readonly version: string;
  readonly view: ListView;
  facts?: ListFacts;
  sorted?: { readonly by: RowOrder; readonly rows: readonly ViewRow[] };
}

const SORTED_BY: Readonly<Record<Exclude<RowOrder, "file">, (row: ViewRow) => string>> = {
  entry: ({ entry }) => entry.toLowerCase(),
  domain: ({ entry }) => entry.slice(entry.lastIndexOf("@") + 1).toLowerCase(),
  verdict: ({ class: name }) => String(ROW_CLASSES.indexOf(name)).padStart(2, "0"),
  reason: ({ why }) => why,
};

function sortedRows(known: KnownView, by: RowOrder): readonly ViewRow[] {
  const { rows } = known.view;
  if (by === "file") return rows;
  if (known.sorted?.by === by) return known.sorted.rows;
  const keyed = rows.map((row) => [SORTED_BY[by](row), row] as const);
  keyed.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const sorted = { by, rows: keyed.map(([, row]) => row) };
  known.sorted = sorted;
  return sorted.rows;
}

export class ListReader {
  readonly #views = new LRUCache<string, KnownView>({ maxSize: ROWS_MAX });
  readonly #streams = new LRUCache<
    string,
    { readonly pieces: AsyncGenerator<CleanedPiece>; next: number }
  >({ max: STREAMS_MAX });

  async facts(order: ListOrder, source: ListSource): Promise<ListFacts> {
    const known = await this.#known(order, source);
    known.facts ??= factsOf(known.view);
    return known.facts;
  }

  async rows(
    order: ListOrder & { readonly query: RowQuery },
    source: ListSource,
  ): Promise<FoundRows> {
    const { class: name, why, text, from, count, sort = "file" } = order.query;
    const rows = sortedRows(await this.#known(order, source), sort);
    const ofClass = name === "" ? rows : rows.filter((row) => row.class === name);
    const sought = text.trim().toLowerCase();
    const isSought = (row: ViewRow): boolean =>
      (why === "" || row.why === why) &&
      (sought === "" || row.entry.toLowerCase().includes(sought));
    const found = why === "" && sought === "" ? ofClass : ofClass.filter(isSought);
    return {
      total: found.length,
      rows: found.slice(from, from + count),
      reasons: name === "" ? [] : reasonsOf(ofClass),
    };
  }

  async entries(
    order: ListOrder & EntriesOrder,
    source: ListSource,
  ): Promise<SplitBatch | TooMany | undefined> {
    const { view } = await this.#known(order, source);
    const entries = (order.again ? view.unsure : view.open).slice(0, Math.max(0, order.first));
    return entries.length === 0 ? undefined : await inSlices(splitPieces(entries, order.uniqueMax));
  }

  async fixed(
    order: ListOrder & { readonly fix: FixOrder },
    source: ListSource,
  ): Promise<readonly string[]> {
    const { of, undo } = order.fix;
    if ("entry" in of) return [keyOf(of.entry)];
    const { rows } = (await this.#known(order, source)).view;
    return rows.flatMap(({ class: name, wasClass, was, entry, meant, each = [] }) => {
      if (undo && wasClass === of.class && each.length > 0)
        return each.flatMap((piece) => (piece.was === undefined ? [] : [keyOf(piece.was)]));
      if (undo) return wasClass === of.class && was !== undefined ? [keyOf(was)] : [];
      return name === of.class && meant !== "" ? [keyOf(entry)] : [];
    });
  }

  async piece(
    order: ListOrder & PieceOrder,
    source: ListSource,
  ): Promise<CleanedPiece | undefined> {
    const { stream: id, number } = order;
    let stream = this.#streams.get(id);
    if (stream?.next !== number) {
      const { view } = await this.#known(order, source);
      const made = order.form === "workbook" ? keptWorkbook : cleanedTable;
      stream = { pieces: made(order, source, view), next: 0 };
      this.#streams.set(id, stream);
    }
    for (;;) {
      const { done, value } = await stream.pieces.next().catch(refused);
      stream.next += 1;
      if (done === true) {
        this.#streams.delete(id);
        return undefined;
      }
      if (stream.next > number) return value;
    }
  }

  async #known(order: ListOrder, source: ListSource): Promise<KnownView> {
    const { list, version } = order;
    const kept = this.#views.get(list);
    if (kept?.version === version) return kept;
    this.#views.delete(list); // its memory is needed
    const view = await readView(order, source).catch(refused);
    const known = { version, view };
    this.#views.set(list, known, { size: Math.min(ROWS_MAX, view.rows.length + 1) });
    return known;
  }
}

export type ReadsLists = Pick<ListReader, "facts" | "rows" | "entries" | "fixed" | "piece">;

function refused(error: unknown): never {
  if (!(error instanceof TableFault)) throw error;
  throw badUpload(error.message.replace("; name it with column", ""));
}

function factsOf(view: ListView): ListFacts {
  const { shape, sample, counts, rows, open, unsure } = view;
  return {
    shape,
    sample,
    counts,
    rows: rows.length,
    open: open.length,
    unsure: unsure.length,
    several: rows.filter(({ each }) => each !== undefined).length,
    repairs: REPAIRED.map((name) => repairsOf(name, view)),
    disposable: reasonsOf(rows.filter((row) => row.class === "disposable")).slice(0, SHOWN),
  };
}

const REPAIRED = ["misspelt", "format"] as const;

const SHOWN = 4;
const REASONS_MAX = 50;

function reasonsOf(rows: readonly ViewRow[]): readonly SkippedReason[] {
  const counts = new Map<string, number>();
  for (const { why } of rows) {
    if (why !== "") counts.set(why, (counts.get(why) ?? 0) + 1);
  }
  return [...counts]
    .map(([why, times]) => ({ why, rows: times }))
    .sort((a, b) => b.rows - a.rows)
    .slice(0, REASONS_MAX);
}

/** Rows of one class that can be repaired, with the most frequent slips: of domains where only they differ. */
function repairsOf(name: RowClass, { rows }: ListView): Repairs {
  const slips = new Map<string, { from: string; to: string; rows: number }>();
  let [open, fixed] = [0, 0];
  for (const row of rows) {
    const isFixed = row.wasClass === name;
    if (isFixed) fixed += 1;
    else if (row.class === name && row.meant !== "") open += 1;
    else continue;
    const [from, to] = differing(row.was ?? row.entry, isFixed ? row.entry : row.meant);
    const known = slips.get(from) ?? { from, to, rows: 0 };
    known.rows += 1;
    slips.set(from, known);
  }
  const most = [...slips.values()].sort((a, b) => b.rows - a.rows).slice(0, SHOWN);
  return { class: name, open, fixed, slips: most };
}

function differing(from: string, to: string): readonly [string, string] {
  const at = to.lastIndexOf("@") + 1;
  return at > 0 && from.startsWith(to.slice(0, at)) ? [from.slice(at), to.slice(at)] : [from, to];
}
