import { effect, signal } from "@preact/signals";
import { ApiFault, faultText } from "../api/client.ts";
import { forgetList, isPassing, listRows, listState, startList, watchList } from "../api/lists.ts";
import type { ListRow, ListState } from "../api/shapes.ts";
import { announce } from "../app/announce.ts";
import { nowMs } from "../app/clock.ts";
import { t } from "../app/i18n.ts";
import {
  type Column,
  columnOf,
  firstEntries,
  partsOf,
  type Source,
  type Table,
} from "./list-file.ts";
import { notice } from "../app/notice.ts";
import { path } from "../app/router.ts";
import { loadAllowance, session } from "../app/session.ts";
import { putOnShelf, takeFromShelf } from "./shelf.ts";

/** A list from the file to its result; kept while the person looks at other pages. */
export type ListRun =
  | { readonly step: "none" }
  /** After a reload, or out of reach before: while the server is asked how far it is. */
  | ({ readonly step: "resuming" } & Begun)
  /** It goes on at the server, which does not answer; `message` says why not. */
  | ({ readonly step: "away"; readonly message: string } & Begun)
  | { readonly step: "chosen"; readonly name: string; readonly table: Table }
  | ({
      readonly step: "running";
      readonly state: ListState;
      /** Rows of the parts that are done. */
      readonly rows: readonly ListRow[];
      /** When the first entry was seen to be done, and how many were. */
      readonly since: { readonly ms: number; readonly processed: number };
    } & Begun)
  | ({
      readonly step: "done";
      readonly rows: readonly ListRow[];
      readonly expiresAtMs: number;
    } & Begun)
  | { readonly step: "failed"; readonly name: string; readonly message: string };

/** A list that the server has taken. */
export interface Begun {
  /** One of the server's for each part that was sent. */
  readonly sessions: readonly string[];
  readonly name: string;
  readonly source: Source | undefined;
  /** Texts that are still to be sent, each at most what one request takes. */
  readonly waiting: readonly string[];
}

export const listRun = signal<ListRun>({ step: "none" });

let ownerId = "";

/** The first session of the list that this page follows; "" after it was cancelled or given up. */
let inHand = "";

const nameOf = ({ sessions }: Begun): string => sessions[0] ?? "";

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
    const { sessions, name } = list;
    sessionStorage.setItem(storedName(), JSON.stringify({ sessions, name }));
  } catch {
    // Without storage a reload forgets the list; it runs on all the same.
  }
}

function remembered(): Begun | undefined {
  try {
    const known: unknown = JSON.parse(sessionStorage.getItem(storedName()) ?? "null");
    if (typeof known !== "object" || known === null) return undefined;
    const { sessions, name } = known as Record<string, unknown>;
    if (!Array.isArray(sessions) || typeof name !== "string") return undefined;
    const texts = sessions.filter((one) => typeof one === "string");
    return { sessions: texts, name, source: undefined, waiting: [] };
  } catch {
    return undefined;
  }
}

/** What of a file is checked. */
export interface Order {
  readonly name: string;
  readonly table: Table;
  /** The column. */
  readonly at: number;
  /** Only so many different entries, from the first; absent: all. */
  readonly first?: number;
}

/** Begins with one column of a table. Throws an `ApiFault` when the server refuses it. */
export async function start({ name, table, at, first }: Order): Promise<void> {
  const whole = columnOf(table, at);
  const column: Column = first === undefined ? whole : firstEntries(whole, first);
  const [text = "", ...waiting] = partsOf(column.text);
  const state = await startList(text);
  const source = { table, column, at };
  const list = { sessions: [state.session], name, source, waiting };
  remember(list);
  putOnShelf(list.sessions, { name, entries: column.unique });
  inHand = state.session;
  void loadAllowance();
  // From here on the list has its own page to say what went wrong.
  await follow(list, state, []).catch((error: unknown) => failWith(list, error));
}

