import type { CompactRow } from "../../http/account/shapes.ts";

/** What `/account/*` sends: the server's own types. */
export type {
  Account,
  Allowance,
  AuditEntry,
  CheckStep,
  CreditEntry,
  Credits,
  Delivery,
  EvidenceShape,
  FrontPage,
  Key,
  ListBehind,
  ListState,
  ListStats,
  Plan,
  Purse,
  Result,
  SessionState,
  SignIn,
  Usage,
  UsageDay,
  Webhook,
  WebhookState,
} from "../../http/account/shapes.ts";
export type {
  AdminAccount,
  AdminAccountPage,
  AdminAccounts,
  Cockpit,
  FoundEntries,
  Outcome,
  OwnEntry,
  Source,
  SystemState,
} from "../../http/account/admin/admin-shapes.ts";
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
