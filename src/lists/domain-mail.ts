/** Where the mail of a domain that was checked went. Never an address of a person, never who asked. */
export interface DomainMail {
  /** Lower-case A-labels. */
  readonly domain: string;
  /** Mail hosts in order of preference; at least one. */
  readonly hosts: readonly string[];
  /** IP addresses of the hosts that resolve. */
  readonly addresses: readonly string[];
  /** What the verdict was. */
  readonly disposable: boolean;
  /** The day it was seen last, in days since the Unix epoch, UTC. */
  readonly day: number;
}

/** The mail hosts of checked domains, the last seen of each. Rules are checked by `test/contracts/evidence/domain-mail.ts`. */
export interface DomainMails {
  /** Replaces, all or nothing; no domain twice. New domains beyond `domainsMax` are left out. */
  save(mails: readonly DomainMail[], domainsMax: number): Promise<void>;
  /** In the order of domains after `afterDomain`; at most `limit`. */
  page(afterDomain: string, limit: number): Promise<readonly DomainMail[]>;
  /** Deletes what was seen before `fromDay`, then the oldest days as long as more than `keep` are left; how many. */
  prune(fromDay: number, keep: number): Promise<number>;
}
