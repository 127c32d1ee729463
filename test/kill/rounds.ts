import { sql as raw } from "kysely";
import type { SqlDatabase } from "../../src/store/database.ts";
import { Chance } from "../sim/chance.ts";
import { until } from "../time/until.ts";
import { BulkClient } from "./bulk-client.ts";
import { Charged, checkLedgers } from "./charged.ts";
import { type Account, Front, openAccount } from "./front.ts";
import type { Ground } from "./ground.ts";
import { ListClient } from "./list-client.ts";
import type { Place } from "./places.ts";
import { Written } from "./written.ts";

/** Units are in the ledger 250 ms after the answer; on a busy machine a write takes as long as an answer, or several. */
const WRITTEN_MS = 1_000;
const ANSWERS = 3;

/** Everybody who uses the service, and what they were promised. */
export class People {
  readonly front: Front;
  readonly accounts: readonly Account[];
  readonly bulk: readonly BulkClient[];
  readonly charged: Charged;
  readonly written: Written;
  readonly lists: ListClient;
  /** Processes that died. */
  kills = 0;
  /** Units of single checks that were answered from then on may be lost. */
  #lossFromMs = Infinity;

  private constructor(front: Front, accounts: readonly Account[]) {
    const [ada, bob, eve, root] = accounts as [Account, Account, Account, Account];
    this.front = front;
    this.accounts = accounts;
    this.charged = new Charged(front);
    this.written = new Written(front, root);
    this.lists = new ListClient(front, root, () => this.written.cookie);
    this.bulk = [
      new BulkClient(front, ada, 0),
      new BulkClient(front, bob, 0.3),
      new BulkClient(front, eve, 0.7),
    ];
  }

  static async open(ground: Ground, seed: number): Promise<People> {
    const accounts: Account[] = [];
    await ground.look(async (sql) => {
      for (const name of ["ada", "bob", "eve", "root"] as const) {
        accounts.push(await openAccount(sql, name, name === "bob" ? "starter" : "pro"));
      }
    });
    return new People(new Front(ground, new Chance(seed)), accounts);
  }

  /** What each client does at a time. */
  acts(): readonly (() => Promise<unknown>)[] {
    const { bulk, charged, written, lists } = this;
    const [ada, bob, , root] = this.accounts as [Account, Account, Account, Account];
    return [
      () => charged.check(ada),
      () => charged.check(bob),
      () => charged.decide(root, written.version),
      () => written.act(),
      () => lists.act(),
      ...bulk.map((client) => () => client.act()),
    ];
  }

  /** Processes ended, and what they had not written yet is lost: on a disk that failed everything that may wait. */
  died(count: number, hasDisk: boolean): void {
    this.kills += count;
    if (count === 0) return;
    const { endedAtMs, slowestMs } = this.front;
    this.#lossFromMs = hasDisk ? endedAtMs - WRITTEN_MS - ANSWERS * slowestMs : 0;
  }

  /** Compares what is stored with what was promised. Nobody asks meanwhile. */
  async check(): Promise<void> {
    await this.front.ground.look((sql) => this.#compare(sql));
  }

  async #compare(sql: SqlDatabase): Promise<void> {
    const { front, charged, written, accounts } = this;
    for (const account of accounts) await charged.checkUnits(sql, account, this.#lossFromMs);
    this.#lossFromMs = Infinity;
    if (front.ground.kind === "sqlite") front.wrong.push(...(await faultsIn(sql)));
    front.wrong.push(...(await checkLedgers(sql)));
    await this.#checkRows(sql);
    await written.check(sql);
    const { told, forged } = front.ground.receiver;
    for (const [session, times] of told) {
      if (times > 1) front.wrong.push(`${session} was announced ${String(times)} times`);
    }
    if (forged() > 0) front.wrong.push("a webhook is not signed");
  }

  /** Each batch that ended has its delivery, once, whoever died meanwhile. */
  async #checkRows({ db }: SqlDatabase): Promise<void> {
    let wrong: readonly string[] = [];
    const areThere = async (): Promise<boolean> => {
      const rows = await db.selectFrom("webhook_deliveries").select("session").execute();
      const counts = new Map<string, number>();
      for (const { session } of rows) {
        counts.set(session ?? "", (counts.get(session ?? "") ?? 0) + 1);
      }
      const lists = await db.selectFrom("account_lists").select(["id", "runs"]).execute();
      const runs = lists.filter(({ id }) => this.lists.ended.includes(id));
      const ended = [
        ...this.bulk.flatMap((client) => client.ended),
        ...runs.flatMap((list) => list.runs.split(" ")),
      ];
      wrong = ended.flatMap((session) => {
        const count = counts.get(session) ?? 0;
        return count === 1 ? [] : [`${session} has ${String(count)} deliveries`];
      });
      return wrong.length === 0;
    };
    await until(areThere, { withinMs: 20_000, everyMs: 100 }).catch(() => undefined);
    this.front.wrong.push(...wrong);
  }

