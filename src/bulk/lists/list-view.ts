import { uploadTooLong } from "../../base/refusals.ts";
import { nextSlice } from "../../base/slices.ts";
import type { OwnerKey } from "../../base/owner.ts";
import { keyOf } from "../../core/batch/batch.ts";
import { addressBalance, type ListKind } from "../../core/batch/result-cells.ts";
import {
  type EntryVerdict,
  type KeepRule,
  ROW_CLASSES,
  type RowClass,
  UNCHECKED,
  entryVerdict,
  worstOf,
} from "../../core/batch/row-class.ts";
import type { FullResult } from "../../core/validate/result.ts";
import { unpackOctets } from "../../store/pack.ts";
import { type ListOptions, readListFile, type ReadShape } from "../files/list-file.ts";
import { UPLOAD_MAX_ENTRIES } from "../files/read-upload.ts";
import { checkedIn, type PackedResults } from "../jobs/sessions.ts";

export interface ListOrder {
  readonly owner: OwnerKey;
  readonly list: string;
  readonly version: string;
  readonly options: ListOptions;
  /** Which of several addresses in a row have to be good for the row to be good; absent: any. */
  readonly keep?: KeepRule;
  readonly octets: number;
  /** Sessions with results, oldest first: a later result takes the place of an earlier one. */
  readonly sessions: readonly { readonly session: string; readonly chunks: number }[];
}

export interface ListSource {
  /** Part `number` of the file, packed; undefined behind the last. */
  readonly part: (number: number) => Promise<Uint8Array | undefined>;
  readonly results: (session: string, chunk: number) => Promise<PackedResults | undefined>;
  readonly fixes: () => Promise<ReadonlySet<string>>;
}

const SLICE_OCTETS = 65_536;

export async function* slicesOf(source: Pick<ListSource, "part">): AsyncGenerator<Uint8Array> {
  for (let number = 0; ; number += 1) {
    const packed = await source.part(number);
    if (packed === undefined) return;
    const part = await unpackOctets(packed);
    for (let at = 0; at < part.length; at += SLICE_OCTETS) {
      yield part.subarray(at, at + SLICE_OCTETS);
    }
  }
}

export interface ViewPiece {
  readonly entry: string;
  readonly class: RowClass;
  readonly why: string;
  readonly meant: string;
  readonly was?: string;
}

export interface ViewRow extends ViewPiece {
  readonly line: number;
  readonly wasClass?: RowClass;
  readonly each?: readonly ViewPiece[];
  /** How many entries each column holds, where further columns are read, too. */
  readonly spread?: readonly number[];
  readonly readAs?: string;
}

export interface ListView {
  readonly shape: ReadShape;
  readonly sample: readonly (readonly string[])[];
  readonly rows: readonly ViewRow[];
  readonly counts: Readonly<Record<RowClass, number>>;
  readonly open: readonly string[];
  readonly unsure: readonly string[];
  readonly among: ListKind;
}

const SAMPLE_ROWS = 6;

const SLICE_ROWS = 2_000;

type DraftRow = { -readonly [Name in keyof ViewRow]: ViewRow[Name] };

type Entered = readonly [row: DraftRow, entries: readonly string[]];

/** Reads the file and the results. Throws a `TableFault` for a file that cannot be read. */
export async function readView(order: ListOrder, source: ListSource): Promise<ListView> {
  const { shape, sample, rows, among } = await readRows(order, source);
  const verdicts = await byKey(order, source, (result, entry) =>
    entryVerdict(JSON.parse(result) as FullResult, entry, among),
  );
  const repair = repairer(await source.fixes(), verdicts);
  const none = Object.fromEntries(ROW_CLASSES.map((name) => [name, 0]));
  const counts = none as Record<RowClass, number>;
  const { keep = "any" } = order;
  const state: RepairState = { repair, keep, seen: new Set(), open: [], unsure: [] };
  for (const [at, entered] of rows.entries()) {
    if (at % SLICE_ROWS === SLICE_ROWS - 1) await nextSlice();
    repairRow(entered, state);
    counts[entered[0].class] += 1;
  }
  const { open, unsure } = state;
  return { shape, sample, rows: rows.map(([row]) => row), counts, open, unsure, among };
}

