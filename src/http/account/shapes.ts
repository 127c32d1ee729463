import { PARTS } from "../../base/health.ts";
import { BrokenPart } from "../schemas.ts";
import { DECISIONS } from "../../core/policy/policy.ts";
import { KEEP_RULES, ROW_CLASSES, type RowClass } from "../../core/batch/row-class.ts";
import { type Described, oneOf, orNull, Type } from "../../core/json-schema.ts";
import { FeedbackMark, LoggedDecision } from "../../gate/gate-shapes.ts";
import { OwnEntry, Source } from "../../lists/rules/entry-json.ts";
import { KEY, type Key } from "../../accounts/key-json.ts";
import { ResultSchema } from "../schemas.ts";

/** What `/account/*` answers. The dashboard imports these types and nothing else. Times are ISO 8601 in UTC. */

export type { CheckStep, EvidenceShape, FrontPage } from "../../check/check-shapes.ts";
export type { FeedbackMark, Key, LoggedDecision, OwnEntry, Source };
export type {
  ForgetReport,
  HooksPage,
  OutcomeReport,
  PolicyPage,
  PolicyJson,
  RuleCounts,
  SavedPolicy,
  ShadowReport,
} from "../../gate/gate-shapes.ts";

const text = Type.String();
const count = Type.Integer({ minimum: 0 });
const flag = Type.Boolean();
const time = Type.String({ format: "date-time" });

const ACCOUNT = {
  id: text,
  email: text,
  tier: text,
  admin: flag,
  counts_traffic: Type.Boolean({
    description: "Mailboxes and domains of the decisions are counted.",
  }),
  second_factor: Type.Boolean({ description: "Signing in asks for a code, too." }),
  logs_decisions: Type.Boolean({ description: "The last decisions are kept." }),
  created_at: time,
};
const AccountJson = Type.Object(ACCOUNT);
export type AccountJson = Described<typeof AccountJson>;

export const SessionState = Type.Object({
  signup: oneOf(["open", "closed"], "Whether visitors may make accounts here."),
  public_url: Type.String({ description: "Base of links, without a trailing slash." }),
  version: text,
  list_hours: Type.Number({ description: "How long a list is kept." }),
  parts: Type.Array(oneOf(["lists", "webhooks", "gate"], "A part that is set up.")),
  account: Type.Optional(AccountJson),
  proxy_email: Type.Optional(
    Type.String({ description: "Whom the proxy named, and the service did not let in by that." }),
  ),
});
export type SessionState = Described<typeof SessionState>;

export const SignUpState = Type.Object({
  signup: oneOf(["open", "closed"], "Whether visitors may make accounts here."),
  fixed: Type.Boolean({ description: "By the setting `GATEPOST_SIGNUP`." }),
});
export type SignUpState = Described<typeof SignUpState>;

export const SecondFactorSetUp = Type.Object({
  secret: Type.String({ description: "In base32, for an authenticator app." }),
  uri: Type.String({ description: "The same for a link or a QR code." }),
  set_up: Type.String({ description: "To be sent back with the first code, within 10 minutes." }),
});
export type SecondFactorSetUp = Described<typeof SecondFactorSetUp>;
export const RecoveryCodes = Type.Object({ codes: Type.Array(text) });

export const SetUpState = Type.Object({ open: flag });

const LIMITS = {
  rate_per_minute: orNull(count),
  bulk_limit: orNull(count),
  premium: flag,
};

export const Plans = Type.Object({
  plans: Type.Array(Type.Object({ name: text, daily: orNull(count), bulk_limit: orNull(count) })),
});
export type Plan = Described<typeof Plans>["plans"][number];

const PurseJson = Type.Object({
  used: count,
  limit: orNull(count, "Null: no limit."),
  resets_at: time,
});
export type PurseJson = Described<typeof PurseJson>;

export const AllowanceJson = Type.Object({
  tier: text,
  day: PurseJson,
  month: PurseJson,
  credits: count,
  ...LIMITS,
});
export type AllowanceJson = Described<typeof AllowanceJson>;

export type ResultJson = Described<typeof ResultSchema>;

export const Keys = Type.Object({
  keys: Type.Array(
    Type.Object({
      ...KEY,
      kind: oneOf(["secret", "publishable"], "A publishable key may stand in a web page."),
    }),
  ),
});
export const NewKey = Type.Object({
  id: text,
  name: text,
  api_key: text,
  origins: Type.Optional(Type.Array(text)),
});

