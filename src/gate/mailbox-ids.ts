import { readEntry } from "../core/address/address.ts";
import { formerAddresses } from "../core/evidence/alias.ts";
import { type AccountHash, mailboxId } from "./traffic-marks.ts";

export interface MailboxRow {
  readonly email: string;
  /** Null where the text is no address. */
  readonly id: string | null;
  /** Ids of the same address by earlier rules, where they differ: what the account may have stored then. */
  readonly former: readonly string[];
}

export type FindMailbox = (accountId: string, email: string) => MailboxRow;

/** Finds ids of people that an account has already: nothing is counted, stored or asked of DNS. */
export const createFindMailbox =
  (hash: AccountHash): FindMailbox =>
  (accountId, email) => {
    const entry = readEntry(email, "address");
    if (entry.kind !== "address") return { email, id: null, former: [] };
    const { address } = entry;
    const former = formerAddresses(address).map((each) => `m_${hash(accountId, each)}`);
    return { email, id: mailboxId(hash, accountId, address), former };
  };
