import { randomBytes } from "node:crypto";
import { addressKey, parseAddress, trimEntry } from "../core/address/address.ts";
import { isCommonPassword } from "../core/tables/data.ts";
import { limitsJson } from "./admission/tiers.ts";
import type { AuditAction, Note } from "./audit.ts";
import type { AccountDirectory, EndedAccess } from "./account-directory.ts";
import {
  type Account,
  type AccountLimits,
  type AccountTier,
  type AccountChange,
  type Accounts,
} from "./accounts-store.ts";
import { type OwnerKey, accountKey } from "../base/owner.ts";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Notices } from "../store/notices.ts";
import type { Passwords } from "./sign-in/passwords.ts";
import type { SignIns } from "./sign-in/sign-ins.ts";
import { adminTierKept, badField } from "../base/refusals.ts";

interface AccountServiceDeps {
  readonly note?: Note;
  readonly notices?: Pick<Notices, "tell">;
  readonly accounts: Accounts;
  readonly directory: Pick<AccountDirectory, "endAccess" | "erase">;
  readonly passwords: Pick<Passwords, "hash">;
  readonly sessions: Pick<SignIns, "endAll">;
  readonly ids: Ids;
  readonly clock: Pick<Clock, "nowMs">;
}

export interface AccountOrder {
  readonly email: string;
  readonly tier: AccountTier;
  readonly origin: Account["origin"];
  readonly isAdmin: boolean;
  readonly password?: string;
  /** Who asks for it; absent: the operator. */
  readonly by?: OwnerKey;
}

type AccountAnswer =
  | { readonly kind: "created"; readonly account: Account }
  | { readonly kind: "bad_email" }
  | { readonly kind: "email_taken" }
  | { readonly kind: "bad_password"; readonly mistake: string };

/** Characters of a password. The upper bound keeps hashing cheap to ask for. */
const PASSWORD_MIN = 10;
export const PASSWORD_MAX = 1_000;

const ADMIN_TIER: AccountTier = "pro";

const PAGE = 500;

export interface Promoted {
  /** What became of an account that a sign-up made; absent for others. */
  readonly takenOver?: EndedAccess & { readonly password: string };
}

type SetPassword =
  "changed" | "no_account" | { readonly kind: "bad_password"; readonly mistake: string };

export interface AccountService {
  /** The same service, which notes its changes. */
  by(note: Note): AccountService;
  create(order: AccountOrder): Promise<AccountAnswer>;
  find(idOrEmail: string): Promise<Account | undefined>;
  all(): AsyncIterable<readonly Account[]>;
  /** False when no such account exists; so below. Takes effect within 5 s. Refuses less than Pro for administrators. */
  setTier(id: string, tier: AccountTier): Promise<boolean>;
  /** Its keys are answered 403 within 5 s. The time of the first disabling is not kept. */
  disable(id: string): Promise<boolean>;
  enable(id: string): Promise<boolean>;
  /**
   * The dashboard's pages for administrators, and the plan Pro; in force with the next request. Whoever signed up may not
   * own the address: an account of a sign-up gets a new password, `given` or made, and loses its second factor, keys, hooks and webhook.
   */
  promote(id: string, given?: string): Promise<Promoted | undefined>;
  demote(id: string): Promise<boolean>;
  /** In place of the plan's numbers; none: back to the plan. */
  setLimits(id: string, limits: AccountLimits): Promise<boolean>;
  /** False when there was none. */
  endSecondFactor(id: string): Promise<boolean>;
  /** Deletes the account and everything kept under it but the audit log. */
  erase(id: string): Promise<boolean>;
  setEmail(id: string, email: string): Promise<"changed" | "taken" | "bad_email">;
  /** Signs every browser out but the one of `keptSession`: so an account is taken back from a thief. */
  setPassword(id: string, password: string, keptSession?: string): Promise<SetPassword>;
}

/** The e-mail address as accounts are known by it; undefined when the text is not one. */
export function accountEmail(text: string): string | undefined {
  const address = parseAddress(trimEntry(text));
  return address.ok ? addressKey(address.value) : undefined;
}

const newPassword = (): string => randomBytes(18).toString("base64url");

export function passwordMistake(password: string, email: string): string | undefined {
  if (password.length < PASSWORD_MIN) {
    return `The password needs at least ${String(PASSWORD_MIN)} characters.`;
  }
  if (password.length > PASSWORD_MAX) return "The password is too long.";
  if (password.includes("\0")) return "The password must not contain the character NUL.";
  const [localPart = "", domain = ""] = email.trim().toLowerCase().split("@");
  const bare = password.trim().toLowerCase();
  const own = [`${localPart}@${domain}`, `${localPart}${domain}`, domain];
  const isName = localPart !== "" && bare.replace(/[^a-z]+$/, "") === localPart;
  if (own.includes(bare) || isName) {
    return "The password must not be the e-mail address.";
  }
  if (new Set(bare).size < 4) {
    return "The password repeats the same few characters. Choose another.";
  }
  if (isCommonPassword(bare)) return "The password is one of the commonest. Choose another.";
  return undefined;
}