export const UsageDayJson = Type.Object({
  date: Type.String({ format: "date" }),
  units: count,
  credits: count,
  requests: count,
  refusals: count,
});
export type UsageDayJson = Described<typeof UsageDayJson>;
export const Usage = Type.Object({
  days: Type.Array(UsageDayJson),
  refusals: Type.Array(
    Type.Object({ code: text, key_id: orNull(text), key_name: orNull(text), count }),
    { description: "Refused requests of these days, most often first, at most 50." },
  ),
  allowance: AllowanceJson,
});
export type Usage = Described<typeof Usage>;

const CreditEntry = Type.Object({
  amount: Type.Integer(),
  balance_after: count,
  reason: oneOf(["grant", "charge", "refund"], "Why the balance changed."),
  reference: text,
  created_at: time,
});
export type CreditEntry = Described<typeof CreditEntry>;
export const CreditsJson = Type.Object({ balance: count, entries: Type.Array(CreditEntry) });
export type CreditsJson = Described<typeof CreditsJson>;
export const Balance = Type.Object({ balance: count });

/** The domains that the account watches, and the last 20 changes. */
export const WatchState = Type.Object({
  domains: count,
  changes: Type.Array(Type.Object({ domain: text, kind: text, at: time })),
});
export type WatchState = Described<typeof WatchState>;

const Webhook = Type.Object({ url: text, events: Type.Array(text) });
export const WebhookState = Type.Object({
  known_events: Type.Array(text, { description: "Every event there is." }),
  webhook: orNull(Webhook),
});
export type WebhookState = Described<typeof WebhookState>;
export const NewSecret = Type.Object({ secret: text });
export const SavedWebhook = Type.Object({ secret: orNull(text, "Null: the old one holds.") });

export const DeliveryJson = Type.Object({
  id: text,
  event: text,
  session: orNull(text),
  status: orNull(count, "The receiver's HTTP status; null when none came."),
  error: orNull(text),
  duration_ms: orNull(Type.Number()),
  attempted_at: time,
  response: orNull(text, "The first 1 KiB of the answer."),
});
export type DeliveryJson = Described<typeof DeliveryJson>;
export const DeliveryLog = Type.Object({ deliveries: Type.Array(DeliveryJson) });

const SignInJson = Type.Object({
  id: text,
  current: flag,
  created_at: time,
  last_seen_at: time,
  client_address: text,
  user_agent: text,
});
export type SignInJson = Described<typeof SignInJson>;
export const KnownSignIns = Type.Object({ sessions: Type.Array(SignInJson) });

const AuditEntry = Type.Object({
  id: text,
  at: time,
  action: text,
  actor: text,
  subject: text,
  detail: text,
  client_address: text,
});
export type AuditEntry = Described<typeof AuditEntry>;
export const AuditEntries = Type.Object({ entries: Type.Array(AuditEntry) });

const RowClassShape = Type.Unsafe<RowClass>({
  type: "string",
  enum: ROW_CLASSES,
  description: "What a row comes to; each row has one.",
});

const LIST_ENTRY = {
  entry: text,
  class: RowClassShape,
  why: Type.String({ description: 'A sentence; "" for none.' }),
  meant: Type.String({ description: 'The entry as it was probably meant; "" for none.' }),
  was: Type.Optional(Type.String({ description: "The entry of the file, where it is repaired." })),
};
const ListRowShape = Type.Object({
  line: Type.Integer({ minimum: 0, description: "Where the row begins in the file." }),
  ...LIST_ENTRY,
  each: Type.Optional(
    Type.Array(Type.Object(LIST_ENTRY), {
      description: "Of a row with several addresses, each by itself.",
    }),
  ),
});
export type ListRowJson = Described<typeof ListRowShape>;

export const ListRows = Type.Object({
  total: Type.Integer({ minimum: 0, description: "Rows that fit." }),
  rows: Type.Array(ListRowShape),
  reasons: Type.Array(Type.Object({ why: text, rows: count }), {
    description: "Of all rows of the class, the most frequent first.",
  }),
});
export type ListRows = Described<typeof ListRows>;

