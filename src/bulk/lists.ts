import type { Kysely } from "kysely";
import { type Entrance } from "../accounts/admission/admission.ts";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import { accountKey } from "../base/owner.ts";
import { badUpload, notFound, notNow, Refusal } from "../base/refusals.ts";
import type { Shares } from "../base/shares.ts";
import { inSlices } from "../base/slices.ts";
import { splitPieces } from "../core/batch/batch-chunk.ts";
import { keyOf } from "../core/batch/batch.ts";
import type { RowClass } from "../core/batch/row-class.ts";
import { TableFault } from "../core/batch/entry-cell.ts";
import type { Database } from "../store/schema.ts";
import type { SpelledResult } from "./bulk.ts";
import type { BulkService } from "./submit.ts";
import type { Jobs } from "./jobs.ts";
import {
  type AccountList,
  changeList,
  endOf,
  fileOf,
  findList,
  forgetList,
  keepList,
  keepSessionsUntil,
  type ListChoice,
  LISTS_MAX,
  listsOfAccount,
  runsOf,
} from "./list-store.ts";
import { cleanedCsv, type ListParts, type ListView, readView, resultTexts } from "./list-view.ts";
import { newestResults } from "./read-session.ts";
import { SESSION_LIFE_MS } from "./batches-store.ts";
import type { Session, SessionStore } from "./sessions.ts";

/** A list with its checks, as far as they began. */
export interface OpenList {
  readonly list: AccountList;
  readonly runs: readonly Session[];
  readonly running?: Session;
  /** When it is deleted; absent while a check runs. */
  readonly endMs?: number;
}

export interface ListsDeps {
  readonly db: Kysely<Database>;
  readonly sessions: SessionStore;
  readonly jobs: Pick<Jobs, "remove" | "stop">;
  readonly bulk: Pick<BulkService, "submit" | "entriesMax">;
  readonly shares: Pick<Shares, "of">;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly rouse: () => void;
}

export interface Whose {
  readonly accountId: string;
  readonly id: string;
}

export interface NewList {
  readonly accountId: string;
  readonly name: string;
  readonly file: readonly Uint8Array[];
}

/** Entries to check: the first of those without a result; `again`: those that DNS said nothing about. */
export interface CheckOrder {
  readonly first?: number;
  readonly again: boolean;
}

/** Repairs to apply or to take back: those of a class of rows, or of one entry of the file. */
export interface FixOrder {
  readonly of: { readonly class: RowClass } | { readonly entry: string };
  readonly undo: boolean;
}

const NAME_MAX = 200;

const CHANGED = "The list was changed in another tab. Look at it again.";
const RUNNING = "The list is being checked. Wait until it is done.";

/** Lists of accounts, from the file to the cleaned file. Methods throw a `Refusal`; another account's list is a 404. */
export class Lists {
  readonly #deps: ListsDeps;
  readonly #views: Views;

  constructor(deps: ListsDeps) {
    this.#deps = deps;
    this.#views = new Views(deps);
  }

  async add({ accountId, name, file }: NewList): Promise<OpenList> {
    const { db, clock, ids, shares, rouse } = this.#deps;
    const nowMs = clock.nowMs();
    const list: AccountList = {
      id: ids.hex32(),
      accountId,
      name: name.replaceAll(/\p{Cc}/gu, "").slice(0, NAME_MAX) || "list.txt",
      octets: 0,
      rows: 0,
      choice: {},
      fixes: new Set(),
      runs: [],
      version: 0,
      createdAtMs: nowMs,
      expiresAtMs: nowMs + SESSION_LIFE_MS,
    };
    const open = opened(list, new Map());
    const view = await this.#views.view(open, file);
    if (view.open.length === 0) {
      const reason = view.rows.find(({ class: name }) => name === "unread")?.why ?? "";
      throw badUpload(`The file has no entries. ${reason}`.trim());
    }
    const kept = await shares
      .of("writes")
      .run(accountKey(accountId), () => keepList(db, { ...list, rows: view.rows.length }, file));
    if (kept !== "kept") this.#views.forget(list.id);
    if (kept === "too_many") {
      throw notNow(`You have ${String(LISTS_MAX)} lists here. Delete one first.`);
    }
    if (kept === "full") {
      throw notNow(
        "There is no room for a list of this size. Delete a list, or try again in 15 minutes.",
      );
    }
    rouse();
    return await this.find({ accountId, id: list.id });
  }

