import type { Audit, Change } from "../../accounts/audit.ts";
import { type Note, noteBy } from "../../gate/audited.ts";
import type { SignedInRequest } from "./route.ts";

/** Writes down what the account of the request changes, here or in another account. */
export const noteOf = (
  { account, visitor: { clientAddress } }: SignedInRequest,
  audit: Audit,
): Note => noteBy(audit, { actorId: account.id, clientAddress });

/** Writes down what the account of the request did to itself. */
export const noteOwn = (
  request: SignedInRequest,
  audit: Audit,
  change: Pick<Change, "action" | "detail">,
): Promise<void> => noteOf(request, audit)({ ...change, accountId: request.account.id });
