import { ACCOUNT_STATES, type SoughtAccounts } from "../../accounts/accounts-store.ts";
import { type Account, ACCOUNT_TIERS } from "../../accounts/accounts-store.ts";
import { SERVICE } from "../../accounts/audit.ts";
import { readLimits } from "../../accounts/admission/tiers.ts";
import { type Credits, GRANT_MAX, REASON_MAX } from "../../accounts/credits.ts";
import { keyJson } from "../../accounts/keys.ts";
import { checkPassword } from "../../accounts/sign-in/sign-up.ts";
import { shownPart } from "../../base/health.ts";
import { badField, notFound, notNow } from "../../base/refusals.ts";
import type { Shares } from "../../base/shares.ts";
import { isoTime } from "../../core/calendar.ts";
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
import { adminAccount, shownAudit } from "./present.ts";
import {
  admin,
  type AccountContext,
  type AccountRoute,
  boundedNumber,
  emailField,
  type Reader,
  flagField,
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

const limitedResources = (shares: Shares): Described<typeof Cockpit>["held_back"] =>
  [...shares.figures("look")]
    .map(([resource, { refused, waiting, owners }]) => ({
      resource,
      refused: refused.owner + refused.all,
      waiting,
      owners,
    }))
    .filter(({ refused, waiting }) => refused + waiting > 0)
    .toSorted((a, b) => b.refused - a.refused);

async function subjectOf({ id, accounts }: AccountContext): Promise<Account> {
  const account = await accounts.find(id);
  if (account === undefined) throw notFound();
  return account;
}

const noted = ({ accounts, note }: AccountContext) => accounts.by(note);

const tierField = wordField(ACCOUNT_TIERS, "There is no plan of that name.");

const signUpField = wordField(["open", "closed"], '"signup" must be "open" or "closed".');

/** A whole number; null for no limit, and absent where the plan's counts. */
const limitField: Reader<number | null | undefined> = (value, name) =>
  value === undefined || value === null ? value : wholeField(value, name);

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
  { resetLinks, info }: AccountContext,
): Promise<Described<typeof ResetLink>> {
  const { token, expiresAtMs } = await resetLinks.make(account);
  const link = `${info.publicUrl()}/new-password#${encodeURIComponent(token)}`;
  return { link, expires_at: isoTime(expiresAtMs) };
}

/** Unknown words narrow nothing. */
function soughtIn(query: AccountContext["query"]): SoughtAccounts {
  const tier = ACCOUNT_TIERS.find((name) => name === query["tier"]);
  const state = ACCOUNT_STATES.find((name) => name === query["state"]);
  return {
    text: (query["q"] ?? "").trim().slice(0, SOUGHT_MAX),
    ...(tier !== undefined && { tier }),
    ...(state !== undefined && { state }),
  };
}

