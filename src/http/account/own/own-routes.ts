import { trimEntry } from "../../../core/address/address.ts";
import type { AuditLog } from "../../../accounts/audit.ts";
import type { SignIns } from "../../../accounts/sign-in/sign-ins.ts";
import { LATENCY_EDGES_MS } from "../../../accounts/admission/usage.ts";
import type { UsageReader } from "../../../accounts/allowance.ts";
import { auditedSwitches } from "../../../gate/audited.ts";
import type { AccountCheck } from "../../../check/account-check.ts";
import type { OwnAccount } from "../../../accounts/own-account.ts";
import type { CreditService } from "../../../accounts/credits.ts";
import type { HourCounts } from "../../../accounts/hour-counts.ts";
import { badField, missingParameter, notFound } from "../../../base/refusals.ts";
import type { AccountSwitches } from "../../../gate/account-switches.ts";
import { Type } from "../../../core/json-schema.ts";
import { counted, type CountedDeps } from "../counted.ts";
import { boundedNumber, textField, textsField } from "../fields.ts";
import { noteOf, noteOwn } from "../note.ts";
import { ownAudit, shownCredit, shownSession } from "../present.ts";
import { type AccountRoute, answering, done, streaming } from "../route.ts";
import { Allowance, AuditEntries, CheckStep, Credits, KnownSignIns, Usage } from "../shapes.ts";
import { type KeyDeps, keyRoutes } from "./key-routes.ts";

export interface OwnDeps extends CountedDeps, KeyDeps {
  readonly check: AccountCheck;
  readonly credits: Pick<CreditService, "entries">;
  readonly usage: UsageReader;
  readonly own: OwnAccount;
  readonly switches: AccountSwitches;
  readonly hours: Pick<HourCounts, "today">;
  readonly sessions: SignIns;
  readonly auditLog: Pick<AuditLog, "ofAccount">;
}

/** Rows of a ledger or a log that one page shows. */
const ROWS_MAX = 200;
const ENTRY_MAX = 2_000;
const PASSWORD_FIELD_MAX = 2_000;
const USAGE_DAYS = { standard: 30, max: 400 };

/** Everything that an account does with what is its own. */
export function ownRoutes(deps: OwnDeps): readonly AccountRoute[] {
  return [
    checkRoute(deps),
    ...figureRoutes(deps),
    ...keyRoutes(deps),
    ...sessionRoutes(deps),
    passwordRoute(deps),
    emailRoute(deps),
    ...switchRoutes(deps),
    deleteRoute(deps),
  ];
}

const checkRoute = (deps: OwnDeps): AccountRoute =>
  streaming(CheckStep, {
    method: "POST",
    path: "check",
    for: "everyone",
    summary:
      "Check one entry for one unit, a visitor within the anonymous limits: a line with the core facts, then a line with everything",
    body: Type.Object({ entry: Type.String(), features: Type.Array(Type.String()) }),
    handle(request) {
      const entry = trimEntry(textField(request.body, "entry", ENTRY_MAX));
      const features = textsField(request.body, "features", 20);
      if (entry === "") throw missingParameter("entry");
      return counted(request, deps, (entrance) =>
        Promise.resolve({ lines: deps.check(entrance, entry, features) }),
      );
    },
  });

const figureRoutes = ({ usage, credits, auditLog, hours }: OwnDeps): readonly AccountRoute[] => [
  answering(Allowance, {
    method: "GET",
    path: "allowance",
    for: "account",
    summary: "What is left of the plan",
    handle: ({ account }) => usage.allowance(account),
  }),
  answering(Usage, {
    method: "GET",
    path: "usage",
    for: "account",
    summary: "Units, requests and latency by day; `days` of them",
    async handle({ account, query }) {
      const days = await usage.days(account, boundedNumber(query["days"], USAGE_DAYS));
      const allowance = await usage.allowance(account);
      return {
        days,
        hours: await hours.today(account.id),
        latency_edges_ms: LATENCY_EDGES_MS,
        allowance,
      };
    },
  }),
  answering(Credits, {
    method: "GET",
    path: "credits",
    for: "account",
    summary: "Balance and the newest movements",
    async handle({ account }) {
      const entries = await credits.entries(account.id, ROWS_MAX);
      return { balance: account.creditBalance, entries: entries.map(shownCredit) };
    },
  }),
  answering(AuditEntries, {
    method: "GET",
    path: "activity",
    for: "account",
    summary: "What was changed in the account",
    async handle({ account }) {
      const entries = await auditLog.ofAccount(account.id, ROWS_MAX);
      return { entries: entries.map(ownAudit) };
    },
  }),
];