  async all(accountId: string): Promise<readonly OpenList[]> {
    const { db } = this.#deps;
    const lists = await listsOfAccount(db, accountId);
    const known = await runsOf(db, lists);
    return lists.map((list) => opened(list, known)).filter((open) => this.#isAlive(open));
  }

  async find({ accountId, id }: Whose): Promise<OpenList> {
    const { db } = this.#deps;
    const list = await findList(db, accountId, id);
    const open = list === undefined ? undefined : opened(list, await runsOf(db, [list]));
    if (open === undefined || !this.#isAlive(open)) throw notFound();
    return open;
  }

  #isAlive({ endMs = Infinity }: OpenList): boolean {
    return endMs > this.#deps.clock.nowMs();
  }

  view(open: OpenList): Promise<ListView> {
    return this.#views.view(open);
  }

  newest(run: Session): Promise<readonly SpelledResult[]> {
    return newestResults(this.#deps.sessions, run);
  }

  async choose(whose: Whose, choice: ListChoice): Promise<OpenList> {
    const { db, clock } = this.#deps;
    const { list, runs } = await this.#resting(whose);
    const view = await this.#views.view(
      opened({ ...list, choice, version: list.version + 1 }, byName(runs)),
    );
    const expiresAtMs = runs.length > 0 ? list.expiresAtMs : clock.nowMs() + SESSION_LIFE_MS;
    const change = { choice, rows: view.rows.length, expiresAtMs };
    if (!(await changeList(db, list, change))) throw notNow(CHANGED);
    return await this.find(whose);
  }

  async #resting(whose: Whose): Promise<OpenList> {
    const open = await this.find(whose);
    if (open.running !== undefined) throw notNow(RUNNING);
    return open;
  }

  /** Charges and begins a check of what has no result. Its session is noted before it is charged, so that none is lost. */
  async check(
    whose: Whose,
    entrance: Entrance,
    { first = Infinity, again }: CheckOrder,
  ): Promise<OpenList> {
    const { db, clock, ids, bulk } = this.#deps;
    const { list, runs } = await this.#resting(whose);
    const view = await this.#views.view(opened(list, byName(runs)));
    const entries = (again ? view.unsure : view.open).slice(0, Math.max(0, first));
    if (entries.length === 0) throw notNow("Nothing of this list is left to check.");
    const last = list.runs.at(-1);
    const isFree = last !== undefined && runs.every((run) => run.session !== last);
    const session = isFree ? last : ids.hex32();
    const nowMs = clock.nowMs();
    // Looked at before the sessions that it keeps are over.
    const expiresAtMs = nowMs + SESSION_LIFE_MS;
    const change = { expiresAtMs, ...(!isFree && { runs: [...list.runs, session] }) };
    if (!(await changeList(db, list, change))) throw notNow(CHANGED);
    await keepSessionsUntil(db, list.runs, nowMs + 2 * SESSION_LIFE_MS);
    const uniqueMax = bulk.entriesMax(entrance.caller) ?? Infinity;
    const split = await inSlices(splitPieces(entries, uniqueMax));
    const retry = { key: `list ${session}`, bodyHash: session };
    try {
      await bulk.submit(entrance, { split, session, retry });
    } catch (error) {
      const isTwin = error instanceof Refusal && error.code === "retry_in_flight";
      throw isTwin ? notNow(RUNNING) : error;
    }
    return await this.find(whose);
  }

  async stop(whose: Whose): Promise<OpenList> {
    const { running } = await this.find(whose);
    if (running !== undefined) {
      await this.#deps.jobs.stop(running.session, this.#deps.clock.nowMs());
    }
    return await this.find(whose);
  }

