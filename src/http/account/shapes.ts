import type { EndedAccess } from "../../accounts/accounts-store.ts";
import type { AllowanceJson, UsageDayJson } from "../../accounts/allowance.ts";
import type { Key } from "../../accounts/key-json.ts";
import type { BegunSecondFactor } from "../../accounts/sign-in/second-factor.ts";
import type { HealthPart, ShownPart } from "../../base/health.ts";
import type { FoundRows, ListFacts } from "../../bulk/lists/list-reader.ts";
import type { ViewPiece, ViewRow } from "../../bulk/lists/list-view.ts";
import type { KeepRule, RowClass } from "../../core/batch/row-class.ts";
import type { Described } from "../../core/json-schema.ts";
import type { DecisionPage, FeedbackMark } from "../../gate/gate-shapes.ts";
import type { OwnEntry } from "../../lists/rules/entry-json.ts";
import type { DomainChange } from "../../watch/watch-list.ts";
import type { WebhookSettings } from "../../webhooks/configure.ts";
import type { DeliveryRow } from "../../webhooks/webhook-sender.ts";
import type { CreditEntryRow } from "../../store/schema.ts";
import type { ListHistoryRow } from "../../store/tables/bulk.ts";
import type { ResultSchema } from "../schemas.ts";

/** What `/account/*` answers. The dashboard imports these types and nothing else. Times are ISO 8601 in UTC. */

export type { AllowanceJson, PurseJson, UsageDayJson } from "../../accounts/allowance.ts";
export type { CheckStep, EvidenceShape, FrontPage } from "../../check/check-shapes.ts";
export type {
  DecisionGroup,
  DecisionGroups,
  FeedbackMark,
  ForgetReport,
  HooksPage,
  LoggedDecision,
  OutcomeReport,
  PolicyPage,
  PolicyJson,
  RuleCounts,
  SavedPolicy,
  ShadowReport,
} from "../../gate/gate-shapes.ts";
export type { PolicyTest } from "../../gate/rulings.ts";
export type { OwnEntry, Source } from "../../lists/rules/entry-json.ts";
export type { Key };

export type ResultJson = Described<typeof ResultSchema>;

export interface AccountJson {
  readonly id: string;
  readonly email: string;
  readonly tier: string;
  readonly admin: boolean;
  readonly counts_traffic: boolean;
  readonly second_factor: boolean;
  readonly logs_decisions: boolean;
  readonly created_at: string;
}

export interface SessionState {
  readonly signup: "open" | "closed";
  /** Base of links, without a trailing slash. */
  readonly public_url: string;
  readonly version: string;
  readonly list_hours: number;
  readonly account?: AccountJson;
  /** Whom the proxy named, and the service did not let in by that. */
  readonly proxy_email?: string;
}

export interface SignUpState {
  readonly signup: "open" | "closed";
  readonly fixed: boolean;
}

export type SecondFactorSetUp = BegunSecondFactor;

export interface Plan {
  readonly name: string;
  readonly daily: number | null;
  readonly bulk_limit: number | null;
}

export interface Usage {
  readonly days: readonly UsageDayJson[];
}

export interface CreditEntry extends Omit<
  CreditEntryRow,
  "account_id" | "sequence" | "created_at_ms"
> {
  readonly created_at: string;
}

export interface CreditsJson {
  readonly entries: readonly CreditEntry[];
}

/** The domains that the account watches, and the last 20 changes. */
export interface WatchState {
  readonly domains: number;
  readonly changes: readonly DomainChange[];
}

export interface WebhookState {
  readonly known_events: readonly string[];
  readonly webhook: WebhookSettings | null;
}

export interface DeliveryJson extends DeliveryRow {
  readonly id: string;
  readonly attempted_at: string;
  /** The first 1 KiB of the answer. */
  readonly response: string | null;
}

export interface SignInJson {
  readonly id: string;
  readonly current: boolean;
  readonly created_at: string;
  readonly last_seen_at: string;
  readonly client_address: string;
  readonly user_agent: string;
}

export interface AuditEntry {
  readonly id: string;
  readonly at: string;
  readonly action: string;
  readonly actor: string;
  readonly subject: string;
  readonly detail: string;
  readonly client_address: string;
}

interface Listed {
  /** The public lists that hold it now. */
  readonly lists?: readonly string[];
}

export interface ListRowJson
  extends Omit<ViewRow, "wasClass" | "each" | "spread" | "readAs">, Listed {
  readonly each?: readonly (ViewPiece & Listed)[];
}

export interface ListRows extends Omit<FoundRows, "rows"> {
  readonly rows: readonly ListRowJson[];
}

export interface ListSummary {
  readonly id: string;
  readonly name: string;
  readonly state: "chosen" | "running" | "stopping" | "done";
  readonly rows: number;
  /** Of the check under way; 0 without one. */
  readonly entries: number;
  readonly processed: number;
  /** Null: while it is checked. */
  readonly expires_in_seconds: number | null;
}

