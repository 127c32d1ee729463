import { readEntry } from "../core/address/address.ts";
import { formerAddresses } from "../core/evidence/alias.ts";
import { type AccountHash, mailboxId } from "./traffic-marks.ts";

/**
 * Gives the ids of mailboxes that an account already has. It counts nothing, stores nothing and asks no DNS. An id is null when its
 * text is no address.
 * `former`: ids of the same address by earlier rules, where they differ, which the account may have stored then.
 */
export const createFindMailbox = (hash: AccountHash) => (accountId: string, email: string) => {
  const entry = readEntry(email, "address");
  if (entry.kind !== "address") return { email, id: null, former: [] };
  const { address } = entry;
  const former = formerAddresses(address).map((each) => `m_${hash(accountId, each)}`);
  return { email, id: mailboxId(hash, accountId, address), former };
};

export type FindMailbox = ReturnType<typeof createFindMailbox>;
