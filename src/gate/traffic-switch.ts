import type { Accounts } from "../accounts/account.ts";
import type { Clock } from "../base/clock.ts";
import type { Notices } from "../store/notices.ts";
import type { OwnSpellings } from "./own-spellings-types.ts";

/**
 * Whether the spellings of mailboxes in an account's own traffic are counted; active within 5 s. Off deletes
 * what was counted. False when there is no such account.
 */
export type SwitchTraffic = (accountId: string, state: "on" | "off") => Promise<boolean>;

export interface TrafficSwitchDeps {
  readonly accounts: Pick<Accounts, "change">;
  readonly spellings: Pick<OwnSpellings, "forget">;
  readonly clock: Pick<Clock, "nowMs">;
  /** Notifies caches of accounts. */
  readonly notices?: Notices;
}

export function createTrafficSwitch({
  accounts,
  spellings,
  clock,
  notices,
}: TrafficSwitchDeps): SwitchTraffic {
  return async (accountId, state) => {
    const change = { countsTraffic: state === "on" };
    const isThere = await accounts.change(accountId, change, clock.nowMs());
    if (isThere) notices?.tell("accounts");
    // After the account says no, for nothing is written of such an account any more.
    if (isThere && state === "off") await spellings.forget(accountId);
    return isThere;
  };
}