/** A deleted list of the last 13 months, without addresses. */
export interface PastList extends Omit<
  ListHistoryRow,
  "id" | "account_id" | "row_count" | "created_at_ms"
> {
  readonly rows: number;
  readonly created_at: string;
}

export interface ListSummaries {
  readonly lists: readonly ListSummary[];
  readonly most: number;
  readonly history: readonly PastList[];
}

export type RepairJson = ListFacts["repairs"][number];

export interface ReadList extends Pick<
  ListFacts,
  "sample" | "counts" | "open" | "unsure" | "repairs" | "disposable"
> {
  readonly columns: readonly string[];
  readonly column: number;
  /** Columns that are read with it. */
  readonly further: readonly number[];
  readonly sheet: string | null;
  readonly sheets: readonly string[];
  /** Which of several addresses in a row have to be good. */
  readonly keep: KeepRule;
  /** Rows with several addresses. */
  readonly several: number;
  readonly encoding: string;
  /** Lines above the header, which are no rows. */
  readonly above: number;
  /** Checks left of the plan; null: no limit. */
  readonly plan_left: number | null;
  readonly credits: number;
  /** Entries in one check; null: no limit. */
  readonly list_limit: number | null;
  readonly resets_at: string;
}

export interface ListState extends ListSummary {
  /** The last check could not be finished. */
  readonly failed: boolean;
  readonly stopped: boolean;
  readonly charged: number;
  /** While it waits: how many lists are before it, and a sentence. */
  readonly waiting?: { readonly ahead: number; readonly says: string };
  readonly so_far?: { readonly good: number; readonly disposable: number };
  readonly newest?: readonly {
    readonly entry: string;
    readonly class: RowClass;
    readonly why: string;
  }[];
  readonly read?: ReadList;
}

export interface AccountDecisions extends Pick<DecisionPage, "decisions" | "next"> {
  readonly log: "on" | "off";
  readonly marks: readonly FeedbackMark[];
}

// What administrators see.

export interface ResetLink {
  readonly link: string;
  readonly expires_at: string;
}

export interface DnsTest {
  readonly resolvers: readonly {
    readonly server: string;
    /** Half of its answers came within; null: it does not answer. */
    readonly median_ms: number | null;
    /** It answers over TCP; null: it answers nothing. */
    readonly tcp: boolean | null;
    /** It finds names that exist and invents none; null: not tested. */
    readonly truthful: boolean | null;
    readonly says: string;
  }[];
}

export type PromotedJson = EndedAccess & { readonly password: string };

export interface AdminAccount extends AccountJson {
  readonly credits: number;
  readonly disabled: boolean;
  readonly origin: string;
  /** Numbers of its own in place of the plan's, by the names of a plan; null: no limit. */
  readonly limits: Readonly<Record<string, number | null>>;
}

export interface AdminAccounts {
  readonly accounts: readonly AdminAccount[];
  readonly total: number;
  readonly page: number;
  readonly page_size: number;
}

export interface AdminAccountPage {
  readonly account: AdminAccount;
  readonly days: readonly UsageDayJson[];
  readonly allowance: AllowanceJson;
  readonly keys: readonly Key[];
}

export interface Cockpit {
  readonly days: readonly UsageDayJson[];
  readonly top: readonly {
    /** Null: an address without a key, or a deleted account. */
    readonly name: string | null;
    readonly units: number;
    readonly requests: number;
  }[];
}

export interface HealthState {
  readonly parts: readonly HealthPart[];
  /** Empty: all is well. The worst comes first. */
  readonly broken: readonly ShownPart[];
}

export interface SystemState {
  readonly version: string;
  readonly node: string;
  readonly started_at: string;
  /** Of the embedded database; null: none is known. */
  readonly last_backup?: string | null;
  /** Octets where the embedded database is; null with PostgreSQL. */
  readonly disk: { readonly free: number; readonly size: number } | null;
  /** Lists and their entries; null while the database does not answer. */
  readonly queue: { readonly lists: number; readonly waiting: number } | null;
  readonly facts: readonly { readonly name: string; readonly value: string }[];
}

/** A filter of the decision log. */
export interface FoundDecisions {
  readonly by: "domain" | "mailbox" | "source";
  readonly value: string;
}

/** The ids of the first and the last report take them back. */
export interface ReportedGroup {
  readonly first: string;
  readonly last: string;
  readonly mailboxes: number;
}

export interface RefreshOutcomeJson {
  readonly id: string;
  readonly kind: "accepted" | "unchanged" | "refused";
  readonly why: string | null;
  readonly detail: string | null;
}

export interface FoundEntriesJson {
  readonly entries: readonly OwnEntry[];
  readonly total: number;
}

export interface ImportedRules {
  readonly imported: number;
  /** Names the import when it is taken back. */
  readonly imported_ms: number;
  readonly replaced: readonly OwnEntry[];
}
