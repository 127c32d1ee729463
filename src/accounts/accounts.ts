import { randomBytes } from "node:crypto";
import { addressKey, parseAddress, trimEntry } from "../core/address/address.ts";
import { isCommonPassword } from "../core/tables/data.ts";
import type {
  Account,
  AccountChange,
  AccountLimits,
  Accounts,
  AccountTier,
  EndedAccess,
  FoundAccounts,
  SoughtAccounts,
} from "./accounts-store.ts";
import { type OwnerKey, accountKey } from "../base/owner.ts";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import { limitsJson } from "./admission/tiers.ts";
import type { AuditAction, Note } from "./audit.ts";
import type { Notices } from "../store/notices.ts";
import type { Passwords } from "./sign-in/passwords.ts";
import type { SignIns } from "./sign-in/sign-ins.ts";
import { adminTierKept, badField, notNow, type Refusal } from "../base/refusals.ts";

interface AccountServiceDeps {
  readonly note?: Note;
  readonly notices?: Pick<Notices, "tell">;
  readonly accounts: Accounts;
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
  readonly by?: OwnerKey;
}

type AccountAnswer =
  { readonly kind: "created"; readonly account: Account } | { readonly kind: "email_taken" };

export const emailTaken = (): Refusal => notNow("An account has this address already.");

/** Characters of a password. The upper bound keeps hashing cheap to ask for. */
const PASSWORD_MIN = 10;
export const PASSWORD_MAX = 1_000;

const ADMIN_TIER: AccountTier = "pro";

const PAGE = 500;

export interface Promoted {
  readonly takenOver?: EndedAccess & { readonly password: string };
}

/** The e-mail address as accounts are known by it; undefined when the text is not one. */
export function accountEmail(text: string): string | undefined {
  const address = parseAddress(trimEntry(text));
  return address.ok ? addressKey(address.value) : undefined;
}

/** The address as accounts are known by it, where it is one and the password may be its. Throws a `Refusal`. */
export function checkAccount(text: string, password: string | undefined): string {
  const email = accountEmail(text);
  if (email === undefined) throw badField("That is not a valid email address.");
  if (password !== undefined) checkPassword(password, email);
  return email;
}

function checkPassword(password: string, email: string): void {
  if (password.length < PASSWORD_MIN) {
    throw badField(`The password needs at least ${String(PASSWORD_MIN)} characters.`);
  }
  if (password.length > PASSWORD_MAX) throw badField("The password is too long.");
  if (password.includes("\0")) {
    throw badField("The password must not contain the character NUL.");
  }
  const [localPart = "", domain = ""] = email.trim().toLowerCase().split("@");
  const bare = password.trim().toLowerCase();
  const own = [`${localPart}@${domain}`, `${localPart}${domain}`, domain];
  const isName = localPart !== "" && bare.replace(/[^a-z]+$/, "") === localPart;
  if (own.includes(bare) || isName) throw badField("The password must not be the e-mail address.");
  if (new Set(bare).size < 4) {
    throw badField("The password repeats the same few characters. Choose another.");
  }
  if (isCommonPassword(bare)) {
    throw badField("The password is one of the commonest. Choose another.");
  }
}

/** What the operator, administrators and owners do with accounts. Changes take effect within 5 s; false: there is no such account. */
export class AccountService {
  readonly #deps: AccountServiceDeps;
  readonly #accounts: Accounts;

  constructor(deps: AccountServiceDeps) {
    this.#deps = deps;
    this.#accounts = deps.accounts;
  }

  by(note: Note): AccountService {
    return new AccountService({ ...this.#deps, note });
  }

  async create(order: AccountOrder): Promise<AccountAnswer> {
    const { origin, isAdmin, password, by } = order;
    const email = checkAccount(order.email, password);
    const { passwords, ids, clock, note } = this.#deps;
    const tier = isAdmin ? ADMIN_TIER : order.tier;
    const account = await this.#accounts.create({
      id: ids.hex32(),
      email,
      tier,
      origin,
      admin: isAdmin ? 1 : 0,
      ...(password !== undefined && { password_hash: await passwords.hash(password, by) }),
      created_at_ms: clock.nowMs(),
    });
    if (account === undefined) return { kind: "email_taken" };
    const detail = `${tier}${isAdmin ? ", administrator" : ""}`;
    await note?.({ action: "account.created", accountId: account.id, detail });
    return { kind: "created", account };
  }

  find(idOrEmail: string): Promise<Account | undefined> {
    const text = idOrEmail.trim();
    return this.#accounts.find(accountEmail(text) ?? text.toLowerCase());
  }

  search(sought: SoughtAccounts, limit: number): Promise<FoundAccounts> {
    return this.#accounts.search(sought, limit);
  }

  async *all(): AsyncIterable<readonly Account[]> {
    let page = await this.#accounts.list("", PAGE);
    while (page.length > 0) {
      yield page;
      page = await this.#accounts.list(page.at(-1)?.email ?? "", PAGE);
    }
  }

