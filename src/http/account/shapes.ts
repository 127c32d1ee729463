import type { Described } from "../../core/json-schema.ts";
import type { ResultSchema } from "../schemas.ts";
import type { ROUTES } from "./dashboard.ts";

/** What `/account/*` answers. The dashboard imports these types and nothing else. Times are ISO 8601 in UTC. */

export type { AllowanceJson, PurseJson, UsageDayJson } from "../../accounts/allowance.ts";
export type { Key } from "../../accounts/key-json.ts";
export type { CheckStep, EvidenceShape, FrontPage } from "../../check/check-shapes.ts";
export type {
  DecisionGroup,
  DecisionGroups,
  LoggedDecision,
  PolicyJson,
} from "../../gate/gate-shapes.ts";
export type { ForgetReport } from "../../gate/forget-person.ts";
export type { OutcomeReport } from "../../gate/outcomes.ts";
export type { SavedPolicy } from "../../gate/policies.ts";
export type { PolicyTest } from "../../gate/rulings.ts";
export type { OwnEntry, Source } from "../../lists/rules/entry-json.ts";
export type { ListRowJson } from "./lists.ts";
export type { AuditEntry } from "./present.ts";
export type { DnsTest, SystemState } from "./route.ts";

export type ResultJson = Described<typeof ResultSchema>;

type DashboardRoute = (typeof ROUTES)[number];
type AnswerOf<Place extends DashboardRoute["place"]> = Awaited<
  ReturnType<Extract<DashboardRoute, { readonly place: Place }>["handle"]>
>;

export type SessionState = AnswerOf<"GET session">;
export type AccountJson = NonNullable<SessionState["account"]>;
export type Plan = AnswerOf<"GET plans">["plans"][number];
export type Usage = AnswerOf<"GET usage">;
export type CreditsJson = AnswerOf<"GET credits">;
export type SecondFactorSetUp = AnswerOf<"POST second-factor">;
export type SignInJson = AnswerOf<"GET sessions">["sessions"][number];
export type WatchState = AnswerOf<"GET watch">;
export type WebhookState = AnswerOf<"GET webhook">;
export type DeliveryJson = AnswerOf<"POST webhook/ping">;
export type ListRows = AnswerOf<"GET lists/:id/rows">;
export type ListSummaries = AnswerOf<"GET lists">;
export type ListSummary = ListSummaries["lists"][number];
export type ListState = AnswerOf<"GET lists/:id">;
export type ReadList = NonNullable<ListState["read"]>;
export type RepairJson = ReadList["repairs"][number];
export type AccountDecisions = AnswerOf<"GET decisions">;
export type FeedbackMark = AccountDecisions["marks"][number];
export type FoundDecisions = AnswerOf<"POST decisions/find">;
export type ReportedGroup = AnswerOf<"POST decisions/report">;
export type PolicyPage = AnswerOf<"GET policies/:id">;
export type RuleCounts = AnswerOf<"GET policies/:id/counts">;
export type ShadowReport = AnswerOf<"GET policies/:id/shadow">;
export type HooksPage = AnswerOf<"GET hooks">;
export type SignUpState = AnswerOf<"GET admin/signup">;
export type ResetLink = AnswerOf<"POST admin/accounts">;
export type PromotedJson = NonNullable<AnswerOf<"POST admin/accounts/:id/promote">>;
export type AdminAccounts = AnswerOf<"GET admin/accounts">;
export type AdminAccount = AdminAccounts["accounts"][number];
export type AdminAccountPage = AnswerOf<"GET admin/accounts/:id">;
export type Cockpit = AnswerOf<"GET admin/cockpit">;
export type HealthState = AnswerOf<"GET admin/health">;
export type RefreshOutcomeJson = AnswerOf<"POST admin/lists/refresh">["outcomes"][number];
export type FoundEntriesJson = AnswerOf<"GET admin/lists/entries">;
export type ImportedRules = AnswerOf<"POST admin/lists/import">;
