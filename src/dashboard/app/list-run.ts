import { effect, signal } from "@preact/signals";
import { ApiFault, faultText } from "../api/client.ts";
import {
  forgetList,
  listRows,
  type ListRow,
  listState,
  type ListState,
  type ListStats,
  startList,
  watchList,
} from "../api/lists.ts";
import { announce } from "./announce.ts";
import { nowMs } from "./clock.ts";
import { type Column, columnOf, type Table } from "./list-file.ts";
import { loadAllowance, session } from "./session.ts";

/** A list from the file to its result; kept while the person looks at other pages. */
export type ListRun =
  | { readonly step: "none" }
  /** After a reload, while the server is asked how far it is. */
  | { readonly step: "resuming"; readonly name: string }
  | { readonly step: "chosen"; readonly name: string; readonly table: Table }
  | {
      readonly step: "running";
      readonly name: string;
      readonly source: Source | undefined;
      readonly state: ListState;
      /** When the first entry was seen to be done, and how many were. */
      readonly since: { readonly ms: number; readonly processed: number };
    }
  | {
      readonly step: "done";
      readonly name: string;
      readonly source: Source | undefined;
      readonly session: string;
      readonly stats: ListStats;
      readonly rows: readonly ListRow[];
      readonly expiresAtMs: number;
    }
  | { readonly step: "failed"; readonly name: string; readonly message: string };

/** The file that a list came from; gone after a reload. */
export interface Source {
  readonly table: Table;
  readonly column: Column;
  /** Which of the table's columns. */
  readonly at: number;
}

const STORED = "gatepost-list";

function remember(entry: { readonly session: string; readonly name: string } | undefined): void {
  try {
    if (entry === undefined) sessionStorage.removeItem(STORED);
    else sessionStorage.setItem(STORED, JSON.stringify(entry));
  } catch {
    // Without storage a reload forgets the list; it runs on all the same.
  }
}

function remembered(): { readonly session: string; readonly name: string } | undefined {
  try {
    const known: unknown = JSON.parse(sessionStorage.getItem(STORED) ?? "null");
    if (typeof known !== "object" || known === null) return undefined;
    const { session, name } = known as Record<string, unknown>;
    return typeof session === "string" && typeof name === "string" ? { session, name } : undefined;
  } catch {
    return undefined;
  }
}

export const listRun = signal<ListRun>(firstStep());

function firstStep(): ListRun {
  const known = remembered();
  return known === undefined ? { step: "none" } : { step: "resuming", name: known.name };
}

let ownerId: string | undefined;

// One account's list is not for the next one that signs in at this browser.
effect(() => {
  const id = session.value?.account?.id;
  if (id === undefined || id === ownerId) return;
  if (ownerId !== undefined) listRun.value = { step: "none" };
  ownerId = id;
});

/** Begins with one column of a table. Throws an `ApiFault` when the server refuses it. */
export async function start(name: string, table: Table, at: number): Promise<void> {
  const column = columnOf(table, at);
  const source = { table, column, at };
  const state = await startList(column.text);
  remember({ session: state.session, name });
  void loadAllowance();
  // From here on the list has its own page to say what went wrong.
  await follow({ name, source }, state).catch((error: unknown) => failWith(name, error));
}

interface Followed {
  readonly name: string;
  readonly source: Source | undefined;
}

/** Shows progress until the end, and then the result. */
async function follow(list: Followed, first: ListState): Promise<void> {
  if (first.status === "completed") return finish(list, first);
  const since = { ms: nowMs(), processed: first.processed_count ?? 0 };
  listRun.value = { step: "running", ...list, state: first, since };
  const isShown = (): boolean =>
    listRun.value.step === "running" && listRun.value.state.session === first.session;
  const show = (state: ListState): void => {
    if (isShown()) listRun.value = { step: "running", ...list, state, since };
  };
  const last = await watchList(first.session, show, isShown);
  if (last === undefined || !isShown()) return;
  if (last.status === "completed") await finish(list, last);
  else
    fail(list.name, "The service could not finish this list. What was not checked is not charged.");
}

async function finish(list: Followed, state: ListState): Promise<void> {
  const { session, stats, expires_in_seconds: lifeSeconds = 0 } = state;
  if (stats === undefined) return fail(list.name, "The service sent no result.");
  const expiresAtMs = nowMs() + lifeSeconds * 1_000;
  const rows = await listRows(session);
  listRun.value = { step: "done", ...list, session, stats, rows, expiresAtMs };
  announce(`${list.name} is done.`);
}

function fail(name: string, message: string): void {
  remember(undefined);
  listRun.value = { step: "failed", name, message };
}

/** For a list that was cut off on the way. */
function failWith(name: string, error: unknown): void {
  // Who signs in again finds the list as after a reload: it ran on.
  if (error instanceof ApiFault && error.status === 401) listRun.value = { step: "resuming", name };
  else fail(name, faultText(error));
}

/** After a reload: takes up the list that this tab had begun. */
export async function resume(): Promise<void> {
  const known = remembered();
  if (known === undefined || listRun.value.step !== "resuming") return;
  const list = { name: known.name, source: undefined };
  try {
    await follow(list, await listState(known.session));
  } catch (error) {
    if (!(error instanceof ApiFault && error.status === 404)) return failWith(known.name, error);
    fail(known.name, "The server keeps results for 15 minutes and has forgotten these.");
  }
}

/** Cancels or forgets the list, here and on the server, and begins anew. */
export async function forget(session: string): Promise<void> {
  remember(undefined);
  listRun.value = { step: "none" };
  await forgetList(session).catch((error: unknown) => {
    if (!(error instanceof ApiFault && error.status === 404)) throw error;
  });
  void loadAllowance();
}
