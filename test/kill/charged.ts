import { sql as raw } from "kysely";
import type { SqlDatabase } from "../../src/store/database.ts";
import { until } from "../time/until.ts";
import { isValid, NAMES } from "./entries.ts";
import type { Account, Front, Reply } from "./front.ts";

/** Single checks and decisions, and what they cost. */
export class Charged {
  readonly #front: Front;

  constructor(front: Front) {
    this.#front = front;
  }

  async check(account: Account): Promise<void> {
    const entry = `jo@n${String(this.#front.chance.below(NAMES))}.example`;
    const reply = await this.#single(account, "/api/email", { email: entry });
    if (reply.status !== 200) return;
    const { dns } = JSON.parse(reply.body) as { dns: boolean };
    if (dns !== isValid(entry)) this.#front.wrong.push(`${entry} was answered ${reply.body}`);
  }

  /** `version`: the policy's least version. */
  async decide(account: Account, version: number): Promise<void> {
    const body = { email: "jo@n1.example", token: true, deadline_ms: 5_000 };
    const reply = await this.#single(account, "/api/decide", body);
    if (reply.status !== 200) return;
    const { policy, token } = JSON.parse(reply.body) as {
      policy: { version: number };
      token?: string;
    };
    // While the store fails nobody can say whose the key is, and the built-in policy decides, without a token and a charge.
    if (this.#front.storeFails) {
      if (token === undefined) {
        account.certain -= 1;
        account.possible += 1;
      }
      return;
    }
    if (policy.version < version) {
      this.#front.wrong.push(`policy ${String(policy.version)} decides, not ${String(version)}`);
    }
    const claims = Buffer.from(token?.split(".")[1] ?? "", "base64url").toString();
    const { aud } = JSON.parse(claims) as { readonly aud: string };
    if (aud !== account.id) this.#front.wrong.push("a token is for another account");
  }

  async #single(account: Account, path: string, body: unknown): Promise<Reply> {
    const { headers } = account;
    account.possible += 1;
    const reply = await this.#front.ask({ method: "POST", path, headers, body });
    if (reply.status === 200) {
      account.certain += 1;
      account.possible -= 1;
      account.singles.push(this.#front.nowMs());
    } else if (reply.status > 0 && reply.status < 500) {
      this.#front.wrong.push(`a single check got ${String(reply.status)} ${reply.body}`);
    }
    return reply;
  }

  /** Everything answered is charged once, but for single checks on the plan answered after `lossFromMs`. */
  async checkUnits(sql: SqlDatabase, account: Account, lossFromMs: number): Promise<void> {
    const { certain, batches, possible, singles, name } = account;
    const isPaid = name === "bob"; // credits are written before the answer
    const mayLack = isPaid ? 1 : singles.filter((atMs) => atMs >= lossFromMs).length;
    let used = 0;
    let charged = 0;
    /** Of single checks on the plan alone: a batch that got no answer may be charged, and stand for others that are lost. */
    let lost = 0;
    const isWritten = async (): Promise<boolean> => {
      used = await unitsOf(sql, account);
      charged = isPaid ? batches : await chargedTo(sql, account);
      lost = certain - batches - (used - charged);
      return lost <= mayLack && charged >= batches;
    };
    await until(isWritten, { withinMs: 10_000, everyMs: 20 }).catch(() => undefined);
    if (lost > mayLack) this.#front.wrong.push(`${name}: ${String(lost)} units are lost`);
    if (charged < batches) {
      this.#front.wrong.push(`${name}: ${String(batches - charged)} units of batches are lost`);
    }
    if (used > certain + possible) {
      const most = String(certain + possible);
      this.#front.wrong.push(`${name} pays ${String(used)} for at most ${most}`);
    }
    if (lost > 0) account.certain -= lost;
    account.singles = [];
  }
}

/** Units of an account's batches on the plan. */
async function chargedTo({ db }: SqlDatabase, { id }: Account): Promise<number> {
  const charges = await db
    .selectFrom("charges")
    .select(["amount", "refunded"])
    .where("owner", "=", `account:${id}`)
    .execute();
  return charges.reduce((sum, row) => sum + Number(row.amount) - Number(row.refunded), 0);
}

async function unitsOf({ db }: SqlDatabase, { id }: Account): Promise<number> {
  const days = await db
    .selectFrom("usage_days")
    .select(["units", "credits"])
    .where("owner", "=", `account:${id}`)
    .execute();
  return days.reduce((sum, { units, credits }) => sum + Number(units) + Number(credits), 0);
}

/** Balances are the sums of their ledgers, none was negative, and each charge stands there once with its amount. */
export async function checkLedgers({ db }: SqlDatabase): Promise<readonly string[]> {
  const { rows } = await raw<Record<"id" | "balance" | "ledger" | "least", unknown>>`
    select a.id, a.credit_balance as balance,
           (select coalesce(sum(amount), 0) from credit_entries where account_id = a.id) as ledger,
           (select coalesce(min(balance_after), 0) from credit_entries where account_id = a.id) as least
    from accounts a`.execute(db);
  const { rows: odd } = await raw<{ count: unknown }>`
    select count(*) as count from charges c left join
      (select reference, -sum(amount) as paid from credit_entries
       where reason = 'charge' group by reference) e on e.reference = c.id
    where c.paid_by = 'credits' and c.amount <> coalesce(e.paid, 0)`.execute(db);
  const wrong = rows.filter(
    ({ balance, ledger, least }) => Number(balance) !== Number(ledger) || Number(least) < 0,
  );
  return [
    ...wrong.map((row) => `a balance is not its ledger's sum: ${JSON.stringify(row)}`),
    ...(Number(odd[0]?.count) === 0 ? [] : ["a charge by credits is not in the ledger, or twice"]),
  ];
}