  async fix(whose: Whose, order: FixOrder): Promise<OpenList> {
    const { list, runs } = await this.#resting(whose);
    const view = await this.#views.view(opened(list, byName(runs)));
    const fixes = new Set(list.fixes);
    for (const key of fixedBy(order, view)) {
      if (order.undo) fixes.delete(key);
      else fixes.add(key);
    }
    if (!(await changeList(this.#deps.db, list, { fixes }))) throw notNow(CHANGED);
    return await this.find(whose);
  }

  /** Ends what runs and deletes everything; entries that were not begun are given back. */
  async remove(whose: Whose): Promise<void> {
    const { db, jobs, clock, rouse } = this.#deps;
    const { list } = await this.find(whose);
    for (const session of list.runs) await jobs.remove(session, clock.nowMs());
    await forgetList(db, list.id);
    this.#views.forget(list.id);
    rouse();
  }

  close(): void {
    this.#views.close();
  }

  /** The file with our columns behind its own, rows of these classes, in pieces. */
  async csv(open: OpenList, classes: ReadonlySet<RowClass>): Promise<AsyncIterable<string>> {
    const view = await this.#views.view(open);
    const texts = await this.#views.texts(open);
    return cleanedCsv(partsOf(open, this.#deps), { view, texts, classes });
  }
}

const byName = (runs: readonly Session[]): ReadonlyMap<string, Session> =>
  new Map(runs.map((run) => [run.session, run]));

function opened(list: AccountList, known: ReadonlyMap<string, Session>): OpenList {
  const runs = list.runs.flatMap((session) => known.get(session) ?? []);
  const running = runs.find(({ isRunning }) => isRunning);
  return running === undefined ? { list, runs, endMs: endOf(list, runs) } : { list, runs, running };
}

function fixedBy({ of, undo }: FixOrder, { rows }: ListView): readonly string[] {
  if ("entry" in of) return [keyOf(of.entry)];
  return rows.flatMap(({ class: name, wasClass, was, entry, meant }) => {
    if (undo) return wasClass === of.class && was !== undefined ? [keyOf(was)] : [];
    return name === of.class && meant !== "" ? [keyOf(entry)] : [];
  });
}

function partsOf(
  { list, runs }: OpenList,
  { db, sessions }: Pick<ListsDeps, "db" | "sessions">,
  file?: readonly Uint8Array[],
): ListParts {
  return {
    options: { name: list.name, ...list.choice },
    slices: () => (file === undefined ? fileOf(db, list) : slicesOf(file)),
    fixes: list.fixes,
    sessions: runs.filter(({ state }) => state !== "gone"),
    store: sessions,
  };
}

const SLICE_OCTETS = 65_536;

async function* slicesOf(file: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const chunk of file) {
    for (let at = 0; at < chunk.length; at += SLICE_OCTETS) {
      yield await Promise.resolve(chunk.subarray(at, at + SLICE_OCTETS));
    }
  }
}

interface KeptView {
  readonly version: string;
  readonly view: Promise<ListView>;
  texts?: Promise<ReadonlyMap<string, string>>;
  rows: number;
  callOff: () => void;
}

const IDLE_MS = 120_000;

/** Rows of all views in memory; the newest view stays in any case. */
const ROWS_MAX = 300_000;

/** Views of lists in memory, made anew from what is stored when they are not there. */
class Views {
  readonly #deps: ListsDeps;
  readonly #kept = new Map<string, KeptView>();

  constructor(deps: ListsDeps) {
    this.#deps = deps;
  }

  view(open: OpenList, file?: readonly Uint8Array[]): Promise<ListView> {
    return this.#of(open, file).view;
  }

  texts(open: OpenList): Promise<ReadonlyMap<string, string>> {
    const kept = this.#of(open);
    kept.texts ??= kept.view.then(({ among }) => resultTexts(partsOf(open, this.#deps), among));
    return kept.texts;
  }

  forget(id: string): void {
    this.#kept.get(id)?.callOff();
    this.#kept.delete(id);
  }

  close(): void {
    for (const id of this.#kept.keys()) this.forget(id);
  }

  #of(open: OpenList, file?: readonly Uint8Array[]): KeptView {
    const { id, accountId } = open.list;
    const version = [
      open.list.version,
      ...open.runs.map((run) => `${run.session} ${run.state} ${String(run.processed)}`),
    ].join();
    const known = this.#kept.get(id);
    this.forget(id);
    const kept =
      known?.version === version
        ? known
        : this.#make(accountId, version, partsOf(open, this.#deps, file));
    // Last in the map is used last.
    this.#kept.set(id, kept);
    kept.callOff = this.#deps.clock.after(IDLE_MS, () => this.forget(id));
    return kept;
  }

  #make(accountId: string, version: string, parts: ListParts): KeptView {
    const read = (): Promise<ListView> => readView(parts);
    const view = this.#deps.shares.of("decoding").run(accountKey(accountId), read, VIEW_OCTETS);
    const kept: KeptView = {
      version,
      view: view.catch(refused),
      rows: 0,
      callOff: () => undefined,
    };
    kept.view.then(
      ({ rows }) => {
        kept.rows = rows.length;
        this.#shrink();
      },
      () => {
        for (const [id, other] of this.#kept) if (other === kept) this.forget(id);
      },
    );
    return kept;
  }

  #shrink(): void {
    let rows = [...this.#kept.values()].reduce((sum, kept) => sum + kept.rows, 0);
    for (const [id, kept] of this.#kept) {
      if (rows <= ROWS_MAX || this.#kept.size === 1) return;
      rows -= kept.rows;
      this.forget(id);
    }
  }
}

const VIEW_OCTETS = 1_000_000;

/** For people, who see no parameters. */
function refused(error: unknown): never {
  if (!(error instanceof TableFault)) throw error;
  throw badUpload(error.message.replace("; name it with column", ""));
}
