import { type Account, ACCOUNT_TIERS } from "../../../accounts/accounts-store.ts";
import { LATENCY_EDGES_MS } from "../../../accounts/admission/usage.ts";
import type { Audit, AuditLog } from "../../../accounts/audit.ts";
import { auditedAccounts, auditedCredits } from "../../../gate/audited.ts";
import { checkPassword } from "../../../accounts/sign-in/sign-up.ts";
import type { UsageReader } from "../../../accounts/allowance.ts";
import type { AccountService } from "../../../accounts/accounts.ts";
import { type CreditService, GRANT_MAX, REASON_MAX } from "../../../accounts/credits.ts";
import { badField, notFound, notNow } from "../../../base/refusals.ts";
import { dayOf } from "../../../core/calendar.ts";
import { type Described, Type } from "../../../core/json-schema.ts";
import type { VerdictCounts } from "../../../lists/verdict-counts.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Shares } from "../../../base/shares.ts";
import { boundedNumber, numberField, textField } from "../fields.ts";
import { noteOf } from "../note.ts";
import { confirmOwn } from "./confirm-own.ts";
import type { SignIn } from "../../../accounts/sign-in/sign-in.ts";
import { shownAudit } from "../present.ts";
import { type AccountRoute, answering, done, type SignedInRequest } from "../route.ts";
import { AuditEntries, Balance } from "../shapes.ts";
import { Cockpit, DnsTest, SystemState } from "./admin-shapes.ts";

export interface AdminDeps {
  readonly accounts: AccountService;
  readonly signIn: Pick<SignIn, "isPassword">;
  readonly usage: Pick<UsageReader, "everyone">;
  readonly verdicts: Pick<VerdictCounts, "sums">;
  readonly shares: Pick<Shares, "figures">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly credits: CreditService;
  readonly auditLog: Pick<AuditLog, "newest">;
  readonly audit: Audit;
  readonly system: () => Promise<SystemState>;
  readonly dnsTest: () => Promise<Described<typeof DnsTest>>;
}

const AUDIT_MAX = 200;
const COCKPIT_DAYS = { standard: 14, max: 90 };
const PASSWORD_FIELD_MAX = 2_000;

/** What administrators see and change. */
export function adminRoutes(deps: AdminDeps): readonly AccountRoute[] {
  return [...readingRoutes(deps), tierRoute(deps), creditsRoute(deps), ...switchRoutes(deps)];
}

const readingRoutes = ({
  auditLog,
  system,
  dnsTest,
  usage,
  verdicts,
  shares,
  clock,
  accounts,
}: AdminDeps): readonly AccountRoute[] => [
  answering(Cockpit, {
    method: "GET",
    path: "admin/cockpit",
    for: "admin",
    summary: "Traffic and verdicts of all owners, who used most, who was held back; `days` of them",
    async handle({ query }) {
      const length = boundedNumber(query["days"], COCKPIT_DAYS);
      const { days, top } = await usage.everyone(length);
      const { noMail, noAnswer, ...mix } = await verdicts.sums(dayOf(clock.nowMs()) - length + 1);
      const named = top.map(async ({ owner, units, requests }) => {
        const [kind, id = ""] = owner.split(":");
        const account = kind === "account" ? await accounts.find(id) : undefined;
        return { name: account?.email ?? null, units, requests };
      });
      return {
        days,
        latency_edges_ms: [...LATENCY_EDGES_MS],
        top: await Promise.all(named),
        verdicts: { ...mix, no_mail: noMail, no_answer: noAnswer },
        held_back: heldBackIn(shares),
      };
    },
  }),
  answering(AuditEntries, {
    method: "GET",
    path: "admin/audit",
    for: "admin",
    summary: "The newest changes of all accounts",
    handle: async () => ({ entries: (await auditLog.newest(AUDIT_MAX)).map(shownAudit) }),
  }),
  answering(SystemState, {
    method: "GET",
    path: "admin/system",
    for: "admin",
    summary: "Health and facts of this process",
    handle: async () => await system(),
  }),
  answering(DnsTest, {
    method: "GET",
    path: "admin/dns-test",
    for: "admin",
    summary: "Asks each DNS resolver now: how fast it is, over TCP too, and whether it is truthful",
    handle: async () => await dnsTest(),
  }),
];

