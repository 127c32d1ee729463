import { DAY_MS, dayOf } from "../../core/calendar.ts";
import { type Entry, readEntry } from "../../core/address/entry.ts";
import { listSubjectText, readListSubject } from "../../core/evidence/rule.ts";
import { accountKey } from "../../ports/admission/owner.ts";
import type { AddressHash } from "../../ports/evidence/address-hash.ts";
import type { Clock } from "../../ports/process/clock.ts";
import type { Ids } from "../../ports/process/ids.ts";
import type { Rule } from "../../ports/evidence/rules.ts";
import type { Share } from "../../ports/sharing/share.ts";
import {
  REPORT_FIELDS,
  type Report,
  type ReportField,
  type Reports,
  type Resolution,
} from "../../ports/evidence/reports.ts";
import { withoutLocalParts } from "./rules/entry-text.ts";
import type { EntryDetails, RuleService, SaveAnswer } from "./rules/rules.ts";

/** Reports of one account in a UTC day. */
export const REPORTS_A_DAY = 20;

/** Characters of a reason. */
export const REASON_MAX = 1_000;

/** How long a report is kept, resolved or not. */
export const REPORT_DAYS = 90;

/** The most reports that the operator's queue shows, oldest first. */
const OPEN_SHOWN_MAX = 1_000;

/** A client's report as it was sent. */
export interface ReportOrder {
  /** Not empty. */
  readonly entry: string;
  readonly wrong: string;
  readonly reason: string;
}

export type ReportAnswer =
  | { readonly kind: "kept"; readonly id: string }
  | { readonly kind: "bad_field" }
  | { readonly kind: "bad_reason" }
  | { readonly kind: "too_many" };

export type ResolveAnswer =
  | { readonly kind: "resolved"; readonly subject: string; readonly entry?: Rule }
  | { readonly kind: "no_report" }
  | Exclude<SaveAnswer, { kind: "saved" }>;

export interface ReportService {
  report(accountId: string, order: ReportOrder): Promise<ReportAnswer>;
  /** Without a resolution, oldest first. */
  open(): Promise<readonly Report[]>;
  /** `allow` and `deny` make an entry of the operator's lists from what was reported. */
  resolve(id: string, resolution: Resolution, details: EntryDetails): Promise<ResolveAnswer>;
  /** Deletes what is kept no longer; returns how many. */
  prune(): Promise<number>;
}

export interface ReportDeps {
  readonly reports: Reports;
  /** Each account's reports are written one at a time. */
  readonly writes: Pick<Share, "run">;
  readonly operator: Pick<RuleService, "save">;
  readonly hash: AddressHash;
  readonly ids: Pick<Ids, "hex32">;
  readonly clock: Pick<Clock, "nowMs">;
}

export function createReportService(deps: ReportDeps): ReportService {
  const { reports, writes, operator, clock } = deps;
  return {
    async report(accountId, { entry, wrong, reason }) {
      const field = REPORT_FIELDS.find((known) => known === wrong.toLowerCase());
      if (field === undefined) return { kind: "bad_field" };
      if (reason.length > REASON_MAX) return { kind: "bad_reason" };
      const report = reportOf(accountId, { entry, field, reason }, deps);
      const today = dayOf(clock.nowMs()) * DAY_MS;
      const add = (): Promise<boolean> => reports.add(report, today, REPORTS_A_DAY);
      const isKept = await writes.run(accountKey(accountId), add);
      return isKept ? { kind: "kept", id: report.id } : { kind: "too_many" };
    },
    open: () => reports.open(OPEN_SHOWN_MAX),
    async resolve(id, resolution, details) {
      const report = await reports.find(id);
      if (report === undefined || report.resolution !== undefined) return NO_REPORT;
      const { subject } = report;
      if (resolution === "dismiss") {
        return (await reports.resolve(id, resolution)) ? { kind: "resolved", subject } : NO_REPORT;
      }
      const answer = await operator.save(subject, resolution, details);
      if (answer.kind !== "saved") return answer;
      const isClosed = await reports.resolve(id, resolution);
      return isClosed ? { kind: "resolved", subject, entry: answer.entry } : NO_REPORT;
    },
    prune: () => reports.prune(clock.nowMs() - REPORT_DAYS * DAY_MS),
  };
}

const NO_REPORT = { kind: "no_report" } as const;

interface ReadOrder {
  readonly entry: string;
  readonly field: ReportField;
  readonly reason: string;
}

function reportOf(
  accountId: string,
  { entry: text, field, reason }: ReadOrder,
  { hash, ids, clock }: ReportDeps,
): Report {
  const entry = readEntry(text, "either");
  const domain = entry.kind === "malformed" ? entry.shownDomain : entry.domain.name;
  return {
    id: ids.hex32(),
    accountId,
    subject: entry.kind === "address" ? hashedSubject(entry, hash) : domain,
    domain,
    wrong: field,
    reason: withoutLocalParts(oneLine(reason)),
    createdAtMs: clock.nowMs(),
  };
}

function hashedSubject(
  { address, domain }: Entry & { readonly kind: "address" },
  hash: AddressHash,
): string {
  const subject = readListSubject(`${address.localPart}@${domain.name}`);
  return subject.ok ? listSubjectText(subject.value, hash) : domain.name;
}

/** What would drive a terminal or break a line becomes a blank. */
const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Cs}]+/gu, " ").trim();
