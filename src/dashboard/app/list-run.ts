import { effect, signal } from "@preact/signals";
import { ApiFault, faultText } from "../api/client.ts";
import { forgetList, isPassing, listRows, listState, startList, watchList } from "../api/lists.ts";
import type { ListRow, ListState, ListStats } from "../api/shapes.ts";
import { announce } from "./announce.ts";
import { nowMs } from "./clock.ts";
import { columnOf, type Source, type Table } from "./list-file.ts";
import { loadAllowance, session } from "./session.ts";

/** A list from the file to its result; kept while the person looks at other pages. */
export type ListRun =
  | { readonly step: "none" }
  /** After a reload, or out of reach before: while the server is asked how far it is. */
  | ({ readonly step: "resuming" } & Begun)
  /** It continues on the server, which does not answer; `message` says why. */
  | ({ readonly step: "away"; readonly message: string } & Begun)
  | { readonly step: "chosen"; readonly name: string; readonly table: Table }
  | ({
      readonly step: "running";
      readonly state: ListState;
      /** When the first entry was seen to be done, and how many were. */
      readonly since: { readonly ms: number; readonly processed: number };
    } & Begun)
  | ({
      readonly step: "done";
      readonly stats: ListStats;
      readonly rows: readonly ListRow[];
      readonly expiresAtMs: number;
    } & Begun)
  | { readonly step: "failed"; readonly name: string; readonly message: string };

/** A list that the server has taken. */
export interface Begun {
  readonly session: string;
  readonly name: string;
  readonly source: Source | undefined;
}

export const listRun = signal<ListRun>({ step: "none" });

let ownerId = "";

/** The session of the list that this page follows; "" after it was cancelled or given up. */
let inHand = "";

// One account's list is not for the next one that signs in at this browser.
effect(() => {
  const id = session.value?.account?.id;
  if (id === undefined || id === ownerId) return;
  ownerId = id;
  const known = remembered();
  listRun.value = known === undefined ? { step: "none" } : { step: "resuming", ...known };
});

function storedName(): string {
  return `gatepost-list ${ownerId}`;
}

function remember(list: Begun | undefined): void {
  try {
    if (list === undefined) return sessionStorage.removeItem(storedName());
    const { session, name } = list;
    sessionStorage.setItem(storedName(), JSON.stringify({ session, name }));
  } catch {
    // Without storage a reload forgets the list; it runs on all the same.
  }
}

function remembered(): Begun | undefined {
  try {
    const known: unknown = JSON.parse(sessionStorage.getItem(storedName()) ?? "null");
    if (typeof known !== "object" || known === null) return undefined;
    const { session, name } = known as Record<string, unknown>;
    if (typeof session !== "string" || typeof name !== "string") return undefined;
    return { session, name, source: undefined };
  } catch {
    return undefined;
  }
}

/** Begins with one column of a table. Throws an `ApiFault` when the server refuses it. */
export async function start(name: string, table: Table, at: number): Promise<void> {
  const column = columnOf(table, at);
  const state = await startList(column.text);
  const list = { session: state.session, name, source: { table, column, at } };
  remember(list);
  inHand = list.session;
  void loadAllowance();
  // From here on the list has its own page to say what went wrong.
  await follow(list, state).catch((error: unknown) => failWith(list, error));
}

/** Shows progress until the end, and then the result. */
async function follow(list: Begun, first: ListState): Promise<void> {
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

async function finish(list: Begun, state: ListState): Promise<void> {
  const { stats, expires_in_seconds: lifeSeconds = 0 } = state;
  if (stats === undefined) return fail(list.name, "The service sent no result.");
  const expiresAtMs = nowMs() + lifeSeconds * 1_000;
  const rows = await listRows(list.session);
  if (inHand !== list.session) return;
  listRun.value = { step: "done", ...list, stats, rows, expiresAtMs };
  announce(`${list.name} is done.`);
}

function fail(name: string, message: string): void {
  remember(undefined);
  listRun.value = { step: "failed", name, message };
}

const FORGOTTEN = "The server keeps results for 15 minutes and has forgotten these.";

/** For a list that was cut off on the way. It runs on and is paid for: only the server's own word gives it up. */
function failWith(list: Begun, error: unknown): void {
  if (inHand !== list.session) return; // It was cancelled while the server was asked.
  const status = error instanceof ApiFault ? error.status : undefined;
  // Who signs in again finds it as after a reload.
  if (status === 401) listRun.value = { step: "resuming", ...list };
  else if (isPassing(error)) listRun.value = { step: "away", ...list, message: faultText(error) };
  else fail(list.name, status === 404 ? FORGOTTEN : faultText(error));
}

/** Resumes this tab's batch: after a reload, or when the server answers again. */
export async function resume(): Promise<void> {
  const run = listRun.value;
  if (run.step !== "resuming" && run.step !== "away") return;
  const { session: id, name, source } = run;
  const list = { session: id, name, source };
  listRun.value = { step: "resuming", ...list };
  inHand = id;
  try {
    await follow(list, await listState(id));
  } catch (error) {
    failWith(list, error);
  }
}

/** Begins anew without a word to the server. */
export function giveUp(): void {
  remember(undefined);
  inHand = "";
  listRun.value = { step: "none" };
}

/** Cancels or forgets the list, here and on the server, and begins anew. */
export async function forget(session: string): Promise<void> {
  giveUp();
  await forgetList(session).catch((error: unknown) => {
    if (!(error instanceof ApiFault && error.status === 404)) throw error;
  });
  void loadAllowance();
}
