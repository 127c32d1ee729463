/** What is kept of the traffic itself: of accounts by keyed hashes, mail hosts by domain. */
export interface OwnTrafficTables {
  traffic: TrafficTableRow;
  domain_mail: DomainMailRow;
}

/** Without a reference to its account, which may be erased while a batch of many accounts is written. */
export interface TrafficTableRow {
  account_id: string;
  /** The hash of a mailbox, a domain or a mail host; no two accounts share one. */
  subject: string;
  kind: TrafficKind;
  /** The hash of what was seen of it. */
  item: string;
  first_ms: number;
  last_ms: number;
}

/** A spelling of a mailbox, a mailbox or name of a domain, the domain itself, a new domain behind a mail host. */
export type TrafficKind = "spelling" | "mailbox" | "name" | "domain" | "new_domain";

export interface DomainMailRow {
  domain: string;
  /** Separated by blanks, as no name and no address holds one. */
  hosts: string;
  addresses: string;
  /** 0 or 1. */
  disposable: number;
  day: number;
}
