import {
  ACCOUNT_STATES,
  type AccountDirectory,
  type SoughtAccounts,
} from "../../../accounts/account-directory.ts";
import { type Account, ACCOUNT_TIERS } from "../../../accounts/accounts-store.ts";
import type { ResetLinks } from "../../../accounts/reset-links.ts";
import { isoTime } from "../../../core/calendar.ts";
import { LATENCY_EDGES_MS } from "../../../accounts/admission/usage.ts";
import { type AccountService, promoteAccount } from "../../../accounts/accounts.ts";
import type { UsageReader } from "../../../accounts/allowance.ts";
import type { Audit } from "../../../accounts/audit.ts";
import { auditedAccounts } from "../../../gate/audited.ts";
import { keyJson, type KeyService } from "../../../accounts/keys.ts";
import { badField, notFound, notNow } from "../../../base/refusals.ts";
import { boundedNumber, textField } from "../fields.ts";
import { noteOf } from "../note.ts";
import { adminAccount } from "../present.ts";
import { type AccountRoute, answering, done } from "../route.ts";
import { type Described, Type } from "../../../core/json-schema.ts";
import type { SignIn } from "../../../accounts/sign-in/sign-in.ts";
import { confirmOwn } from "./confirm-own.ts";
import { AdminAccountPage, AdminAccounts, Promoted, ResetLink } from "./admin-shapes.ts";

export interface DirectoryDeps {
  readonly directory: Pick<AccountDirectory, "search">;
  readonly accounts: AccountService;
  readonly keys: Pick<KeyService, "list">;
  readonly usage: Pick<UsageReader, "allowance" | "days">;
  readonly audit: Audit;
  readonly signIn: Pick<SignIn, "isPassword">;
  readonly resetLinks: Pick<ResetLinks, "make">;
  readonly info: { readonly publicUrl: () => string };
}

const PAGE_SIZE = 50;
const PAGES = { standard: 1, max: 100_000 };
const USAGE_DAYS = { standard: 30, max: 400 };
const QUERY_MAX = 320;

/** The accounts of this service: pages of them, one of them, and who is an administrator. */
export const directoryRoutes = (deps: DirectoryDeps): readonly AccountRoute[] => [
  listRoute(deps),
  createRoute(deps),
  accountRoute(deps),
  linkRoute(deps),
  ...roleRoutes(deps),
];

/** The page where the owner of the account chooses a password. */
async function linkFor(
  account: Account,
  { resetLinks, info }: DirectoryDeps,
): Promise<Described<typeof ResetLink>> {
  const { token, expiresAtMs } = await resetLinks.make(account);
  const link = `${info.publicUrl()}/new-password#${encodeURIComponent(token)}`;
  return { link, expires_at: isoTime(expiresAtMs) };
}

const createRoute = (deps: DirectoryDeps): AccountRoute =>
  answering(ResetLink, {
    method: "POST",
    path: "admin/accounts",
    for: "admin",
    summary: "Make an account; its owner chooses a password by the one-time link of the answer",
    body: Type.Object({
      email: Type.String(),
      tier: Type.Enum(ACCOUNT_TIERS),
      current_password: Type.String(),
    }),
    async handle(request) {
      const email = textField(request.body, "email", QUERY_MAX);
      const name = textField(request.body, "tier", 50);
      const tier = ACCOUNT_TIERS.find((known) => known === name);
      if (tier === undefined) throw badField("There is no plan of that name.");
      await confirmOwn(request, deps);
      const noted = auditedAccounts(deps.accounts, noteOf(request, deps.audit));
      const answer = await noted.create({ email, tier, origin: "operator", isAdmin: false });
      if (answer.kind === "email_taken") throw notNow("An account has this address already.");
      if (answer.kind !== "created") throw badField("That is not a valid email address.");
      return await linkFor(answer.account, deps);
    },
  });

const linkRoute = (deps: DirectoryDeps): AccountRoute =>
  answering(ResetLink, {
    method: "POST",
    path: "admin/accounts/:id/reset-link",
    for: "admin",
    summary: "Make a one-time link with which the account's owner chooses a new password",
    body: Type.Object({ current_password: Type.String() }),
    async handle(request) {
      const account = await deps.accounts.find(request.id);
      if (account === undefined) throw notFound();
      await confirmOwn(request, deps);
      const note = noteOf(request, deps.audit);
      await note({ action: "account.reset_link", accountId: account.id });
      return await linkFor(account, deps);
    },
  });

/** Unknown words narrow nothing. */
function soughtIn(query: Readonly<Record<string, string | undefined>>): SoughtAccounts {
  const tier = ACCOUNT_TIERS.find((name) => name === query["tier"]);
  const state = ACCOUNT_STATES.find((name) => name === query["state"]);
  return {
    text: (query["q"] ?? "").trim().slice(0, QUERY_MAX),
    ...(tier !== undefined && { tier }),
    ...(state !== undefined && { state }),
  };
}

const listRoute = ({ directory }: DirectoryDeps): AccountRoute =>
  answering(AdminAccounts, {
    method: "GET",
    path: "admin/accounts",
    for: "admin",
    summary: "Accounts whose address or id holds `q`, by `tier` and `state`, 50 a `page`",
    async handle({ query }) {
      const page = boundedNumber(query["page"], PAGES);
      const sought = { ...soughtIn(query), skip: (page - 1) * PAGE_SIZE };
      const { accounts, total } = await directory.search(sought, PAGE_SIZE);
      return { accounts: accounts.map(adminAccount), total, page, page_size: PAGE_SIZE };
    },
  });

const accountRoute = ({ accounts, keys, usage }: DirectoryDeps): AccountRoute =>
  answering(AdminAccountPage, {
    method: "GET",
    path: "admin/accounts/:id",
    for: "admin",
    summary: "One account with its usage of `days`, allowance and keys",
    async handle({ id, query }) {
      const account = await accounts.find(id);
      if (account === undefined) throw notFound();
      const [days, allowance, known] = await Promise.all([
        usage.days(account, boundedNumber(query["days"], USAGE_DAYS)),
        usage.allowance(account),
        keys.list(account.id),
      ]);
      return {
        account: adminAccount(account),
        days,
        latency_edges_ms: [...LATENCY_EDGES_MS],
        allowance,
        keys: known.map(keyJson).reverse(),
      };
    },
  });

const roleRoutes = ({ accounts, audit, signIn }: DirectoryDeps): readonly AccountRoute[] => [
  {
    method: "POST",
    path: "admin/accounts/:id/promote",
    for: "admin",
    summary:
      "Make an account an administrator, with the plan pro; 200 with its new password when a sign-up made it, else 204",
    body: Type.Object({ current_password: Type.String() }),
    answer: Promoted,
    async handle(request) {
      const account = await accounts.find(request.id);
      if (account === undefined) throw notFound();
      await confirmOwn(request, { signIn });
      if (account.isAdmin) return done;
      const noted = auditedAccounts(accounts, noteOf(request, audit));
      const password = await promoteAccount(noted, account);
      return password === undefined ? done : { json: { password } };
    },
  },
  {
    method: "POST",
    path: "admin/accounts/:id/demote",
    for: "admin",
    summary: "Take the administrator rights away; the plan stays",
    async handle(request) {
      if (request.id === request.account.id) {
        throw notNow("You cannot take your own administrator rights away.");
      }
      const noted = auditedAccounts(accounts, noteOf(request, audit));
      if (!(await noted.demote(request.id))) throw notFound();
      return done;
    },
  },
];
