import { type AccountService, emailTaken } from "../../accounts/accounts.ts";
import { ACCOUNT_STATES, type SoughtAccounts } from "../../accounts/accounts-store.ts";
import { type Account, ACCOUNT_TIERS } from "../../accounts/accounts-store.ts";
import { SERVICE } from "../../accounts/audit.ts";
import { readLimits } from "../../accounts/admission/tiers.ts";
import { REASON_MAX } from "../../accounts/credits.ts";
import { keyJson } from "../../accounts/key-json.ts";
import { shownPart } from "../../base/health.ts";
import { badField, notFound, notNow } from "../../base/refusals.ts";
import { isoTime } from "../../core/calendar.ts";
import type { Awaitable } from "../../core/mail/lookup.ts";
import { findPerson, forgetAgain, forgetPerson } from "../../gate/forget-person.ts";
import { refreshBy } from "../../lists/feed-refresher.ts";
import { statusJson } from "../../lists/rules/entry-json.ts";
import { adminAccount, shownAudit } from "./present.ts";
import {
  admin,
  type AccountRequest,
  boundedNumber,
  type DashboardServices,
  emailField,
  type Reader,
  type RouteAnswer,
  flagField,
  optional,
  passwordField,
  type SignedInRequest,
  bodyText,
  textsField,
  wholeField,
  wordField,
} from "./route.ts";

const PAGE_SIZE = 50;

/** Works on the account of the path. */
const onAccount =
  <Body, Answer extends RouteAnswer>(
    work: (
      account: Account,
      services: DashboardServices,
      request: SignedInRequest<Body>,
    ) => Awaitable<Answer>,
  ) =>
  async (services: DashboardServices, request: SignedInRequest<Body>) => {
    const account = await services.accounts.find(request.id);
    if (account === undefined) throw notFound();
    return work(account, services, request);
  };

/** Changes the account of the path, and answers nothing. */
const changing = <Body>(
  change: (
    accounts: AccountService,
    account: Account,
    request: SignedInRequest<Body>,
  ) => Promise<unknown>,
) =>
  onAccount(async (account, services, request: SignedInRequest<Body>) => {
    await change(noted(services, request), account, request);
  });

const noted = ({ accounts }: DashboardServices, { note }: SignedInRequest) => accounts.by(note);

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

async function linkFor({ resetLinks, info }: DashboardServices, account: Account) {
  const { token, expiresAtMs } = await resetLinks.make(account);
  const link = `${info.publicUrl()}/new-password#${encodeURIComponent(token)}`;
  return { link, expires_at: isoTime(expiresAtMs) };
}

function soughtIn(query: AccountRequest["query"]): SoughtAccounts {
  const tier = ACCOUNT_TIERS.find((name) => name === query["tier"]);
  const state = ACCOUNT_STATES.find((name) => name === query["state"]);
  return {
    text: (query["q"] ?? "").trim().slice(0, 320),
    ...(tier !== undefined && { tier }),
    ...(state !== undefined && { state }),
  };
}

