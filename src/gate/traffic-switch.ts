import type { Accounts } from "../accounts/accounts-store.ts";
import type { Clock } from "../base/clock.ts";
import type { Notices } from "../store/notices.ts";
import type { SqlTraffic } from "./traffic-store.ts";

/** Whether an account's own traffic is counted; active within 5 s. Off deletes the counts. False: no such account. */
export type SwitchTraffic = (accountId: string, state: "on" | "off") => Promise<boolean>;

export interface TrafficSwitchDeps {
  readonly accounts: Pick<Accounts, "find" | "change">;
  readonly traffic: Pick<SqlTraffic, "forget">;
  readonly clock: Pick<Clock, "nowMs">;
  /** Notifies caches of accounts. */
  readonly notices?: Notices;
}

export function createTrafficSwitch({
  accounts,
  traffic,
  clock,
  notices,
}: TrafficSwitchDeps): SwitchTraffic {
  return async (accountId, state) => {
    const account = await accounts.find(accountId);
    const { trafficSince: before = 0 } = account ?? {};
    const isOn = before > 0;
    if (isOn === (state === "on")) return account !== undefined;
    const nowMs = clock.nowMs();
    const trafficSince = isOn ? -before : Math.max(nowMs, 1 - before);
    const isThere = await accounts.change(accountId, { trafficSince }, nowMs);
    if (isThere) notices?.tell("accounts");
    // Afterwards, because nothing is written of such an account any more.
    if (isThere && state === "off") await traffic.forget(accountId);
    return isThere;
  };
}
