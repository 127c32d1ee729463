import type { Kysely } from "kysely";
import type { AccountChange, Accounts } from "../accounts/accounts-store.ts";
import type { Note } from "../accounts/audit.ts";
import type { Clock } from "../base/clock.ts";
import type { Notices } from "../store/notices.ts";
import { deleteRows } from "../store/rows.ts";
import type { Database } from "../store/schema.ts";

/** Switches something of an account; active within 5 s. Off deletes what was kept. False: no such account. */
export type SwitchAccount = (accountId: string, state: "on" | "off") => Promise<boolean>;

export interface AccountSwitches {
  /** The same, which notes its changes. */
  readonly by: (note: Note) => AccountSwitches;
  readonly switchTraffic: SwitchAccount;
  readonly switchLog: SwitchAccount;
}

export interface AccountSwitchesDeps {
  readonly note?: Note;
  readonly accounts: Pick<Accounts, "find" | "change">;
  readonly db: Kysely<Database>;
  readonly clock: Pick<Clock, "nowMs">;
  readonly notices?: Notices;
}

/** What was kept is deleted afterwards, because nothing is written of such an account any more. */
export function createAccountSwitches(deps: AccountSwitchesDeps): AccountSwitches {
  const { accounts, db, clock, notices, note } = deps;
  const change = async (id: string, what: AccountChange): Promise<boolean> => {
    const isThere = await accounts.change(id, what);
    if (isThere) notices?.tell("accounts");
    return isThere;
  };
  return {
    by: (noted) => createAccountSwitches({ ...deps, note: noted }),
    async switchTraffic(accountId, state) {
      const account = await accounts.find(accountId);
      if (account === undefined) return false;
      const { trafficSince: before } = account;
      const isOn = before > 0;
      if (isOn !== (state === "on")) {
        const traffic_since = isOn ? -before : Math.max(clock.nowMs(), 1 - before);
        if (!(await change(accountId, { traffic_since }))) return false;
        if (isOn) {
          await deleteRows(db, "traffic", { account_id: accountId });
          await deleteRows(db, "waves", { account_id: accountId });
        }
      }
      await note?.({ action: "account.traffic", accountId, detail: state });
      return true;
    },
    async switchLog(accountId, state) {
      const isThere = await change(accountId, { decision_log: state === "on" ? 1 : 0 });
      if (state === "off") await deleteRows(db, "decisions", { account_id: accountId });
      if (isThere) await note?.({ action: "account.log", accountId, detail: state });
      return isThere;
    },
  };
}