const LIST_STATE = {
  id: text,
  name: text,
  state: oneOf(["chosen", "running", "stopping", "done"], "How far it is."),
  rows: count,
  entries: Type.Integer({ minimum: 0, description: "Of the check under way; 0 without one." }),
  processed: count,
  expires_in_seconds: orNull(count, "Null: while it is checked."),
};
const PastListShape = Type.Object({
  name: text,
  rows: count,
  checked: Type.Integer({ minimum: 0, description: "Entries; the next four add up to it." }),
  good: count,
  disposable: count,
  no_mail: count,
  bad_format: count,
  charged: count,
  created_at: time,
});
export const ListSummaries = Type.Object({
  lists: Type.Array(Type.Object(LIST_STATE)),
  most: Type.Integer({ minimum: 1, description: "Lists that an account may have here." }),
  history: Type.Array(PastListShape, {
    description: "Deleted lists of 13 months, without addresses.",
  }),
});
export type ListSummaries = Described<typeof ListSummaries>;
export type PastList = ListSummaries["history"][number];
export type ListSummary = ListSummaries["lists"][number];

const RepairShape = Type.Object({
  class: RowClassShape,
  open: Type.Integer({ minimum: 0, description: "Rows that can be repaired." }),
  fixed: Type.Integer({ minimum: 0, description: "Rows that are." }),
  slips: Type.Array(Type.Object({ from: text, to: text, rows: count })),
});
export type RepairJson = Described<typeof RepairShape>;

const ReadShape = Type.Object({
  columns: Type.Array(text),
  column: Type.Integer({ minimum: 0, description: "Its place, from 0." }),
  sheet: orNull(text),
  sheets: Type.Array(text),
  keep: oneOf(KEEP_RULES, "Which of several addresses in a row have to be good."),
  encoding: text,
  delimiter: text,
  above: Type.Integer({ minimum: 0, description: "Lines above the header, which are no rows." }),
  sample: Type.Array(Type.Array(text), { description: "Cells of the first rows." }),
  counts: Type.Unsafe<Readonly<Record<RowClass, number>>>({
    type: "object",
    additionalProperties: count,
    description: "Rows by class; they add up to all rows.",
  }),
  open: Type.Integer({ minimum: 0, description: "Different entries that are not checked." }),
  unsure: Type.Integer({ minimum: 0, description: "Different entries without an answer." }),
  covered: Type.Integer({ minimum: 0, description: "Entries that plan and credits cover now." }),
  plan_left: orNull(count, "Checks left of the plan; null: no limit."),
  credits: count,
  list_limit: orNull(count, "Entries in one check; null: no limit."),
  resets_at: time,
  repairs: Type.Array(RepairShape),
  disposable: Type.Array(Type.Object({ why: text, rows: count })),
});
export type ReadList = Described<typeof ReadShape>;

export const ListState = Type.Object({
  ...LIST_STATE,
  failed: Type.Boolean({ description: "The last check could not be finished." }),
  stopped: Type.Boolean({ description: "The last check was ended early." }),
  charged: Type.Integer({ minimum: 0, description: "Checks that it cost so far." }),
  so_far: Type.Optional(Type.Object({ good: count, disposable: count })),
  newest: Type.Optional(Type.Array(Type.Object({ entry: text, class: RowClassShape, why: text }))),
  read: Type.Optional(ReadShape),
});
export type ListState = Described<typeof ListState>;

export const AccountDecisions = Type.Object({
  log: oneOf(["on", "off"], "Whether decisions are logged."),
  decisions: Type.Array(LoggedDecision, { description: "Newest first." }),
  next: orNull(text, "For `after`; null: there are no more."),
  marks: Type.Array(FeedbackMark, { description: "What was reported of their mailboxes." }),
});
export type AccountDecisions = Described<typeof AccountDecisions>;

/** What the person at a form reads, by what it is for. */
export const Sentences = Type.Unsafe<Readonly<Record<string, string>>>({
  type: "object",
  additionalProperties: text,
});

export const FoundMailbox = Type.Object({ mailbox: text });

export const PolicyTests = Type.Object({
  results: Type.Array(
    Type.Object({
      entry: text,
      decision: oneOf(DECISIONS, "What the policy says."),
      reason: text,
      rule: orNull(Type.Integer({ minimum: 0 }), "Counts from 0; null: `else` decided."),
      message: Type.Optional(text),
      did_you_mean: Type.Optional(text),
      complete: Type.Boolean(),
      untested: Type.Optional(
        Type.Array(text, {
          description:
            "Facts of traffic and feedback in rules before this one: a test counts none.",
        }),
      ),
      result: ResultSchema,
    }),
  ),
});
export type PolicyTestJson = Described<typeof PolicyTests>["results"][number];

