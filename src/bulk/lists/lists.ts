import { type Admitted } from "../../accounts/admission/admission.ts";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import { accountKey } from "../../base/owner.ts";
import { badUpload, notFound, notNow, Refusal } from "../../base/refusals.ts";
import type { OctetBox } from "../../base/secrets.ts";
import type { Shares } from "../../base/shares.ts";
import type { Db } from "../../store/schema.ts";
import type { ListHistoryRow } from "../../store/tables/bulk.ts";
import type { SpelledResult } from "../jobs/bulk-shapes.ts";
import type { BulkService } from "../jobs/submit.ts";
import type { Jobs } from "../jobs/jobs.ts";
import {
  type AccountList,
  changeStoredList,
  findList,
  forgetList,
  keepList,
  type ListChoice,
  LISTS_MAX,
  type ListChange,
  historyOf,
  listsOfAccount,
  packFile,
  partOf,
  readingOf,
  runsOf,
} from "./list-store.ts";
import type {
  CleanedPiece,
  FixOrder,
  FoundRows,
  ListFacts,
  ReadsLists,
  RowQuery,
} from "./list-reader.ts";
import type { CleanedOrder, CleanedRows } from "./cleaned-rows.ts";
import type { ListOrder, ListSource } from "./list-view.ts";
import { newestResults, type Session, type SessionStore } from "../jobs/sessions.ts";

export interface OpenList {
  readonly list: AccountList;
  readonly runs: readonly Session[];
  readonly running?: Session;
  /** When it is deleted; absent while a check runs. */
  readonly endMs?: number;
}

export interface ListsDeps {
  readonly db: Db;
  readonly sessions: SessionStore;
  readonly jobs: Pick<Jobs, "remove" | "stop">;
  readonly bulk: Pick<BulkService, "submit" | "entriesMax">;
  readonly shares: Pick<Shares, "of">;
  readonly reader: ReadsLists;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly box: OctetBox;
  readonly lifeMs: number;
  readonly wake: () => void;
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

export interface CheckOrder {
  readonly first?: number;
  readonly again: boolean;
}

const NAME_MAX = 200;

const HISTORY_ROWS = 200;

const CHANGED = "The list was changed in another tab. Look at it again.";
const RUNNING = "The list is being checked. Wait until it is done.";

/** Lists of accounts, from the file to the cleaned file. Methods throw a `Refusal`; another account's list is a 404. */
export class AccountLists {
  readonly #deps: ListsDeps;

  constructor(deps: ListsDeps) {
    this.#deps = deps;
  }

