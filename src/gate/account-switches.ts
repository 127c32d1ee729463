import type { AccountChange, Accounts } from "../accounts/accounts-store.ts";
import type { Note } from "../accounts/audit.ts";
import type { Clock } from "../base/clock.ts";
import type { Notices } from "../store/notices.ts";
import { deleteRows } from "../store/rows.ts";
import type { Db } from "../store/schema.ts";

export interface AccountSwitchesDeps {
  readonly note?: Note;
  readonly accounts: Pick<Accounts, "find" | "change">;
  readonly db: Db;
  readonly clock: Pick<Clock, "nowMs">;
  readonly notices?: Notices;
}

/** Switches something of an account; active within 5 s. False: no such account. */
type SwitchAccount = (accountId: string, state: "on" | "off") => Promise<boolean>;

/** Off deletes what was kept, and does so last, because nothing is written of such an account any more. */
export class AccountSwitches {
  readonly #deps: AccountSwitchesDeps;

  constructor(deps: AccountSwitchesDeps) {
    this.#deps = deps;
  }

  by(note: Note): AccountSwitches {
    return new AccountSwitches({ ...this.#deps, note });
  }

  readonly switchTraffic: SwitchAccount = async (accountId, state) => {
    const { accounts, db, clock, note } = this.#deps;
    const account = await accounts.find(accountId);
    if (account === undefined) return false;
    const { trafficSince: before } = account;
    const isOn = before > 0;
    if (isOn !== (state === "on")) {
      const traffic_since = isOn ? -before : Math.max(clock.nowMs(), 1 - before);
      if (!(await this.#change(accountId, { traffic_since }))) return false;
      if (isOn) {
        await deleteRows(db, "traffic", { account_id: accountId });
        await deleteRows(db, "waves", { account_id: accountId });
      }
    }
    await note?.({ action: "account.traffic", accountId, detail: state });
    return true;
  };

  readonly switchLog: SwitchAccount = async (accountId, state) => {
    const { db, note } = this.#deps;
    const isThere = await this.#change(accountId, { decision_log: state === "on" ? 1 : 0 });
    if (state === "off") await deleteRows(db, "decisions", { account_id: accountId });
    if (isThere) await note?.({ action: "account.log", accountId, detail: state });
    return isThere;
  };

  async #change(id: string, what: AccountChange): Promise<boolean> {
    const isThere = await this.#deps.accounts.change(id, what);
    if (isThere) this.#deps.notices?.tell("accounts");
    return isThere;
  }
}