async function create(deps: AccountServiceDeps, order: AccountOrder): Promise<AccountAnswer> {
  const { origin, isAdmin, password } = order;
  const tier = isAdmin ? ADMIN_TIER : order.tier;
  const email = accountEmail(order.email);
  if (email === undefined) return { kind: "bad_email" };
  const mistake = password === undefined ? undefined : passwordMistake(password, email);
  if (mistake !== undefined) return { kind: "bad_password", mistake };
  const passwordHash =
    password === undefined ? undefined : await deps.passwords.hash(password, order.by);
  const account = await deps.accounts.create({
    id: deps.ids.hex32(),
    email,
    tier,
    origin,
    isAdmin,
    createdAtMs: deps.clock.nowMs(),
    ...(passwordHash !== undefined && { passwordHash }),
  });
  if (account === undefined) return { kind: "email_taken" };
  const detail = `${tier}${isAdmin ? ", administrator" : ""}`;
  await deps.note?.({ action: "account.created", accountId: account.id, detail });
  return { kind: "created", account };
}

async function setPassword(
  { accounts, passwords, sessions, note }: AccountServiceDeps,
  id: string,
  password: string,
  keptSession?: string,
): Promise<SetPassword> {
  const mistake = passwordMistake(password, (await accounts.find(id))?.email ?? "");
  if (mistake !== undefined) return { kind: "bad_password", mistake };
  const password_hash = await passwords.hash(password, accountKey(id));
  if (!(await accounts.change(id, { password_hash }))) return "no_account";
  await sessions.endAll(id, keptSession);
  await note?.({ action: "account.password", accountId: id });
  return "changed";
}

async function takeOver(
  deps: AccountServiceDeps,
  { id }: Account,
  given?: string,
): Promise<NonNullable<Promoted["takenOver"]>> {
  const password = given ?? newPassword();
  const answer = await setPassword(deps, id, password);
  if (typeof answer === "object") throw badField(answer.mistake);
  const ended = await deps.directory.endAccess(id, deps.clock.nowMs());
  deps.notices?.tell("policies"); // hooks too
  deps.notices?.tell("webhooks");
  await deps.note?.({ action: "account.access_ended", accountId: id, detail: endedWords(ended) });
  return { ...ended, password };
}

/** "2 keys, 1 hook, 1 webhook" */
export const endedWords = ({ keys, hooks, webhooks }: EndedAccess): string =>
  Object.entries({ key: keys, hook: hooks, webhook: webhooks })
    .map(([word, count]) => `${String(count)} ${word}${count === 1 ? "" : "s"}`)
    .join(", ");

async function* pages(accounts: Accounts): AsyncIterable<readonly Account[]> {
  let page = await accounts.list("", PAGE);
  while (page.length > 0) {
    yield page;
    page = await accounts.list(page.at(-1)?.email ?? "", PAGE);
  }
}

/** What a key's holder is known by: others must not go on believing the old. */
async function changed(
  { notices, note }: AccountServiceDeps,
  isChanged: boolean,
  change: Parameters<Note>[0],
): Promise<boolean> {
  if (isChanged) {
    notices?.tell("accounts");
    await note?.(change);
  }
  return isChanged;
}

async function setEmail(deps: AccountServiceDeps, id: string, text: string) {
  const { accounts } = deps;
  const email = accountEmail(text);
  if (email === undefined) return "bad_email";
  const known = await accounts.find(email);
  if (known !== undefined && known.id !== id) return "taken";
  try {
    const isChanged = await accounts.change(id, { email });
    await changed(deps, isChanged, { action: "account.email", accountId: id });
    return "changed";
  } catch (fault) {
    if ((await accounts.find(email)) !== undefined) return "taken";
    throw fault;
  }
}

export function createAccountService(deps: AccountServiceDeps): AccountService {
  const { accounts, directory, clock } = deps;
  const change = async (
    accountId: string,
    what: AccountChange,
    action: AuditAction,
    detail?: string,
  ) => changed(deps, await accounts.change(accountId, what), { action, accountId, detail });
  return {
    by: (noted) => createAccountService({ ...deps, note: noted }),
    create: (order) => create(deps, order),
    find: (idOrEmail) => {
      const text = idOrEmail.trim();
      return accounts.find(accountEmail(text) ?? text.toLowerCase());
    },
    all: () => pages(accounts),
    async setTier(id, tier) {
      const known = await accounts.find(id);
      if (known?.isAdmin === true && tier !== ADMIN_TIER) throw adminTierKept();
      return await change(id, { tier }, "account.tier", `${known?.tier ?? ""} to ${tier}`);
    },
    disable: (id) => change(id, { disabled_at_ms: clock.nowMs() }, "account.disabled"),
    enable: (id) => change(id, { disabled_at_ms: null }, "account.enabled"),
    async promote(id, given) {
      const known = await accounts.find(id);
      if (known === undefined) return undefined;
      const isStrange = known.origin === "signup" && !known.isAdmin;
      const takenOver = isStrange ? await takeOver(deps, known, given) : undefined;
      await change(id, { admin: 1, tier: ADMIN_TIER }, "account.promoted");
      return takenOver === undefined ? {} : { takenOver };
    },
    demote: (id) => change(id, { admin: 0 }, "account.demoted"),
    setLimits(id, limits) {
      const shown = Object.entries(limitsJson(limits)).map(([name, n]) => `${name} ${n ?? "none"}`);
      const kept = Object.keys(limits).length === 0 ? null : JSON.stringify(limits);
      const detail = shown.join(", ") || "those of the plan";
      return change(id, { limits: kept }, "account.limits", detail);
    },
    async endSecondFactor(id) {
      const has = (await accounts.find(id))?.secondFactor !== undefined;
      return has && (await change(id, { second_factor: null }, "account.second_factor", "off"));
    },
    erase: async (id) =>
      changed(deps, await directory.erase(id), { action: "account.deleted", accountId: id }),
    setEmail: (id, text) => setEmail(deps, id, text),
    setPassword: (id, password, keptSession) => setPassword(deps, id, password, keptSession),
  };
}
