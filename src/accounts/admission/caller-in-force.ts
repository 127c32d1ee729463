import type { Accounts } from "../account.ts";
import type { Keys } from "./keys.ts";
import type { Caller } from "./caller.ts";

export interface CallerInForceDeps {
  readonly keys: Pick<Keys, "list">;
  readonly accounts: Pick<Accounts, "find">;
}

/** Whether an earlier caller would still be admitted: the key is active, the account not disabled. */
export type CallerInForce = (caller: Caller) => Promise<boolean>;

export function callerInForce({ keys, accounts }: CallerInForceDeps): CallerInForce {
  return async ({ owner, keyId }) => {
    if (owner.kind !== "account") return true;
    const [account, all] = await Promise.all([
      accounts.find(owner.accountId),
      keys.list(owner.accountId),
    ]);
    const isHeld = all.some(({ id, revokedAtMs }) => id === keyId && revokedAtMs === undefined);
    return isHeld && account?.isDisabled === false;
  };
}
