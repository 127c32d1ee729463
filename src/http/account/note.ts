import type { Audit, Change } from "../../service/account/audit.ts";
import type { SignedInRequest } from "./route.ts";

/** Writes down what the account of the request did to itself. */
export function noteOwn(
  { account, visitor: { clientAddress } }: SignedInRequest,
  audit: Audit,
  change: Pick<Change, "action" | "detail">,
): Promise<void> {
  return audit({ ...change, actorId: account.id, accountId: account.id, clientAddress });
}
