import { dayOf } from "../../core/calendar.ts";
import type { MailHosts } from "../../core/mail/mail-hosts.ts";
import type { Validation } from "../../core/validate/validate.ts";
import type { Clock } from "../../ports/process/clock.ts";
import type { DomainMail, DomainMails } from "../../ports/evidence/domain-mail.ts";
import type { Log } from "../../ports/process/log.ts";
import type { VerdictCount, VerdictCounts } from "../../ports/evidence/verdict-counts.ts";

/** How many UTC days of counts are kept, today included. */
export const VERDICT_DAYS = 30;

/** Domains of one day that are counted; those that come later are not. */
export const VERDICT_DOMAINS_MAX = 20_000;

/** Domains whose mail hosts are kept at most; new ones beyond are left out until the daily pruning. */
const MAIL_DOMAINS_MAX = 60_000;

/** So many of them the pruning leaves, the newest days. */
export const MAIL_DOMAINS_KEPT = 40_000;

/** What is recorded of a verdict. */
export type Observed = Pick<Validation, "result" | "mail">;

/**
 * Counts verdicts by domain for back-tests and notes where each domain's mail goes, for those and as evidence
 * before a mail server is accused. Never addresses of people. A kill may lose ten seconds of it.
 */
export interface VerdictRecorder {
  /** Malformed entries have no domain and are not counted. */
  record(validation: Observed): void;
  /** Writes what waits and waits for what is being written, a batch at a time; rejects when the store does, and then what was not written is lost. */
  flush(): Promise<void>;
}

const FLUSH_AFTER_MS = 10_000;

/** Rows of one transaction: short enough to hold up nobody. */
const BATCH = 200;

/** Hosts and addresses of one domain that are noted. */
const SERVERS_MAX = 20;

export interface VerdictRecorderDeps {
  readonly counts: Pick<VerdictCounts, "add">;
  readonly mails: Pick<DomainMails, "save">;
  readonly clock: Pick<Clock, "nowMs" | "after">;
  readonly log: Pick<Log, "error">;
}

export function createVerdictRecorder(deps: VerdictRecorderDeps): VerdictRecorder {
  return new Recorder(deps);
}

interface Tally {
  disposable: number;
  other: number;
  mail: MailHosts | undefined;
}

class Recorder implements VerdictRecorder {
  readonly #deps: VerdictRecorderDeps;
  #tallies = new Map<string, Tally>();
  #isArmed = false;
  /** One flush after the other: who waits for the last one has waited for the one that a timer began. */
  #writing: Promise<void> = Promise.resolve();
  /** What was noted today already: a busy domain is written once a day and when its verdict changes. */
  readonly #noted = new Map<string, boolean>();
  #notedDay = 0;

  constructor(deps: VerdictRecorderDeps) {
    this.#deps = deps;
  }

  record({ result, mail }: Observed): void {
    if (!result.format) return;
    let tally = this.#tallies.get(result.domain);
    if (tally === undefined) {
      if (this.#tallies.size >= VERDICT_DOMAINS_MAX) return;
      tally = { disposable: 0, other: 0, mail };
      this.#tallies.set(result.domain, tally);
    }
    if (result.disposable) tally.disposable += 1;
    else tally.other += 1;
    tally.mail = mail;
    this.#arm();
  }

  flush(): Promise<void> {
    const before = this.#writing;
    const writing = before.then(() => this.#write());
    this.#writing = writing.catch(() => undefined);
    return writing;
  }

  async #write(): Promise<void> {
    const { counts, mails, clock } = this.#deps;
    const waiting = this.#tallies;
    this.#tallies = new Map();
    const day = dayOf(clock.nowMs());
    const rows = [...waiting].map(([domain, { disposable, other }]): VerdictCount => ({
      day,
      domain,
      disposable,
      other,
    }));
    for (let from = 0; from < rows.length; from += BATCH) {
      await counts.add(rows.slice(from, from + BATCH), VERDICT_DOMAINS_MAX);
    }
    const news = this.#newMail(waiting, day);
    for (let from = 0; from < news.length; from += BATCH) {
      await mails.save(news.slice(from, from + BATCH), MAIL_DOMAINS_MAX);
    }
  }

  #newMail(tallies: ReadonlyMap<string, Tally>, day: number): readonly DomainMail[] {
    if (this.#notedDay !== day) this.#noted.clear();
    this.#notedDay = day;
    return [...tallies].flatMap(([domain, { mail, ...sums }]) => {
      const disposable = sums.disposable > 0;
      if (mail?.kind !== "hosts" || mail.implicit) return [];
      if (this.#noted.get(domain) === disposable) return [];
      if (this.#noted.size < VERDICT_DOMAINS_MAX) this.#noted.set(domain, disposable);
      const hosts = mail.hosts.slice(0, SERVERS_MAX);
      const addresses = (mail.addresses ?? []).slice(0, SERVERS_MAX);
      return [{ domain, hosts, addresses, disposable, day }];
    });
  }

  #arm(): void {
    if (this.#isArmed) return;
    this.#isArmed = true;
    const { clock, log } = this.#deps;
    clock.after(FLUSH_AFTER_MS, () => {
      this.#isArmed = false;
      this.flush().catch((fault: unknown) => log.error("verdicts.flush_failed", fault));
    });
  }
}