function heldBackIn(shares: Pick<Shares, "figures">): Described<typeof Cockpit>["held_back"] {
  return [...shares.figures("look")]
    .map(([resource, { refused, waiting, owners }]) => ({
      resource,
      refused: refused.owner + refused.all,
      waiting,
      owners,
    }))
    .filter(({ refused, waiting }) => refused + waiting > 0)
    .toSorted((a, b) => b.refused - a.refused);
}

async function subjectOf({ id }: SignedInRequest, deps: AdminDeps): Promise<Account> {
  const account = await deps.accounts.find(id);
  if (account === undefined) throw notFound();
  return account;
}

const tierRoute = (deps: AdminDeps): AccountRoute => ({
  method: "POST",
  path: "admin/accounts/:id/tier",
  for: "admin",
  summary: "Change an account's plan",
  body: Type.Object({ tier: Type.Enum(ACCOUNT_TIERS) }),
  async handle(request) {
    const name = textField(request.body, "tier", 50);
    const tier = ACCOUNT_TIERS.find((known) => known === name);
    if (tier === undefined) throw badField(`There is no plan of that name.`);
    const subject = await subjectOf(request, deps);
    await auditedAccounts(deps.accounts, noteOf(request, deps.audit)).setTier(subject.id, tier);
    return done;
  },
});

const creditsRoute = (deps: AdminDeps): AccountRoute =>
  answering(Balance, {
    method: "POST",
    path: "admin/accounts/:id/credits",
    for: "admin",
    summary: "Grant credits, or take some back with a negative amount",
    body: Type.Object({ amount: Type.Integer(), reason: Type.String({ maxLength: REASON_MAX }) }),
    async handle(request) {
      const amount = numberField(request.body, "amount");
      const reason = textField(request.body, "reason", REASON_MAX);
      const subject = await subjectOf(request, deps);
      const credits = auditedCredits(deps.credits, noteOf(request, deps.audit));
      const answer = await credits.grant(subject.id, amount, reason);
      if (answer.kind !== "granted") throw creditRefusal(answer);
      return { balance: answer.balance };
    },
  });

type Refused = Exclude<Awaited<ReturnType<CreditService["grant"]>>, { kind: "granted" }>;

function creditRefusal(answer: Refused): Error {
  switch (answer.kind) {
    case "no_account":
      return notFound();
    case "out_of_range":
      return notNow(
        `The account has ${String(answer.balance)} credits; the balance stays at 0 or more.`,
      );
    case "bad_amount":
      return badField(`The amount is a whole number that is not 0, at most ${String(GRANT_MAX)}.`);
    case "bad_reason":
      return badField(`The reason is one line of at most ${String(REASON_MAX)} characters.`);
  }
}

const switchRoutes = (deps: AdminDeps): readonly AccountRoute[] => [
  {
    method: "POST",
    path: "admin/accounts/:id/disable",
    for: "admin",
    summary: "Switch an account off; its keys are refused within 5 s",
    async handle(request) {
      const subject = await subjectOf(request, deps);
      if (subject.id === request.account.id) throw notNow("You cannot switch yourself off.");
      await auditedAccounts(deps.accounts, noteOf(request, deps.audit)).disable(subject.id);
      return done;
    },
  },
  {
    method: "POST",
    path: "admin/accounts/:id/enable",
    for: "admin",
    summary: "Switch an account on again",
    async handle(request) {
      const subject = await subjectOf(request, deps);
      await auditedAccounts(deps.accounts, noteOf(request, deps.audit)).enable(subject.id);
      return done;
    },
  },
  {
    method: "POST",
    path: "admin/accounts/:id/password",
    for: "admin",
    summary: "Set a new password, which ends every session of the account",
    body: Type.Object({ password: Type.String(), current_password: Type.String() }),
    async handle(request) {
      const subject = await subjectOf(request, deps);
      await confirmOwn(request, deps);
      const password = textField(request.body, "password", PASSWORD_FIELD_MAX);
      checkPassword(password, subject.email);
      await auditedAccounts(deps.accounts, noteOf(request, deps.audit)).setPassword(
        subject.id,
        password,
      );
      return done;
    },
  },
];
