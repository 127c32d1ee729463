import { isoTime, isoTimeOrNull } from "../../core/calendar.ts";
import type { FeedStatus } from "../../ports/evidence/feed-refresh.ts";
import type { Rule } from "../../ports/evidence/rules.ts";
import type { Report } from "../../ports/evidence/reports.ts";
import type { BackTest } from "./back-test.ts";

/** Records about lists as the commands and the dashboard show them: snake_case, ISO 8601, null for what is absent. */
type Json = Readonly<Record<string, unknown>>;

export const statusJson = (status: FeedStatus): Json => ({
  id: status.id,
  curated: status.curated,
  names: status.names,
  from: status.from,
  fetched_at: isoTimeOrNull(status.fetchedAtMs),
  asked_at: isoTimeOrNull(status.askedAtMs),
  refused: status.refusal?.why ?? null,
  detail: status.refusal?.detail ?? null,
});

export const entryJson = (entry: Rule): Json => ({
  entry: entry.subject,
  kind: entry.word,
  note: entry.note,
  author: entry.author,
  created_at: isoTime(entry.createdAtMs),
  expires_at: isoTimeOrNull(entry.expiresAtMs),
});

/** Without the account that made it. */
export const reportJson = (report: Report): Json => ({
  id: report.id,
  entry: report.subject,
  domain: report.domain,
  wrong: report.wrong,
  reason: report.reason,
  created_at: isoTime(report.createdAtMs),
});

export const backTestJson = (test: BackTest): Json => ({
  days: test.days,
  domains: test.domains,
  domains_with_mail: test.domainsWithMail,
  checks: test.checks,
  changed_domains: test.changedDomains,
  changed_checks: test.changedChecks,
  changed: test.changed,
  untestable: test.untestable,
  untestable_lines: test.untestableLines,
});