/** Shows progress until the end of one part, sends the next, and then shows the result. */
async function follow(list: Begun, first: ListState, rows: readonly ListRow[]): Promise<void> {
  const last = await followPart(list, first, rows);
  if (last === undefined || inHand !== nameOf(list)) return;
  if (last.status !== "completed") {
    return fail(
      list,
      t("The service could not finish this list. What was not checked is not charged."),
    );
  }
  const session = list.sessions.at(-1) ?? "";
  const all = [...rows, ...(await listRows(session))];
  if (inHand !== nameOf(list)) return;
  const [text, ...waiting] = list.waiting;
  if (text === undefined) return finish(list, all, last.expires_in_seconds ?? 0);
  const state = await startList(text);
  const longer = { ...list, sessions: [...list.sessions, state.session], waiting };
  remember(longer);
  putOnShelf(longer.sessions, { name: list.name });
  await follow(longer, state, all);
}

/** The last state of a part; undefined when the page shows another list meanwhile. */
async function followPart(
  list: Begun,
  first: ListState,
  rows: readonly ListRow[],
): Promise<ListState | undefined> {
  if (first.status === "completed") return first;
  const since = { ms: nowMs(), processed: first.processed_count ?? 0 };
  listRun.value = { step: "running", ...list, rows, state: first, since };
  const isShown = (): boolean => inHand === nameOf(list) && listRun.value.step === "running";
  const show = (state: ListState): void => {
    if (isShown()) listRun.value = { step: "running", ...list, rows, state, since };
  };
  return watchList(first.session, show, isShown);
}

function finish(list: Begun, rows: readonly ListRow[], lifeSeconds: number): void {
  const expiresAtMs = nowMs() + lifeSeconds * 1_000;
  listRun.value = { step: "done", ...list, rows, expiresAtMs };
  const good = rows.filter(({ fate }) => fate === "valid").length;
  putOnShelf(list.sessions, { name: list.name, entries: rows.length, good, expiresAtMs });
  announce(t("{name} is done.", { name: list.name }));
  if (path.value === "/lists") return;
  notice.value = { words: t("{name} is done.", { name: list.name }), href: "/lists" };
}

function fail(list: Begun, message: string): void {
  remember(undefined);
  takeFromShelf(list.sessions);
  listRun.value = { step: "failed", name: list.name, message };
}

const FORGOTTEN = "The server keeps results for 15 minutes and has deleted these.";

/** For a list that was cut off on the way. It runs on and is paid for: only the server's own answer gives it up. */
function failWith(list: Begun, error: unknown): void {
  if (inHand !== nameOf(list)) return; // It was cancelled while the server was asked.
  const status = error instanceof ApiFault ? error.status : undefined;
  // Who signs in again finds it as after a reload.
  if (status === 401) listRun.value = { step: "resuming", ...list };
  else if (isPassing(error)) listRun.value = { step: "away", ...list, message: faultText(error) };
  else fail(list, status === 404 ? t(FORGOTTEN) : faultText(error));
}

/** Takes up the list that this tab had begun: after a reload, or when the server answers again. */
export async function resume(): Promise<void> {
  const run = listRun.value;
  if (run.step !== "resuming" && run.step !== "away") return;
  const { sessions, name, source, waiting } = run;
  await open({ sessions, name, source, waiting });
}

/** Shows a list of the shelf, as far as it is. */
export async function open(list: Begun): Promise<void> {
  listRun.value = { step: "resuming", ...list };
  inHand = nameOf(list);
  remember(list);
  try {
    const before = list.sessions.slice(0, -1);
    const rows = (await Promise.all(before.map(listRows))).flat();
    await follow(list, await listState(list.sessions.at(-1) ?? ""), rows);
  } catch (error) {
    failWith(list, error);
  }
}

/** Begins anew without a word to the server; the list stays on the shelf. */
export function giveUp(): void {
  remember(undefined);
  inHand = "";
  listRun.value = { step: "none" };
}

/** Cancels or deletes the list, here and on the server, and begins anew. */
export async function forget(sessions: readonly string[]): Promise<void> {
  giveUp();
  takeFromShelf(sessions);
  const unlessGone = (error: unknown): void => {
    if (!(error instanceof ApiFault && error.status === 404)) throw error;
  };
  await Promise.all(sessions.map((one) => forgetList(one).catch(unlessGone)));
  void loadAllowance();
}