async function readRows({ options }: ListOrder, source: ListSource) {
  const rows: Entered[] = [];
  const sample: (readonly string[])[] = [];
  let shape: ReadShape | undefined;
  let balance = 0;
  let total = 0;
  for await (const page of readListFile(slicesOf(source), options)) {
    shape = page.shape;
    for (const { line, cells, entries, spread, readAs, reason } of page.rows) {
      total += entries.length;
      if (total > UPLOAD_MAX_ENTRIES) throw uploadTooLong(UPLOAD_MAX_ENTRIES);
      if (rows.length >= UPLOAD_MAX_ENTRIES) throw uploadTooLong(UPLOAD_MAX_ENTRIES, "rows");
      if (sample.length < SAMPLE_ROWS) sample.push(cells);
      balance += addressBalance(entries);
      const row: DraftRow = {
        line,
        entry: entries.length > 0 ? entries.join(", ") : (cells[page.shape.at] ?? ""),
        class: reason === undefined ? "blank" : "unread",
        why: reason ?? "",
        meant: "",
      };
      if (spread !== undefined) row.spread = spread;
      if (readAs !== undefined) row.readAs = readAs;
      rows.push([row, entries]);
    }
    await nextSlice();
  }
  const among: ListKind = balance > 0 ? "addresses" : "anything";
  return { shape: shape ?? EMPTY, sample, rows, among };
}

const EMPTY: ReadShape = {
  form: "list",
  encoding: "utf-8",
  header: ["entry"],
  column: "entry",
  at: 0,
  others: [],
  delimiter: ",",
};

/** What sessions found, by the keys of their entries. */
export async function byKey<T>(
  { sessions }: ListOrder,
  source: ListSource,
  make: (result: string, entry: string) => T,
): Promise<ReadonlyMap<string, T>> {
  const made = new Map<string, T>();
  for (const { session, chunks } of sessions) {
    for (let number = 0; number < chunks; number += 1) {
      const packed = await source.results(session, number);
      for (const { spelling, result } of packed === undefined ? [] : await checkedIn(packed)) {
        made.set(keyOf(spelling), make(result, spelling));
      }
    }
  }
  return made;
}

interface Repaired {
  readonly entry: string;
  readonly verdict: EntryVerdict;
  readonly before?: EntryVerdict;
}

function repairer(
  fixes: ReadonlySet<string>,
  verdicts: ReadonlyMap<string, EntryVerdict>,
): (entry: string) => Repaired {
  return (entry) => {
    const key = keyOf(entry);
    const before = verdicts.get(key) ?? UNCHECKED;
    if (before.meant === "" || !fixes.has(key)) return { entry, verdict: before };
    const fixed = verdicts.get(keyOf(before.meant)) ?? { ...UNCHECKED, class: "fixed" };
    return { entry: before.meant, verdict: fixed, before };
  };
}

interface RepairState {
  readonly repair: (entry: string) => Repaired;
  readonly keep: KeepRule;
  readonly seen: Set<string>;
  readonly open: string[];
  readonly unsure: string[];
}

function repairRow([row, entries]: Entered, state: RepairState): void {
  const { repair, keep, seen, open, unsure } = state;
  if (entries.length === 0) return;
  const pieces = entries.map(repair);
  if (pieces.length > 1)
    row.each = pieces.map(({ entry, verdict, before }, at) => ({
      entry,
      ...verdict,
      ...(before !== undefined && { was: entries[at] ?? "" }),
    }));
  let isNew = false;
  for (const { entry, verdict } of pieces) {
    const key = keyOf(entry);
    if (seen.has(key)) continue;
    seen.add(key);
    isNew = true;
    if (verdict.class === "unchecked" || verdict.class === "fixed") open.push(entry);
    if (verdict.class === "unsure") unsure.push(entry);
  }
  const verdicts = pieces.map(({ verdict }) => verdict);
  const good = keep === "any" ? verdicts.find((verdict) => verdict.class === "good") : undefined;
  const { class: name, why, meant } = good ?? worstOf(verdicts);
  row.class = isNew ? name : "duplicate";
  row.why = isNew ? why : "It stands in a row before.";
  row.meant = isNew && pieces.length === 1 ? meant : "";
  const before = pieces.flatMap((piece) => piece.before ?? []);
  if (before.length === 0) return;
  row.was = row.entry;
  row.wasClass = worstOf(before).class;
  row.entry = pieces.map(({ entry }) => entry).join(", ");
}