// What administrators see.

export const ResetLink = Type.Object({
  link: Type.String({ description: "Works once." }),
  expires_at: time,
});
export type ResetLink = Described<typeof ResetLink>;

export const DnsTest = Type.Object({
  resolvers: Type.Array(
    Type.Object({
      server: text,
      median_ms: orNull(count, "Half of its answers came within; null: it does not answer."),
      tcp: orNull(flag, "It answers over TCP; null: it answers nothing."),
      truthful: orNull(flag, "It finds names that exist and invents none; null: not tested."),
      says: Type.String({ description: "What is wrong and what to do; empty for nothing." }),
    }),
  ),
});
export type DnsTest = Described<typeof DnsTest>;

export const PromotedJson = Type.Object({
  password: text,
  keys: count,
  hooks: count,
  webhooks: count,
  policies: Type.Array(text, { description: "They stay: read them." }),
});

export type PromotedJson = Described<typeof PromotedJson>;

const limit = Type.Optional(orNull(count));
const AdminAccount = Type.Object({
  ...ACCOUNT,
  credits: count,
  disabled: flag,
  origin: text,
  limits: Type.Object(
    { rate_per_minute: limit, daily: limit, monthly: limit, bulk_limit: limit },
    { description: "Numbers of its own in place of the plan's; null: no limit." },
  ),
});
export type AdminAccount = Described<typeof AdminAccount>;
export const AdminAccounts = Type.Object({
  accounts: Type.Array(AdminAccount, { description: "One page, by e-mail address." }),
  total: count,
  page: count,
  page_size: count,
});
export type AdminAccounts = Described<typeof AdminAccounts>;
export const AdminAccountPage = Type.Object({
  account: AdminAccount,
  days: Type.Array(UsageDayJson),
  allowance: AllowanceJson,
  keys: Type.Array(Type.Object(KEY)),
});
export type AdminAccountPage = Described<typeof AdminAccountPage>;

export const Cockpit = Type.Object({
  held_back: Type.Array(
    Type.Object({ resource: text, refused: count, waiting: count, owners: count }),
    { description: "Resources of which owners wanted more than their share since the start." },
  ),
  days: Type.Array(UsageDayJson),
  top: Type.Array(
    Type.Object({
      name: orNull(text, "Null: an address without a key, or a deleted account."),
      units: count,
      requests: count,
    }),
  ),
});
export type Cockpit = Described<typeof Cockpit>;

export const HealthState = Type.Object({
  parts: Type.Array(Type.Enum(PARTS), { description: "What is watched here." }),
  broken: Type.Array(BrokenPart, {
    description: "Empty: all is well. The worst comes first.",
  }),
});
export type HealthState = Described<typeof HealthState>;

export const SystemState = Type.Object({
  version: text,
  node: text,
  started_at: time,
  last_backup: Type.Optional(
    orNull(time, "Of the embedded database; null: none is known. Absent with PostgreSQL."),
  ),
  disk: orNull(
    Type.Object({ free: count, size: count }),
    "Octets where the embedded database is; null with PostgreSQL.",
  ),
  queue: orNull(
    Type.Object({ lists: count, waiting: count }),
    "Lists and their entries; null while the database does not answer.",
  ),
  facts: Type.Array(Type.Object({ name: text, value: text }), {
    description: "For people: queue, DNS servers, stores.",
  }),
});
export type SystemState = Described<typeof SystemState>;

export const Sources = Type.Object({ sources: Type.Array(Source) });

const RefreshOutcomeJson = Type.Object({
  id: text,
  kind: oneOf(["accepted", "unchanged", "refused"], "What came of the fetch."),
  why: orNull(text),
  detail: orNull(text),
});
export type RefreshOutcomeJson = Described<typeof RefreshOutcomeJson>;
export const Outcomes = Type.Object({ outcomes: Type.Array(RefreshOutcomeJson) });

export const FoundEntriesJson = Type.Object({
  entries: Type.Array(OwnEntry),
  total: Type.Integer({ minimum: 0, description: "How many match; the first are sent." }),
});
export type FoundEntriesJson = Described<typeof FoundEntriesJson>;
export const Forgotten = Type.Object({ forgotten: count });
export const Imported = Type.Object({ imported: count });
