import { type RawBuilder, sql, type SqlBool } from "kysely";
import { EMAIL_ASKED, type Note, SERVICE } from "../accounts/audit.ts";
import type { AccountService } from "../accounts/accounts.ts";
import type { Clock } from "../base/clock.ts";
import type { Account } from "../accounts/accounts-store.ts";
import type { Log } from "../base/log.ts";
import type { OctetBox } from "../base/secrets.ts";
import { badField } from "../base/refusals.ts";
import type { Jobs } from "../bulk/jobs/jobs.ts";
import { forgetInBatches } from "../bulk/jobs/forget-in-batches.ts";
import { forgetInLists } from "../bulk/lists/forget-in-lists.ts";
import { type Address, addressKey, readEntry, trimEntry } from "../core/address/address.ts";
import { SoughtAddress } from "../core/batch/sought-address.ts";
import type { RuleService } from "../lists/rules/rules.ts";
import { changeRows, countRows, deleteRows } from "../store/rows.ts";
import type { Db } from "../store/schema.ts";
import { type AccountHash, mailboxId, knownMark, trafficMarks } from "./traffic-marks.ts";

export interface ForgetDeps {
  readonly db: Db;
  readonly accounts: Pick<AccountService, "all" | "find">;
  readonly operator: Pick<RuleService, "forget" | "search">;
  readonly jobs: Pick<Jobs, "remove">;
  readonly box: OctetBox;
  readonly hash: AccountHash;
  readonly clock: Pick<Clock, "nowMs">;
}

interface Person {
  readonly address: Address;
  readonly key: string;
  readonly sought: SoughtAddress;
  readonly accounts: readonly Account[];
}

/** Counts what is kept of a person, and deletes it unless it is only looked for. */
type ForgetPlace = (deps: ForgetDeps, person: Person, isLook: boolean) => Promise<number>;

const rowsIn =
  (
    table: "traffic" | "feedback" | "decisions",
    match: (deps: ForgetDeps, account: Account, person: Person) => RawBuilder<SqlBool>,
  ): ForgetPlace =>
  async (deps, person, isLook) => {
    let count = 0;
    for (const account of person.accounts) {
      const rows = sql`from ${sql.table(table)}
        where account_id = ${account.id} and ${match(deps, account, person)}`;
      const query = isLook
        ? await sql<{ count: number }>`select count(*) as count ${rows}`.execute(deps.db)
        : await sql<{ count: number }>`delete ${rows}`.execute(deps.db);
      count += Number(isLook ? query.rows[0]?.count : query.numAffectedRows);
    }
    return count;
  };

const byMailbox = ({ hash }: ForgetDeps, { id }: Account, { address }: Person) =>
  sql<SqlBool>`mailbox = ${mailboxId(hash, id, address)}`;

/** Every place that keeps something of a person. What keeps more gets a line here. */
const PLACES: Readonly<Record<string, ForgetPlace>> = {
  traffic: rowsIn("traffic", ({ hash }, { id, trafficSince }, { address }) => {
    const marks = [false, true].flatMap((isPage) => {
      const own = trafficMarks(hash, { accountId: id, since: trafficSince, isPage }, address);
      return [...own, knownMark(own[0])];
    });
    return sql<SqlBool>`(subject in (${sql.join(marks)}) or item in (${sql.join(marks)}))`;
  }),
  feedback: rowsIn("feedback", byMailbox),
  decisions: rowsIn("decisions", byMailbox),
  async watched({ db }, { address }, isLook) {
    let count = 0;
    for (const table of ["watched", "watch_events"] as const) {
      const of = { domain: address.domain.name };
      if (!isLook) count += await deleteRows(db, table, of);
      else count += await countRows(db.selectFrom(table).where((build) => build.and(of)));
    }
    return count;
  },
  async requests({ db }, { key }, isLook) {
    const asked = { action: EMAIL_ASKED, detail: key };
    if (!isLook) return await changeRows(db, "audit_entries", asked, { detail: "" });
    const rows = db.selectFrom("audit_entries").where((build) => build.and(asked));
    return countRows(rows);
  },
  async rules({ operator }, { key }, isLook) {
    if (isLook) return (await operator.search(key, undefined, 1)).total;
    return (await operator.forget(key))?.count ?? 0;
  },
  lists: (deps, { sought }, isLook) => forgetInLists(deps, sought, isLook),
  batches: (deps, { sought }, isLook) => forgetInBatches(deps, sought, isLook),
};

export const forgetPlaces: readonly string[] = Object.keys(PLACES);

/** What is asked before and answered after is written by then: a batch that is answered at once takes up to 10 s. */
export const UNDER_WAY_MS = 12_000;

const ELSEWHERE = ["back-ups of the database", "what webhooks and answers brought to others"];

/** Deletes what is kept of one person in every account. Throws the `Refusal` of no address. */
export async function forgetPerson(deps: ForgetDeps, text: string, note?: Note) {
  const report = await findPerson(deps, text, false);
  const counts = Object.entries(report.found).map(([name, count]) => `${name} ${String(count)}`);
  // Whose data it was is not written down.
  await note?.({ action: "person.forgotten", accountId: SERVICE, detail: counts.join(", ") });
  return report;
}

export interface ForgetAgainDeps extends ForgetDeps {
  readonly clock: Pick<Clock, "nowMs" | "after">;
  readonly log: Pick<Log, "error">;
}

/** Deletes once more, later: what was under way has written by then. */
export function forgetAgain(deps: ForgetAgainDeps, text: string): void {
  const failed = (fault: unknown): void => deps.log.error("forget.again_failed", fault);
  deps.clock.after(UNDER_WAY_MS, () => void findPerson(deps, text, false).catch(failed));
}

/** What is kept of one person; deletes it unless it is only looked for. */
export async function findPerson(deps: ForgetDeps, text: string, isLook: boolean) {
  const entry = readEntry(trimEntry(text), "address");
  if (entry.kind !== "address") throw badField("That is not a valid email address.");
  const { address } = entry;
  const accounts: Account[] = [];
  for await (const page of deps.accounts.all()) accounts.push(...page);
  const sought = new SoughtAddress(address);
  const person = { address, key: addressKey(address), sought, accounts };
  const found: Record<string, number> = {};
  for (const [name, place] of Object.entries(PLACES))
    found[name] = await place(deps, person, isLook);
  const own = await deps.accounts.find(person.key);
  return { found, account_id: own?.id ?? null, elsewhere: ELSEWHERE };
}

export type ForgetReport = Awaited<ReturnType<typeof findPerson>>;