const sessionRoutes = ({ sessions, audit, clock }: OwnDeps): readonly AccountRoute[] => [
  answering(KnownSignIns, {
    method: "GET",
    path: "sessions",
    for: "account",
    summary: "Browsers that are signed in",
    async handle({ account, session }) {
      const known = await sessions.list(account.id, clock.nowMs());
      return { sessions: known.map((one) => shownSession(one, session.id)) };
    },
  }),
  {
    method: "DELETE",
    path: "sessions",
    for: "account",
    summary: "End all sessions but this one",
    async handle(request) {
      await sessions.endAll(request.account.id, request.session.id);
      await noteOwn(request, audit, { action: "session.revoked", detail: "everywhere else" });
      return done;
    },
  },
  {
    method: "DELETE",
    path: "sessions/:id",
    for: "account",
    summary: "End one session",
    async handle(request) {
      if (!(await sessions.end(request.account.id, request.id))) throw notFound();
      await noteOwn(request, audit, { action: "session.revoked" });
      return done;
    },
  },
];

const passwordRoute = ({ own }: OwnDeps): AccountRoute => ({
  method: "POST",
  path: "password",
  for: "account",
  summary: "Change the password; all other sessions end",
  body: Type.Object({ current_password: Type.String(), new_password: Type.String() }),
  async handle(request) {
    const { body, visitor } = request;
    const current = textField(body, "current_password", PASSWORD_FIELD_MAX);
    const next = textField(body, "new_password", PASSWORD_FIELD_MAX);
    await own.changePassword(request, { current, next }, visitor);
    return done;
  },
});

const SWITCHES = [
  [
    "traffic",
    "Count mailboxes and domains in the account's own decisions; off deletes the counts",
    "switchTraffic",
  ],
  [
    "decision-log",
    "Keep the last decisions to be read, without addresses; off deletes them",
    "switchLog",
  ],
] as const;

const switchRoutes = ({ switches, audit }: OwnDeps): readonly AccountRoute[] =>
  SWITCHES.map(([path, summary, name]) => ({
    method: "POST",
    path,
    for: "account",
    summary,
    body: Type.Object({ state: Type.Union([Type.Literal("on"), Type.Literal("off")]) }),
    async handle(request) {
      const { state } = request.body;
      if (state !== "on" && state !== "off") throw badField('"state" must be "on" or "off".');
      await auditedSwitches(switches, noteOf(request, audit))[name](request.account.id, state);
      return done;
    },
  }));

const emailRoute = ({ own }: OwnDeps): AccountRoute => ({
  method: "POST",
  path: "email",
  for: "account",
  summary: "Change the address that the account signs in with",
  body: Type.Object({ current_password: Type.String(), email: Type.String() }),
  async handle(request) {
    const { body, visitor } = request;
    const password = textField(body, "current_password", PASSWORD_FIELD_MAX);
    await own.changeEmail(request, { password, email: textField(body, "email", 320) }, visitor);
    return done;
  },
});

const deleteRoute = ({ own }: OwnDeps): AccountRoute => ({
  method: "POST",
  path: "delete",
  for: "account",
  summary: "Erase the account and all that is kept under it",
  body: Type.Object({ current_password: Type.String() }),
  async handle(request) {
    const password = textField(request.body, "current_password", PASSWORD_FIELD_MAX);
    await own.erase(request, password, request.visitor);
    return { cookie: "" };
  },
});