export const adminRoutes: readonly AccountRoute[] = [
  admin("GET admin/cockpit", { answer: Cockpit }, async (context) => {
    const length = boundedNumber(context.query["days"], COCKPIT_DAYS);
    const { days, top } = await context.usage.everyone(length);
    const named = top.map(async ({ owner, units, requests }) => {
      const [kind, id = ""] = owner.split(":");
      const account = kind === "account" ? await context.accounts.find(id) : undefined;
      return { name: account?.email ?? null, units, requests };
    });
    return {
      days,
      top: await Promise.all(named),
      held_back: limitedResources(context.shares),
    };
  }),
  admin("GET admin/audit", { answer: AuditEntries }, async (context) => ({
    entries: (await context.auditLog.newest(AUDIT_MAX)).map(shownAudit),
  })),
  admin("GET admin/health", { answer: HealthState, withoutStore: true }, async ({ health }) => {
    const { parts, broken } = await health.state();
    return {
      parts: [...parts],
      broken: broken.map(shownPart),
    };
  }),
  admin("GET admin/system", { answer: SystemState, withoutStore: true }, (context) =>
    context.system(),
  ),
  admin("GET admin/dns-test", { answer: DnsTest, withoutStore: true }, (context) =>
    context.dnsTest(),
  ),
  admin("POST admin/accounts/:id/tier", { body: { tier: tierField } }, async (context) => {
    const { id } = await subjectOf(context);
    await noted(context).setTier(id, context.body.tier);
  }),
  admin(
    "POST admin/accounts/:id/credits",
    { body: { amount: wholeField, reason: textField(REASON_MAX) }, answer: Balance },
    async (context) => {
      const { amount, reason } = context.body;
      const { id } = await subjectOf(context);
      const answer = await context.credits.by(context.note).grant(id, amount, reason);
      if (answer.kind !== "granted") throw creditRefusal(answer);
      return { balance: answer.balance };
    },
  ),
  admin("POST admin/accounts/:id/disable", {}, async (context) => {
    const { id } = await subjectOf(context);
    if (id === context.account.id) throw notNow("You cannot switch yourself off.");
    await noted(context).disable(id);
  }),
  admin("POST admin/accounts/:id/enable", {}, async (context) => {
    const { id } = await subjectOf(context);
    await noted(context).enable(id);
  }),
  admin(
    "POST admin/accounts/:id/password",
    { confirmed: true, body: { password: passwordField } },
    async (context) => {
      const { id, email } = await subjectOf(context);
      checkPassword(context.body.password, email);
      await noted(context).setPassword(id, context.body.password);
    },
  ),
  admin("GET admin/accounts", { answer: AdminAccounts }, async (context) => {
    const page = boundedNumber(context.query["page"], PAGES);
    const sought = { ...soughtIn(context.query), skip: (page - 1) * PAGE_SIZE };
    const { accounts, total } = await context.accounts.search(sought, PAGE_SIZE);
    return { accounts: accounts.map(adminAccount), total, page, page_size: PAGE_SIZE };
  }),
  admin(
    "POST admin/accounts",
    { confirmed: true, body: { email: emailField, tier: tierField }, answer: ResetLink },
    async (context) => {
      const { email, tier } = context.body;
      const order = { email, tier, origin: "operator", isAdmin: false } as const;
      const answer = await noted(context).create(order);
      if (answer.kind === "email_taken") throw notNow("An account has this address already.");
      if (answer.kind !== "created") throw badField("That is not a valid email address.");
      return await linkFor(answer.account, context);
    },
  ),
  admin("GET admin/accounts/:id", { answer: AdminAccountPage }, async (context) => {
    const account = await subjectOf(context);
    const [days, allowance, keys] = await Promise.all([
      context.usage.days(account, boundedNumber(context.query["days"], USAGE_DAYS)),
      context.usage.allowance(account),
      context.keys.list(account.id),
    ]);
    return {
      account: adminAccount(account),
      days,
      allowance,
      keys: keys.map(keyJson).reverse(),
    };
  }),
  admin(
    "POST admin/accounts/:id/reset-link",
    { confirmed: true, answer: ResetLink },
    async (context) => {
      const account = await subjectOf(context);
      await context.note({ action: "account.reset_link", accountId: account.id });
      return await linkFor(account, context);
    },
  ),
  admin(
    "POST admin/accounts/:id/promote",
    { confirmed: true, answer: PromotedJson },
    async (context) => {
      const account = await subjectOf(context);
      if (account.isAdmin) return undefined;
      return (await noted(context).promote(account.id))?.takenOver;
    },
  ),
  admin("POST admin/accounts/:id/limits", { body: LIMIT_FIELDS }, async (context) => {
    const { id } = await subjectOf(context);
    const limits = readLimits(context.body);
    if (typeof limits === "string") throw badField(`${limits}.`);
    await noted(context).setLimits(id, limits);
  }),
  admin(
    "POST admin/accounts/:id/email",
    { confirmed: true, body: { email: emailField } },
    async (context) => {
      const { id } = await subjectOf(context);
      const answer = await noted(context).setEmail(id, context.body.email);
      if (answer === "taken") throw notNow("An account has this address already.");
      if (answer === "bad_email") throw badField("That is not a valid email address.");
    },
  ),
  admin("POST admin/accounts/:id/second-factor-off", { confirmed: true }, async (context) => {
    const { id } = await subjectOf(context);
    await noted(context).endSecondFactor(id);
  }),
  admin("POST admin/accounts/:id/unlock", {}, async (context) => {
    const { id } = await subjectOf(context);
    await context.guesses.forget(id, context.note);
  }),
  admin("POST admin/accounts/:id/delete", { confirmed: true }, async (context) => {
    const { id } = await subjectOf(context);
    if (id === context.account.id) throw notNow("Delete your own account on the page Settings.");
    await noted(context).erase(id);
  }),
  admin("POST admin/accounts/:id/demote", {}, async (context) => {
    const { id, account: own } = context;
    if (id === own.id) throw notNow("You cannot take your own administrator rights away.");
    if (!(await noted(context).demote(id))) throw notFound();
  }),
  admin(
    "POST admin/forget",
    { confirmed: true, body: { email: emailField, delete: flagField }, answer: ForgetReport },
    async (context) => {
      const { body, forgetting, note } = context;
      return await forgetPerson(forgetting, body.email, !body.delete, note);
    },
  ),
  admin("GET admin/signup", { answer: SignUpState }, async ({ signUps }) => ({
    signup: await signUps.mode(),
    fixed: signUps.isFixed,
  })),
  admin("POST admin/signup", { body: { signup: signUpField } }, async (context) => {
    const { signup } = context.body;
    const { signUps } = context;
    if (signUps.isFixed) throw notNow("GATEPOST_SIGNUP decides. Unset it to switch sign-up here.");
    await signUps.set(signup);
    await context.note({ action: "sign_ups.switched", accountId: SERVICE, detail: signup });
  }),
  admin("GET admin/lists", { answer: Sources }, async ({ refresh }) => ({
    sources: (await refresh.status()).map(statusJson),
  })),
  admin(
    "POST admin/lists/refresh",
    { body: { accept: optional(textsField(SOURCES_MAX)) }, answer: Outcomes },
    async ({ body: { accept = [] }, note, refresh }) => {
      const known = new Set((await refresh.status()).map(({ id }) => id));
      if (!accept.every((id) => known.has(id))) throw badField("That is not one of the lists.");
      const outcomes = await refreshBy(note, refresh, accept);
      const nulls = { why: null, detail: null };
      return { outcomes: outcomes.map((outcome) => ({ ...nulls, ...outcome })) };
    },
  ),
];
