import { dayOf } from "../core/calendar.ts";
import { isInconclusive } from "../core/validate/result.ts";
import type { Validation } from "../core/validate/validate.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { VerdictCountRow } from "../store/schema.ts";
import {
  type DomainMail,
  type DomainMails,
  VERDICT_COUNTS,
  type VerdictCounts,
} from "./domain-verdicts.ts";
import { WriteBehind } from "../base/write-behind.ts";

export const VERDICT_DAYS = 30;

/** Domains of one day that are counted; those that come later are not. */
export const VERDICT_DOMAINS_MAX = 20_000;

/** Domains whose mail hosts are kept at most; new ones beyond are left out until the daily pruning. */
const MAIL_DOMAINS_MAX = 60_000;

/** The most rows that pruning keeps, of the newest days. */
export const MAIL_DOMAINS_KEPT = 40_000;

interface CountedVerdict {
  readonly domain: string;
  readonly disposable: boolean;
  readonly dns: "yes" | "no" | "unknown";
}

export type Observed = Pick<Validation, "result" | "mail">;

const FLUSH_AFTER_MS = 10_000;

const BATCH = 200;

const SERVERS_MAX = 20;

interface VerdictRecorderDeps {
  readonly counts: Pick<VerdictCounts, "add">;
  readonly mails: Pick<DomainMails, "save">;
  readonly clock: Pick<Clock, "nowMs" | "after">;
  readonly log: Pick<Log, "error">;
}

/**
 * Counts verdicts by domain for back-tests and notes where each domain's mail goes, for those and as evidence
 * before a mail server is accused. Never addresses of people. A kill may lose ten seconds of it.
 */
export class VerdictRecorder {
  readonly #clock: VerdictRecorderDeps["clock"];
  readonly #counts: WriteBehind<VerdictCountRow>;
  readonly #mails: WriteBehind<DomainMail>;

  constructor({ counts, mails, clock, log }: VerdictRecorderDeps) {
    this.#clock = clock;
    const rules = {
      afterMs: FLUSH_AFTER_MS,
      batch: BATCH,
      max: VERDICT_DOMAINS_MAX,
      clock,
      failed: (fault: unknown, lost: number) => log.error("verdicts.flush_failed", fault, { lost }),
    };
    this.#counts = new WriteBehind({
      ...rules,
      merge: (older, newer) => {
        for (const name of VERDICT_COUNTS) older[name] += newer[name];
        return older;
      },
      save: (rows) => counts.add(rows, VERDICT_DOMAINS_MAX),
    });
    this.#mails = new WriteBehind({
      ...rules,
      merge: (older, newer) => ({ ...newer, disposable: older.disposable || newer.disposable }),
      save: (rows) => mails.save(rows, MAIL_DOMAINS_MAX),
    });
  }

  record({ result, mail }: Observed): void {
    if (!result.format) return;
    const { domain, disposable } = result;
    const dns = isInconclusive(result) ? "unknown" : result.dns ? "yes" : "no";
    const day = this.count({ domain, disposable, dns });
    if (mail?.kind !== "hosts" || mail.implicit) return;
    const hosts = mail.hosts.slice(0, SERVERS_MAX);
    const addresses = (mail.addresses ?? []).slice(0, SERVERS_MAX);
    this.#mails.note(domain, { domain, hosts, addresses, disposable, day });
  }

  /** For an answer that was kept: where its mail goes is noted already. Returns the day it counted for. */
  count({ domain, disposable, dns }: CountedVerdict): number {
    const day = dayOf(this.#clock.nowMs());
    this.#counts.note(`${String(day)} ${domain}`, {
      day,
      domain,
      disposable: disposable ? 1 : 0,
      other: disposable ? 0 : 1,
      no_mail: dns === "no" ? 1 : 0,
      no_answer: dns === "unknown" ? 1 : 0,
    });
    return day;
  }

  async flush(): Promise<void> {
    const [counts, mails] = await Promise.allSettled([this.#counts.flush(), this.#mails.flush()]);
    for (const end of [counts, mails]) if (end.status === "rejected") throw end.reason;
  }
}
