import { isoDate, isoTime, isoTimeOrNull } from "../../../core/calendar.ts";
import { CENSUS_DOMAINS_MIN } from "../../../core/evidence/mail-servers/learn-mail-servers.ts";
import type { ListWord } from "../../../core/evidence/rule.ts";
import { type Described, oneOf, orNull, Type } from "../../../core/json-schema.ts";
import type { Census } from "../../../ports/evidence/census.ts";
import type { FeedStatus } from "../../../ports/evidence/feed-refresh.ts";
import type { Rule } from "../../../ports/evidence/rules.ts";
import type { Report } from "../../../ports/evidence/reports.ts";
import type { BackTest } from "./back-test.ts";
import type { FeedMeasure, FeedShare, MeasuredFile } from "../measure-feeds.ts";

const text = Type.String();
const flag = Type.Boolean();
const count = Type.Integer({ minimum: 0 });
const time = Type.String({ format: "date-time" });

/** Records about feeds, rules and reports as the commands and the dashboard show them. */

export const Source = Type.Object({
  id: text,
  curated: flag,
  names: Type.Integer({ minimum: 0, description: "0: nothing of it is in use." }),
  from: oneOf(["fetch", "package", "nowhere"], "Where the names in use come from."),
  fetched_at: orNull(time),
  asked_at: orNull(time),
  off: Type.Boolean({ description: "The operator switched it off: it gives no evidence." }),
  refused: orNull(text, "Why its last answer was not taken."),
  detail: orNull(text),
});
export type Source = Described<typeof Source>;

export const OwnEntry = Type.Object({
  entry: Type.String({
    description: 'A domain, "*.suffix", "mx:host", or "address:<hash>@domain".',
  }),
  kind: Type.Unsafe<ListWord>({ type: "string", description: "What it says." }),
  note: text,
  author: text,
  created_at: time,
  expires_at: orNull(time),
});
export type OwnEntry = Described<typeof OwnEntry>;

export const ReportShape = Type.Object({
  id: text,
  entry: text,
  domain: text,
  wrong: text,
  reason: text,
  created_at: time,
});
export type ReportShape = Described<typeof ReportShape>;

export const BackTestShape = Type.Object({
  days: count,
  domains: count,
  domains_with_mail: count,
  checks: count,
  changed_domains: count,
  changed_checks: count,
  changed: Type.Array(
    Type.Object({
      domain: text,
      becomes: oneOf(["disposable", "fine"], "The verdict with these lines."),
      checks: count,
    }),
    { description: "Those with the most checks." },
  ),
  untestable: count,
  untestable_lines: Type.Array(count),
});
export type BackTestShape = Described<typeof BackTestShape>;

const Counted = Type.Object({
  day: Type.String({ format: "date", description: "The UTC day it was last worked on." }),
  names: count,
  asked: Type.Integer({
    minimum: 0,
    description: "Of the names; all of them when it is finished.",
  }),
  domains: Type.Integer({ minimum: 0, description: "Of those, with a mail server." }),
  servers: count,
});

export const CensusState = Type.Object({
  names_configured: Type.Boolean({
    description: "GATEPOST_CENSUS_NAMES repeats it in the background.",
  }),
  own: orNull(Counted, "Taken here; null: none yet."),
  imported: orNull(Counted, "Of other installations; null: none."),
  servers: Type.Integer({ minimum: 0, description: "Mail servers counted in finished ones." }),
  domains: count,
  domains_needed: Type.Integer({
    description: "From so many domains on it counts for every server.",
  }),
});
export type CensusState = Described<typeof CensusState>;

const countedJson = (census: Census | undefined) =>
  census === undefined
    ? null
    : {
        day: isoDate(census.day),
        names: census.names,
        asked: census.asked,
        domains: census.domains,
        servers: census.servers.size,
      };

/** `inUse`: what learning goes by, without an unfinished one. */
export const censusJson = (
  isConfigured: boolean,
  { own, imported, inUse }: Readonly<Record<"own" | "imported" | "inUse", Census | undefined>>,
): CensusState => ({
  names_configured: isConfigured,
  own: countedJson(own),
  imported: countedJson(imported),
  servers: inUse?.servers.size ?? 0,
  domains: inUse?.domains ?? 0,
  domains_needed: CENSUS_DOMAINS_MIN,
});

export const statusJson = (status: FeedStatus): Source => ({
  id: status.id,
  curated: status.curated,
  names: status.names,
  from: status.from,
  fetched_at: isoTimeOrNull(status.fetchedAtMs),
  asked_at: isoTimeOrNull(status.askedAtMs),
  off: status.isOff === true,
  refused: status.refusal?.why ?? null,
  detail: status.refusal?.detail ?? null,
});

const shareJson = ({ alone, onlyBy }: FeedShare) => ({ alone, only_by: onlyBy });

const fileJson = ({ withoutFeeds, ...file }: MeasuredFile) => ({
  ...file,
  without_feeds: withoutFeeds,
});

export const measureJson = ({ listed, legit, feeds }: FeedMeasure): object => ({
  listed: fileJson(listed),
  legit: fileJson(legit),
  feeds: feeds.map(({ id, isOff, found, alarms }) => ({
    id,
    off: isOff,
    found: shareJson(found),
    false_alarms: shareJson(alarms),
  })),
});

export const entryJson = (entry: Rule): OwnEntry => ({
  entry: entry.subject,
  kind: entry.word,
  note: entry.note,
  author: entry.author,
  created_at: isoTime(entry.createdAtMs),
  expires_at: isoTimeOrNull(entry.expiresAtMs),
});

/** Without the account that made it. */
export const reportJson = (report: Report): ReportShape => ({
  id: report.id,
  entry: report.subject,
  domain: report.domain,
  wrong: report.wrong,
  reason: report.reason,
  created_at: isoTime(report.createdAtMs),
});

export const backTestJson = (test: BackTest): BackTestShape => ({
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
