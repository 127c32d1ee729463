import type { Signal } from "../../core/signals.ts";
import type { Fate } from "../../core/tally.ts";
import { call, readLines, send } from "./client.ts";

export interface ListStats {
  readonly total: number;
  readonly unique: number;
  readonly invalid_format: number;
  readonly invalid_dns: number;
  readonly disposable: number;
  readonly valid: number;
}

export interface ListState {
  readonly session: string;
  readonly status: "pending" | "processing" | "failed" | "completed";
  readonly email_count?: number;
  readonly processed_count?: number;
  readonly estimated_seconds?: number;
  /** With `completed`. */
  readonly stats?: ListStats;
}

export interface ListRow {
  readonly entry: string;
  readonly fate: Fate;
  readonly confidence: number;
  readonly signals: readonly Signal[];
}

type CompactRow = readonly [string, Fate, number, readonly Signal[]];

export const startList = (text: string): Promise<ListState> =>
  call<ListState>("POST", "lists", { text });

export const listState = (session: string): Promise<ListState> =>
  call<ListState>("GET", `lists/${session}`);

export const forgetList = (session: string): Promise<void> =>
  call<undefined>("DELETE", `lists/${session}`);

/** Tells how far the list is, until it is done. */
export async function watchList(session: string, take: (state: ListState) => void): Promise<void> {
  const response = await send("GET", `/account/lists/${session}/progress`);
  await readLines(response, (value) => take(value as ListState));
}

/** All rows, in the order they were submitted. */
export async function listRows(session: string): Promise<readonly ListRow[]> {
  const rows: ListRow[] = [];
  const response = await send("GET", `/account/lists/${session}/rows`);
  await readLines(response, (value) => {
    for (const [entry, fate, confidence, signals] of value as readonly CompactRow[]) {
      rows.push({ entry, fate, confidence, signals });
    }
  });
  return rows;
}
