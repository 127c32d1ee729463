import { DEFAULT_NAME } from "../core/policy/default-policy.ts";
import type { Db } from "./schema.ts";
import { findRow } from "./rows.ts";
import { lockName } from "./locks.ts";
import type { Tx } from "./transaction.ts";

export interface PolicyName {
  readonly accountId: string;
  readonly name: string;
}

export const lockPolicies = (tx: Tx, accountId: string): Promise<void> =>
  lockName(tx, `policies ${accountId}`);

/** Whether the account may use a policy of this name: `default` is always there. Call it under `lockPolicies`. */
export async function isLivePolicy(sql: Db, { accountId, name }: PolicyName): Promise<boolean> {
  if (name === DEFAULT_NAME) return true;
  const row = await findRow(sql, "policies", { account_id: accountId, name });
  return typeof row?.live_version === "number";
}