export const adminRoutes = [
  admin("GET admin/cockpit", {}, async (services, { query }) => {
    const { accounts, usage } = services;
    const { days, top } = await usage.everyone(
      boundedNumber(query["days"], { standard: 14, max: 90 }),
    );
    const named = top.map(async ({ owner, units, requests }) => {
      const [kind, id = ""] = owner.split(":");
      const account = kind === "account" ? await accounts.find(id) : undefined;
      // Null: an address without a key, or a deleted account.
      return { name: account?.email ?? null, units, requests };
    });
    return { days, top: await Promise.all(named) };
  }),
  admin("GET admin/audit", {}, async ({ auditLog }) => ({
    entries: (await auditLog.page({ limit: 200 })).rows.map(shownAudit),
  })),
  admin("GET admin/health", { withoutStore: true }, async ({ health }) => {
    const { parts, broken } = await health.state();
    return { parts, broken: broken.map(shownPart) };
  }),
  admin("GET admin/system", { withoutStore: true }, ({ system }) => system()),
  admin("GET admin/dns-test", { withoutStore: true }, ({ dnsTest }) => dnsTest()),
  admin(
    "POST admin/accounts/:id/tier",
    { body: { tier: tierField } },
    changing((accounts, { id }, { body: { tier } }) => accounts.setTier(id, tier)),
  ),
  admin(
    "POST admin/accounts/:id/credits",
    { body: { amount: wholeField, reason: bodyText(REASON_MAX) } },
    onAccount(async ({ id }, { credits }, { body: { amount, reason }, note }) => ({
      balance: await credits.by(note).grant(id, amount, reason),
    })),
  ),
  admin(
    "POST admin/accounts/:id/disable",
    {},
    changing((accounts, { id }, { account: own }) => {
      if (id === own.id) throw notNow("You cannot switch yourself off.");
      return accounts.disable(id);
    }),
  ),
  admin(
    "POST admin/accounts/:id/enable",
    {},
    changing((accounts, { id }) => accounts.enable(id)),
  ),
  admin(
    "POST admin/accounts/:id/password",
    { confirmed: true, body: { password: passwordField } },
    changing((accounts, { id }, { body: { password } }) => accounts.setPassword(id, password)),
  ),
  admin("GET admin/accounts", {}, async (services, { query }) => {
    const page = boundedNumber(query["page"], { standard: 1, max: 100_000 });
    const sought = { ...soughtIn(query), skip: (page - 1) * PAGE_SIZE };
    const { accounts, total } = await services.accounts.search(sought, PAGE_SIZE);
    return { accounts: accounts.map(adminAccount), total, page, page_size: PAGE_SIZE };
  }),
  admin(
    "POST admin/accounts",
    { confirmed: true, body: { email: emailField, tier: tierField } },
    async (services, request) => {
      const order = { ...request.body, origin: "operator", isAdmin: false } as const;
      const answer = await noted(services, request).create(order);
      if (answer.kind === "email_taken") throw emailTaken();
      return await linkFor(services, answer.account);
    },
  ),
  admin(
    "GET admin/accounts/:id",
    {},
    onAccount(async (account, { usage, keys }, { query }) => {
      const known = await keys.list(account.id);
      return {
        account: adminAccount(account),
        days: await usage.days(account, boundedNumber(query["days"], { standard: 30, max: 400 })),
        allowance: await usage.allowance(account),
        keys: known.map(keyJson).reverse(),
      };
    }),
  ),
  admin(
    "POST admin/accounts/:id/reset-link",
    { confirmed: true },
    onAccount(async (account, services, { note }) => {
      await note({ action: "account.reset_link", accountId: account.id });
      return await linkFor(services, account);
    }),
  ),
  admin(
    "POST admin/accounts/:id/promote",
    { confirmed: true },
    onAccount(async ({ id, isAdmin }, services, request) =>
      isAdmin ? undefined : (await noted(services, request).promote(id))?.takenOver,
    ),
  ),
  admin(
    "POST admin/accounts/:id/limits",
    { body: LIMIT_FIELDS },
    changing((accounts, { id }, { body }) => {
      const limits = readLimits(body);
      if (typeof limits === "string") throw badField(`${limits}.`);
      return accounts.setLimits(id, limits);
    }),
  ),
  admin(
    "POST admin/accounts/:id/email",
    { confirmed: true, body: { email: emailField } },
    changing((accounts, { id }, { body: { email } }) => accounts.setEmail(id, email)),
  ),
  admin(
    "POST admin/accounts/:id/second-factor-off",
    { confirmed: true },
    changing((accounts, { id }) => accounts.endSecondFactor(id)),
  ),
  admin(
    "POST admin/accounts/:id/delete",
    { confirmed: true },
    changing((accounts, { id }, { account: own }) => {
      if (id === own.id) throw notNow("Delete your own account on the page Settings.");
      return accounts.erase(id);
    }),
  ),
  admin("POST admin/accounts/:id/demote", {}, async (services, request) => {
    const { id, account: own } = request;
    if (id === own.id) throw notNow("You cannot take your own administrator rights away.");
    if (!(await noted(services, request).demote(id))) throw notFound();
  }),
  admin(
    "POST admin/forget",
    { confirmed: true, body: { email: emailField, delete: flagField } },
    async ({ forgetting }, { body: { email, delete: isSure }, note }) => {
      if (!isSure) return findPerson(forgetting, email, true);
      const report = await forgetPerson(forgetting, email, note);
      forgetAgain(forgetting, email);
      return report;
    },
  ),
  admin("GET admin/signup", {}, async ({ signUps }) => ({
    signup: await signUps.mode(),
    fixed: signUps.isFixed,
  })),
  admin("POST admin/signup", { body: { signup: signUpField } }, async ({ signUps }, request) => {
    const { signup } = request.body;
    if (signUps.isFixed) throw notNow("GATEPOST_SIGNUP decides. Unset it to switch sign-up here.");
    await signUps.set(signup);
    await request.note({ action: "sign_ups.switched", accountId: SERVICE, detail: signup });
  }),
  admin("GET admin/lists", {}, async ({ refresh }) => ({
    sources: (await refresh.status()).map(statusJson),
  })),
  admin(
    "POST admin/lists/refresh",
    { body: { accept: optional(textsField(20)) } },
    async ({ refresh }, { body: { accept = [] }, note }) => {
      const known = new Set((await refresh.status()).map(({ id }) => id));
      if (!accept.every((id) => known.has(id))) throw badField("That is not one of the lists.");
      const outcomes = await refreshBy(note, refresh, accept);
      const nulls = { why: null, detail: null };
      return { outcomes: outcomes.map((outcome) => ({ ...nulls, ...outcome })) };
    },
  ),
];
