import { ACCOUNT_STATES, type SoughtAccounts } from "../../accounts/accounts-store.ts";
import { type Account, ACCOUNT_TIERS } from "../../accounts/accounts-store.ts";
import { SERVICE } from "../../accounts/audit.ts";
import { readLimits } from "../../accounts/admission/tiers.ts";
import { LATENCY_EDGES_MS } from "../../accounts/admission/usage.ts";
import { type Credits, GRANT_MAX, REASON_MAX } from "../../accounts/credits.ts";
import { keyJson } from "../../accounts/keys.ts";
import { checkPassword } from "../../accounts/sign-in/sign-up.ts";
import { badField, notFound, notNow } from "../../base/refusals.ts";
import type { Shares } from "../../base/shares.ts";
import { dayOf, isoTime } from "../../core/calendar.ts";
import type { Described } from "../../core/json-schema.ts";
import { forgetPerson } from "../../gate/forget-person.ts";
import { ForgetReport } from "../../gate/gate-shapes.ts";
import { refreshBy } from "../../lists/feed-refresher.ts";
import { statusJson } from "../../lists/rules/entry-json.ts";
import {
  AdminAccountPage,
  AdminAccounts,
  AuditEntries,
  Balance,
  Cockpit,
  DnsTest,
  HealthState,
  Outcomes,
  PromotedJson,
  ResetLink,
  SignUpState,
  Sources,
  SystemState,
} from "./shapes.ts";
import type { DashboardContext, SignedInRequest } from "./context.ts";
import { adminAccount, shownAudit } from "./present.ts";
import {
  admin,
  type AccountRoute,
  boundedNumber,
  confirm,
  CONFIRMED,
  emailField,
  flagField,
  limitField,
  optional,
  passwordField,
  textField,
  textsField,
  wholeField,
  wordField,
} from "./route.ts";

const AUDIT_MAX = 200;
const COCKPIT_DAYS = { standard: 14, max: 90 };
const PAGE_SIZE = 50;
const PAGES = { standard: 1, max: 100_000 };
const USAGE_DAYS = { standard: 30, max: 400 };
const SOUGHT_MAX = 320;
const SOURCES_MAX = 20;

const heldBackIn = (shares: Shares): Described<typeof Cockpit>["held_back"] =>
  [...shares.figures("look")]
    .map(([resource, { refused, waiting, owners }]) => ({
      resource,
      refused: refused.owner + refused.all,
      waiting,
      owners,
    }))
    .filter(({ refused, waiting }) => refused + waiting > 0)
    .toSorted((a, b) => b.refused - a.refused);

async function subjectOf(
  { id }: Pick<SignedInRequest, "id">,
  { accounts }: DashboardContext,
): Promise<Account> {
  const account = await accounts.find(id);
  if (account === undefined) throw notFound();
  return account;
}

const tierField = wordField(ACCOUNT_TIERS, "There is no plan of that name.");

const signUpField = wordField(["open", "closed"], '"signup" must be "open" or "closed".');

const LIMIT_FIELDS = {
  rate_per_minute: limitField,
  daily: limitField,
  monthly: limitField,
  bulk_limit: limitField,
};

type RefusedGrant = Exclude<Awaited<ReturnType<Credits["grant"]>>, { kind: "granted" }>;

function creditRefusal(answer: RefusedGrant): Error {
  switch (answer.kind) {
    case "no_account":
      return notFound();
    case "out_of_range":
      return notNow(
        `The account has ${String(answer.balance)} credits; the balance stays at 0 or more.`,
      );
    case "bad_amount":
      return badField(
        `The amount is a whole number that is not 0, at most ${GRANT_MAX.toLocaleString("en-US")}.`,
      );
    case "bad_reason":
      return badField(`The reason is one line of at most ${String(REASON_MAX)} characters.`);
  }
}

async function linkFor(
  account: Account,
  { resetLinks, info }: DashboardContext,
): Promise<Described<typeof ResetLink>> {
  const { token, expiresAtMs } = await resetLinks.make(account);
  const link = `${info.publicUrl()}/new-password#${encodeURIComponent(token)}`;
  return { link, expires_at: isoTime(expiresAtMs) };
}

/** Unknown words narrow nothing. */
function soughtIn(query: SignedInRequest["query"]): SoughtAccounts {
  const tier = ACCOUNT_TIERS.find((name) => name === query["tier"]);
  const state = ACCOUNT_STATES.find((name) => name === query["state"]);
  return {
    text: (query["q"] ?? "").trim().slice(0, SOUGHT_MAX),
    ...(tier !== undefined && { tier }),
    ...(state !== undefined && { state }),
  };
}

