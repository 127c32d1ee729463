/** What a client may say is wrong about a verdict. */
export const REPORT_FIELDS = [
  "disposable",
  "dns",
  "format",
  "whitelist",
  "role",
  "free",
  "alias",
  "spam_trap",
  "other",
] as const;
export type ReportField = (typeof REPORT_FIELDS)[number];

/** What may come of a report. */
export const RESOLUTIONS = ["allow", "deny", "dismiss"] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

/** One client's word that a verdict is wrong. */
export interface Report {
  readonly id: string;
  readonly accountId: string;
  /** As `listSubjectText` writes it: a domain, or an address as its keyed hash. */
  readonly subject: string;
  readonly domain: string;
  readonly wrong: ReportField;
  /** The client's text, with addresses redacted. */
  readonly reason: string;
  readonly createdAtMs: number;
  readonly resolution?: Resolution;
}

/** Keeps reports. Rules are checked by `test/contracts/evidence/reports.ts`. */
export interface Reports {
  /** False, and nothing is kept, when the account made `limit` reports since `sinceMs` already. */
  add(report: Report, sinceMs: number, limit: number): Promise<boolean>;
  /** Those without a resolution, oldest first. */
  open(limit: number): Promise<readonly Report[]>;
  find(id: string): Promise<Report | undefined>;
  /** False when there is no such open report. */
  resolve(id: string, resolution: Resolution): Promise<boolean>;
  /** Deletes reports made before `beforeMs`; returns how many. */
  prune(beforeMs: number): Promise<number>;
}