  async add({ accountId, name, file }: NewList): Promise<OpenList> {
    const { clock, ids, shares, lifeMs, wake } = this.#deps;
    const nowMs = clock.nowMs();
    const list: AccountList = {
      id: ids.hex32(),
      accountId,
      name: name.replaceAll(/\p{Cc}/gu, "").slice(0, NAME_MAX) || "list.txt",
      rows: 0,
      choice: {},
      fixes: new Set(),
      runs: [],
      version: 0,
      createdAtMs: nowMs,
      expiresAtMs: nowMs + lifeMs,
    };
    const parts = await packFile(file);
    const order = orderOf(opened(list, []));
    const source = {
      ...this.#source(list),
      part: (number: number) => Promise.resolve(parts[number]),
    };
    const { reader } = this.#deps;
    const { rows, open } = await reader.facts(order, source);
    if (open === 0) {
      const query: RowQuery = { class: "unread", why: "", text: "", from: 0, count: 1 };
      const [unread] = (await reader.rows({ ...order, query }, source)).rows;
      throw badUpload(`The file has no entries. ${unread?.why ?? ""}`.trim());
    }
    const kept = await shares
      .of("writes")
      .run(accountKey(accountId), () => keepList(this.#deps, { ...list, rows }, parts));
    if (kept === "too_many") {
      throw notNow(`You have ${String(LISTS_MAX)} lists here. Delete one first.`);
    }
    if (kept === "full") {
      throw notNow("There is no room for a list of this size. Delete a list, or ask the operator.");
    }
    wake();
    return await this.find({ accountId, id: list.id });
  }

  get lifeMs(): number {
    return this.#deps.lifeMs;
  }

  async all(accountId: string): Promise<readonly OpenList[]> {
    return await this.#opened(await listsOfAccount(this.#deps, accountId));
  }

  history(accountId: string): Promise<readonly ListHistoryRow[]> {
    return historyOf(this.#deps.db, accountId, HISTORY_ROWS);
  }

  async find({ accountId, id }: Whose): Promise<OpenList> {
    const list = await findList(this.#deps, accountId, id);
    const [open] = await this.#opened(list === undefined ? [] : [list]);
    if (open === undefined) throw notFound();
    return open;
  }

  async #opened(lists: readonly AccountList[]): Promise<readonly OpenList[]> {
    const runs = await runsOf(this.#deps.db, lists);
    const nowMs = this.#deps.clock.nowMs();
    return lists
      .map((list) => opened(list, runs(list)))
      .filter(({ endMs = Infinity }) => endMs > nowMs);
  }

  facts(open: OpenList): Promise<ListFacts> {
    return this.#deps.reader.facts(orderOf(open), this.#source(open.list));
  }

  rows(open: OpenList, query: RowQuery): Promise<FoundRows> {
    return this.#deps.reader.rows({ ...orderOf(open), query }, this.#source(open.list));
  }

  #source(list: AccountList): ListSource {
    const { sessions } = this.#deps;
    return {
      part: (number) => partOf(this.#deps, list, number),
      results: (session, chunk) => sessions.packed(session, chunk),
      fixes: () => Promise.resolve(list.fixes),
    };
  }

  /** Lists and batches that came before this one and are not begun; undefined once it is. */
  async ahead({ session, state }: Session): Promise<number | undefined> {
    if (state !== "pending") return undefined;
    const { ahead } = await this.#deps.db
      .selectFrom("jobs")
      .innerJoin("jobs as own", (join) => join.on("own.session", "=", session))
      .select(({ fn }) => fn.countAll().as("ahead"))
      .where("jobs.state", "=", "pending")
      .whereRef("jobs.accepted_at_ms", "<", "own.accepted_at_ms")
      .executeTakeFirstOrThrow();
    return Number(ahead);
  }

  newest(run: Session): Promise<readonly SpelledResult[]> {
    return newestResults(this.#deps.sessions, run);
  }

  async choose(whose: Whose, choice: ListChoice): Promise<OpenList> {
    const open = await this.#resting(whose);
    const { list } = open;
    const chosen = { ...open, list: { ...list, choice, version: list.version + 1 } };
    const { rows } = await this.facts(chosen);
    return await this.#change(list, { choice, rows });
  }

  async #resting(whose: Whose): Promise<OpenList> {
    const open = await this.find(whose);
    if (open.running !== undefined) throw notNow(RUNNING);
    return open;
  }

  async #change(list: AccountList, change: ListChange): Promise<OpenList> {
    if (!(await changeStoredList(this.#deps, list, change))) throw notNow(CHANGED);
    return await this.find(list);
  }

  /** Charges and begins a check of what has no result. Its session is noted before it is charged, so that none is lost. */
  async check(
    whose: Whose,
    admitted: Admitted,
    { first = Infinity, again }: CheckOrder,
  ): Promise<OpenList> {
    const { clock, ids, bulk, reader, lifeMs } = this.#deps;
    const open = await this.#resting(whose);
    const { list, runs } = open;
    const uniqueMax = bulk.entriesMax(admitted.caller) ?? Infinity;
    const order = { ...orderOf(open), first, again, uniqueMax };
    const split = await reader.entries(order, this.#source(list));
    if (split === undefined) throw notNow("Nothing of this list is left to check.");
    const last = list.runs.at(-1);
    const isFree = last !== undefined && runs.every((run) => run.session !== last);
    const session = isFree ? last : ids.hex32();
    const expiresAtMs = clock.nowMs() + lifeMs;
    await this.#change(list, { expiresAtMs, ...(!isFree && { runs: [...list.runs, session] }) });
    const retry = { key: `list ${session}`, bodyHash: session };
    try {
      await bulk.submit(admitted, { split, session, retry });
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
    const open = await this.#resting(whose);
    const fixes = new Set(open.list.fixes);
    const asked = { ...orderOf(open), fix: order };
    for (const key of await this.#deps.reader.fixed(asked, this.#source(open.list))) {
      if (order.undo) fixes.delete(key);
      else fixes.add(key);
    }
    return await this.#change(open.list, { fixes });
  }

  async remove(whose: Whose): Promise<void> {
    const { db, jobs, clock, wake } = this.#deps;
    const { list } = await this.find(whose);
    for (const session of list.runs) await jobs.remove(session, clock.nowMs());
    await forgetList(db, list.id);
    wake();
  }

  file(open: OpenList, wanted: Omit<CleanedOrder, "form">): AsyncGenerator<CleanedRows> {
    return this.#pieces(open, { ...wanted, form: "rows" }) as AsyncGenerator<CleanedRows>;
  }

  /** The workbook that came, cleaned. */
  workbook(open: OpenList, wanted: Omit<CleanedOrder, "form">): AsyncGenerator<Uint8Array> {
    return this.#pieces(open, { ...wanted, form: "workbook" }) as AsyncGenerator<Uint8Array>;
  }

  async *#pieces(open: OpenList, wanted: CleanedOrder): AsyncGenerator<CleanedPiece> {
    const { reader, ids } = this.#deps;
    const order = { ...orderOf(open), ...wanted, stream: ids.hex32() };
    for (let number = 0; ; number += 1) {
      const piece = await reader.piece({ ...order, number }, this.#source(open.list));
      if (piece === undefined) return;
      yield piece;
    }
  }
}

function opened(list: AccountList, runs: readonly Session[]): OpenList {
  const running = runs.find(({ isRunning }) => isRunning);
  return running === undefined ? { list, runs, endMs: list.expiresAtMs } : { list, runs, running };
}

/** Reading a row is about as much work as reading so many octets. */
const ROW_OCTETS = 20;

function orderOf({ list, runs }: OpenList): ListOrder {
  const { id, accountId, choice, rows, version } = list;
  const { keep } = choice;
  const states = runs.map((run) => `${run.session} ${run.state} ${String(run.processed)}`);
  return {
    owner: accountKey(accountId),
    list: id,
    version: [version, ...states].join(),
    options: readingOf(list),
    ...(keep !== undefined && { keep }),
    octets: ROW_OCTETS * rows,
    sessions: runs
      .filter(({ state }) => state !== "gone")
      .map(({ session, chunks }) => ({ session, chunks })),
  };
}
