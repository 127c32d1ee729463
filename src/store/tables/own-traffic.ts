/** What is kept of the traffic itself: spellings by account, mail hosts by domain. */
export interface OwnTrafficTables {
  own_spellings: OwnSpellingRow;
  domain_mail: DomainMailRow;
}

/** Without a reference to its account, which may be erased while a batch of many accounts is written. */
export interface OwnSpellingRow {
  account_id: string;
  mailbox: string;
  spelling: string;
  day: number;
}

export interface DomainMailRow {
  domain: string;
  /** Separated by blanks, as no name and no address holds one. */
  hosts: string;
  addresses: string;
  /** 0 or 1. */
  disposable: number;
  day: number;
}
