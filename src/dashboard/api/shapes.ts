import type { CompactRow } from "../../http/account/shapes.ts";

/** What `/account/*` sends: the server's own types. */
export type {
  Account,
  AdminAccount,
  AdminAccountPage,
  AdminAccounts,
  Allowance,
  AuditEntry,
  BackTestShape,
  CensusState,
  Cockpit,
  CheckStep,
  CreditEntry,
  Credits,
  Delivery,
  EvidenceShape,
  FoundEntries,
  FrontPage,
  Key,
  ListBehind,
  ListState,
  ListStats,
  OpenReports,
  Outcome,
  OwnEntry,
  Plan,
  Purse,
  ReportShape,
  Result,
  SessionState,
  SignIn,
  Source,
  SystemState,
  Usage,
  UsageDay,
  Webhook,
  WebhookState,
} from "../../http/account/shapes.ts";
export type { CompactRow };

/** One entry of a finished list. */
export interface ListRow {
  readonly entry: CompactRow[0];
  readonly fate: CompactRow[1];
  readonly confidence: CompactRow[2];
  readonly signals: CompactRow[3];
  /** Why an entry is not whole: "lost_at", "bare_domain"; "" for none. */
  readonly code: CompactRow[5];
  /** The entry as it was probably meant; "" for none. */
  readonly meant: CompactRow[6];
}
