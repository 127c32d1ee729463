import { dayOf } from "../core/calendar.ts";
import type { Validation } from "../core/validate/validate.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { DomainMail, DomainMails } from "./domain-mails.ts";
import { WriteBehind } from "../base/write-behind.ts";

export const MAIL_DAYS = 30;

export const WAITING_DOMAINS_MAX = 20_000;

/** Domains whose mail hosts are kept at most; new ones beyond are left out until the daily pruning. */
const MAIL_DOMAINS_MAX = 60_000;

export const MAIL_DOMAINS_KEPT = 40_000;

export type Observed = Pick<Validation, "result" | "mail">;

const FLUSH_AFTER_MS = 10_000;

const BATCH = 200;

const SERVERS_MAX = 20;

interface MailRecorderDeps {
  readonly mails: Pick<DomainMails, "save">;
  readonly clock: Pick<Clock, "nowMs" | "after">;
  readonly log: Pick<Log, "error">;
}

/** Notes where each domain's mail goes, as evidence before a mail server is accused. A kill may lose ten seconds of it. */
export class MailRecorder {
  readonly #clock: MailRecorderDeps["clock"];
  readonly #mails: WriteBehind<DomainMail>;

  constructor({ mails, clock, log }: MailRecorderDeps) {
    this.#clock = clock;
    this.#mails = new WriteBehind({
      afterMs: FLUSH_AFTER_MS,
      batch: BATCH,
      max: WAITING_DOMAINS_MAX,
      clock,
      failed: (fault: unknown, lost: number) =>
        log.error("domain_mail.flush_failed", fault, { lost }),
      merge: (older, newer) => ({ ...newer, disposable: older.disposable || newer.disposable }),
      save: (rows) => mails.save(rows, MAIL_DOMAINS_MAX),
    });
  }

  record({ result, mail }: Observed): void {
    if (!result.format || mail?.kind !== "hosts" || mail.implicit) return;
    const { domain, disposable } = result;
    const hosts = mail.hosts.slice(0, SERVERS_MAX);
    const addresses = (mail.addresses ?? []).slice(0, SERVERS_MAX);
    const day = dayOf(this.#clock.nowMs());
    this.#mails.note(domain, { domain, hosts, addresses, disposable, day });
  }

  flush(): Promise<void> {
    return this.#mails.flush();
  }
}