  /** Without faults: everything begun ends, and new batches are announced once. */
  async rest(): Promise<void> {
    const { front, bulk, lists } = this;
    const { told } = front.ground.receiver;
    const finish = async (client: BulkClient | ListClient): Promise<void> => {
      const step = async (): Promise<boolean> => {
        await client.finish();
        return client.isIdle;
      };
      await until(step, { withinMs: 120_000, everyMs: 50 }).catch(async () => {
        const what = `a batch or list of ${client.account.name} does not end: ${client.last}`;
        throw new Error(`${what}\n${await front.ground.look(whatWaits)}`);
      });
    };
    await Promise.all([...bulk, lists].map(finish));
    const before = bulk.map(({ ended }) => ended.length);
    await Promise.all([...bulk, lists].map((client) => client.act()));
    await Promise.all([...bulk, lists].map(finish));
    const sessions = bulk.flatMap(({ ended }, index) => ended.slice(before[index]));
    await until(() => sessions.every((session) => told.get(session) === 1), {
      what: "the webhook of a batch without faults",
    });
    await this.check();
  }

  summary(): string {
    const ended = this.bulk.flatMap((client) => client.ended).length;
    const fell = this.front.ground.places.reduce((sum, place) => sum + place.fell, 0);
    return (
      `${String(this.kills)} kills, ${String(fell)} at a statement, ${String(this.front.answered)} answers, ${String(ended)} batches, ${String(this.lists.ended.length)} lists, ` +
      `${String(this.untold())} of them not announced`
    );
  }

  /** Batches that ended and were not announced. */
  untold(): number {
    const { told } = this.front.ground.receiver;
    return this.bulk.flatMap(({ ended }) => ended).filter((session) => !told.has(session)).length;
  }
}

/** Starts what does not run; its strikes were chosen before. */
export const revive = (places: readonly Place[], under?: readonly string[]): Promise<unknown> =>
  Promise.all(places.map((place) => place.start(under)));

/**
 * The clients at work until the strikes of all places, and what happens beside them, are over; returns how many processes
 * ended.
 */
export async function oneRound(
  people: People,
  beside: () => Promise<unknown> = () => Promise.resolve(),
): Promise<number> {
  const { front } = people;
  const { places } = front.ground;
  front.isOver = false;
  front.endedAtMs = Infinity;
  front.slowestMs = 0;
  const living = front.live(people.acts());
  const strike = async (place: Place): Promise<void> => {
    await place.struck();
    if (place.running === undefined) front.endedAtMs = Math.min(front.endedAtMs, front.nowMs());
  };
  await Promise.all([...places.map(strike), beside()]);
  front.isOver = true;
  await living;
  return places.filter(({ running }) => running === undefined).length;
}

/** The rows of what runs, and of who works, for a person who looks for why it does not end. */
async function whatWaits({ db }: SqlDatabase): Promise<string> {
  const jobs = await db.selectFrom("jobs").selectAll().where("is_running", "=", 1).execute();
  const chunks = await db
    .selectFrom("chunks")
    .select(["session", "number", "available_at_ms", "lease_worker", "lease_token", "claims"])
    .where("available_at_ms", "is not", null)
    .execute();
  const workers = await db.selectFrom("bulk_workers").selectAll().execute();
  return JSON.stringify({ nowMs: Date.now(), jobs, chunks, workers });
}

/** What SQLite finds wrong with its file. */
async function faultsIn({ db }: SqlDatabase): Promise<readonly string[]> {
  const { rows } = await raw<{ integrity_check: string }>`pragma integrity_check`.execute(db);
  return rows.map((row) => row.integrity_check).filter((text) => text !== "ok");
}