export const adminRoutes: readonly AccountRoute[] = [
  admin("GET admin/cockpit", { answer: Cockpit }, async ({ query }, context) => {
    const length = boundedNumber(query["days"], COCKPIT_DAYS);
    const { days, top } = await context.usage.everyone(length);
    const today = dayOf(context.clock.nowMs());
    const verdicts = await context.verdicts.sums(today - length + 1);
    const named = top.map(async ({ owner, units, requests }) => {
      const [kind, id = ""] = owner.split(":");
      const account = kind === "account" ? await context.accounts.find(id) : undefined;
      return { name: account?.email ?? null, units, requests };
    });
    return {
      days,
      latency_edges_ms: [...LATENCY_EDGES_MS],
      top: await Promise.all(named),
      verdicts,
      held_back: heldBackIn(context.shares),
    };
  }),
  admin("GET admin/audit", { answer: AuditEntries }, async (_request, context) => ({
    entries: (await context.auditLog.newest(AUDIT_MAX)).map(shownAudit),
  })),
  admin(
    "GET admin/health",
    { answer: HealthState, withoutStore: true },
    async (_request, { health }) => {
      const { parts, broken } = await health.state();
      return {
        parts: [...parts],
        broken: broken.map(({ part, says, toDo, sinceMs, stops }) => {
          return { part, says, to_do: toDo, since: isoTime(sinceMs), stops };
        }),
      };
    },
  ),
  admin("GET admin/system", { answer: SystemState, withoutStore: true }, (_request, context) =>
    context.system(),
  ),
  admin("GET admin/dns-test", { answer: DnsTest, withoutStore: true }, (_request, context) =>
    context.dnsTest(),
  ),
  admin("POST admin/accounts/:id/tier", { body: { tier: tierField } }, async (request, context) => {
    const { id } = await subjectOf(request, context);
    await context.accounts.by(request.note).setTier(id, request.body.tier);
  }),
  admin(
    "POST admin/accounts/:id/credits",
    {
      body: { amount: wholeField, reason: textField(REASON_MAX, { maxLength: REASON_MAX }) },
      answer: Balance,
    },
    async (request, context) => {
      const { amount, reason } = request.body;
      const { id } = await subjectOf(request, context);
      const credits = context.credits.by(request.note);
      const answer = await credits.grant(id, amount, reason);
      if (answer.kind !== "granted") throw creditRefusal(answer);
      return { balance: answer.balance };
    },
  ),
  admin("POST admin/accounts/:id/disable", {}, async (request, context) => {
    const { id } = await subjectOf(request, context);
    if (id === request.account.id) throw notNow("You cannot switch yourself off.");
    await context.accounts.by(request.note).disable(id);
  }),
  admin("POST admin/accounts/:id/enable", {}, async (request, context) => {
    const { id } = await subjectOf(request, context);
    await context.accounts.by(request.note).enable(id);
  }),
  admin(
    "POST admin/accounts/:id/password",
    { body: { password: passwordField, ...CONFIRMED } },
    async (request, context) => {
      const { id, email } = await subjectOf(request, context);
      await confirm(request, context);
      const { password } = request.body;
      checkPassword(password, email);
      await context.accounts.by(request.note).setPassword(id, password);
    },
  ),
  admin("GET admin/accounts", { answer: AdminAccounts }, async ({ query }, context) => {
    const page = boundedNumber(query["page"], PAGES);
    const sought = { ...soughtIn(query), skip: (page - 1) * PAGE_SIZE };
    const { accounts, total } = await context.accounts.search(sought, PAGE_SIZE);
    return { accounts: accounts.map(adminAccount), total, page, page_size: PAGE_SIZE };
  }),
  admin(
    "POST admin/accounts",
    { body: { email: emailField, tier: tierField, ...CONFIRMED }, answer: ResetLink },
    async (request, context) => {
      const { email, tier } = request.body;
      await confirm(request, context);
      const noted = context.accounts.by(request.note);
      const answer = await noted.create({ email, tier, origin: "operator", isAdmin: false });
      if (answer.kind === "email_taken") throw notNow("An account has this address already.");
      if (answer.kind !== "created") throw badField("That is not a valid email address.");
      return await linkFor(answer.account, context);
    },
  ),
  admin("GET admin/accounts/:id", { answer: AdminAccountPage }, async (request, context) => {
    const account = await subjectOf(request, context);
    const [days, allowance, keys] = await Promise.all([
      context.usage.days(account, boundedNumber(request.query["days"], USAGE_DAYS)),
      context.usage.allowance(account),
      context.keys.list(account.id),
    ]);
    return {
      account: adminAccount(account),
      days,
      latency_edges_ms: [...LATENCY_EDGES_MS],
      allowance,
      keys: keys.map(keyJson).reverse(),
    };
  }),
  admin(
    "POST admin/accounts/:id/reset-link",
    { body: CONFIRMED, answer: ResetLink },
    async (request, context) => {
      const account = await subjectOf(request, context);
      await confirm(request, context);
      await request.note({ action: "account.reset_link", accountId: account.id });
      return await linkFor(account, context);
    },
  ),
  admin(
    "POST admin/accounts/:id/promote",
    { body: CONFIRMED, answer: PromotedJson },
    async (request, context) => {
      const account = await subjectOf(request, context);
      await confirm(request, context);
      if (account.isAdmin) return undefined;
      const noted = context.accounts.by(request.note);
      return (await noted.promote(account.id))?.takenOver;
    },
  ),
  admin("POST admin/accounts/:id/limits", { body: LIMIT_FIELDS }, async (request, context) => {
    const { id } = await subjectOf(request, context);
    const limits = readLimits(request.body);
    if (typeof limits === "string") throw badField(`${limits}.`);
    await context.accounts.by(request.note).setLimits(id, limits);
  }),
  admin(
    "POST admin/accounts/:id/email",
    { body: { email: emailField, ...CONFIRMED } },
    async (request, context) => {
      const { id } = await subjectOf(request, context);
      await confirm(request, context);
      const noted = context.accounts.by(request.note);
      const answer = await noted.setEmail(id, request.body.email);
      if (answer === "taken") throw notNow("An account has this address already.");
      if (answer === "bad_email") throw badField("That is not a valid email address.");
    },
  ),
  admin(
    "POST admin/accounts/:id/second-factor-off",
    { body: CONFIRMED },
    async (request, context) => {
      const { id } = await subjectOf(request, context);
      await confirm(request, context);
      await context.accounts.by(request.note).endSecondFactor(id);
    },
  ),
  admin("POST admin/accounts/:id/unlock", {}, async (request, context) => {
    const { id } = await subjectOf(request, context);
    await context.guesses.forget(id, request.note);
  }),
  admin("POST admin/accounts/:id/delete", { body: CONFIRMED }, async (request, context) => {
    const { id } = await subjectOf(request, context);
    if (id === request.account.id) throw notNow("Delete your own account on the page Settings.");
    await confirm(request, context);
    await context.accounts.by(request.note).erase(id);
  }),
  admin("POST admin/accounts/:id/demote", {}, async ({ id, account, note }, context) => {
    if (id === account.id) throw notNow("You cannot take your own administrator rights away.");
    if (!(await context.accounts.by(note).demote(id))) throw notFound();
  }),
  admin(
    "POST admin/forget",
    { body: { email: emailField, delete: flagField, ...CONFIRMED }, answer: ForgetReport },
    async (request, context) => {
      await confirm(request, context);
      const { email, delete: isDelete } = request.body;
      return await forgetPerson(context.forgetting, email, !isDelete, request.note);
    },
  ),
  admin("GET admin/signup", { answer: SignUpState }, async (_request, { signUps }) => ({
    signup: await signUps.mode(),
    fixed: signUps.isFixed,
  })),
  admin("POST admin/signup", { body: { signup: signUpField } }, async (request, { signUps }) => {
    const { signup } = request.body;
    if (signUps.isFixed) throw notNow("GATEPOST_SIGNUP decides. Unset it to switch sign-up here.");
    await signUps.turn(signup);
    await request.note({ action: "sign_ups.switched", accountId: SERVICE, detail: signup });
  }),
  admin("GET admin/lists", { answer: Sources }, async (_request, { refresh }) => ({
    sources: (await refresh.status()).map(statusJson),
  })),
  admin(
    "POST admin/lists/refresh",
    { body: { accept: optional(textsField(SOURCES_MAX)) }, answer: Outcomes },
    async ({ body: { accept = [] }, note }, { refresh }) => {
      const known = new Set((await refresh.status()).map(({ id }) => id));
      if (!accept.every((id) => known.has(id))) throw badField("That is not one of the lists.");
      const outcomes = await refreshBy(note, refresh, accept);
      const nulls = { why: null, detail: null };
      return { outcomes: outcomes.map((outcome) => ({ ...nulls, ...outcome })) };
    },
  ),
];