  async setTier(id: string, tier: AccountTier): Promise<boolean> {
    const known = await this.#accounts.find(id);
    if (known?.isAdmin === true && tier !== ADMIN_TIER) throw adminTierKept();
    return await this.#change(id, { tier }, "account.tier", `${known?.tier ?? ""} to ${tier}`);
  }

  disable(id: string): Promise<boolean> {
    return this.#change(id, { disabled_at_ms: this.#deps.clock.nowMs() }, "account.disabled");
  }

  enable(id: string): Promise<boolean> {
    return this.#change(id, { disabled_at_ms: null }, "account.enabled");
  }

  /** Gives the dashboard's pages for administrators and the plan Pro. What a sign-up made is taken over first. */
  async promote(id: string): Promise<Promoted | undefined> {
    const known = await this.#accounts.find(id);
    if (known === undefined) return undefined;
    const takenOver = known.isAdmin ? undefined : await this.takeOver(known);
    await this.#change(id, { admin: 1, tier: ADMIN_TIER }, "account.promoted");
    return takenOver === undefined ? {} : { takenOver };
  }

  demote(id: string): Promise<boolean> {
    return this.#change(id, { admin: 0 }, "account.demoted");
  }

  /** The numbers stand in place of the plan's; with none the plan's hold again. */
  setLimits(id: string, limits: AccountLimits): Promise<boolean> {
    const shown = Object.entries(limitsJson(limits)).map(([name, n]) => `${name} ${n ?? "none"}`);
    const kept = Object.keys(limits).length === 0 ? null : JSON.stringify(limits);
    const detail = shown.join(", ") || "those of the plan";
    return this.#change(id, { limits: kept }, "account.limits", detail);
  }

  async endSecondFactor(id: string): Promise<boolean> {
    const has = (await this.#accounts.find(id))?.secondFactor !== undefined;
    return has && (await this.#change(id, { second_factor: null }, "account.second_factor", "off"));
  }

  async erase(id: string): Promise<boolean> {
    return this.#changed(await this.#accounts.erase(id), id, "account.deleted");
  }

  async setEmail(id: string, text: string): Promise<void> {
    const email = checkAccount(text, undefined);
    const known = await this.#accounts.find(email);
    if (known !== undefined && known.id !== id) throw emailTaken();
    try {
      await this.#change(id, { email }, "account.email");
    } catch (fault) {
      throw (await this.#accounts.find(email)) === undefined ? fault : emailTaken();
    }
  }

  /** Signs every browser out but the one of `keptSession`: so an account is taken back from a thief. */
  async setPassword(id: string, password: string, keptSession?: string): Promise<boolean> {
    const { passwords, sessions, note } = this.#deps;
    const known = await this.#accounts.find(id);
    if (known === undefined) return false;
    checkPassword(password, known.email);
    const password_hash = await passwords.hash(password, accountKey(id));
    if (!(await this.#accounts.change(id, { password_hash }))) return false;
    await sessions.endAll(id, keptSession);
    await note?.({ action: "account.password", accountId: id });
    return true;
  }

  /**
   * Whoever signed up may not own the address. Once somebody does for sure, the account gets a new password, `given` or made,
   * and loses its sessions, second factor, keys, hooks and webhook. Undefined for accounts that no sign-up made.
   */
  async takeOver({ id, origin }: Account, given?: string): Promise<Promoted["takenOver"]> {
    if (origin !== "signup") return undefined;
    const { clock, notices, note } = this.#deps;
    const password = given ?? randomBytes(18).toString("base64url");
    await this.setPassword(id, password);
    const ended = await this.#accounts.endAccess(id, clock.nowMs());
    notices?.tell("accounts");
    notices?.tell("policies"); // hooks too
    notices?.tell("webhooks");
    await note?.({ action: "account.access_ended", accountId: id, detail: endedWords(ended) });
    return { ...ended, password };
  }

  async #change(
    id: string,
    what: AccountChange,
    action: AuditAction,
    detail?: string,
  ): Promise<boolean> {
    return this.#changed(await this.#accounts.change(id, what), id, action, detail);
  }

  /** Other processes must not go on believing what a key's holder was known by. */
  async #changed(
    isChanged: boolean,
    accountId: string,
    action: AuditAction,
    detail?: string,
  ): Promise<boolean> {
    if (!isChanged) return false;
    this.#deps.notices?.tell("accounts");
    await this.#deps.note?.({ action, accountId, detail });
    return true;
  }
}

export const endedWords = ({ keys, hooks, webhooks }: EndedAccess): string =>
  Object.entries({ key: keys, hook: hooks, webhook: webhooks })
    .map(([word, count]) => `${String(count)} ${word}${count === 1 ? "" : "s"}`)
    .join(", ");
