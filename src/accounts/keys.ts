import { badField, notNow } from "../base/refusals.ts";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import { DEFAULT_NAME } from "../core/policy/default-policy.ts";
import { isReservedName } from "../core/reserved-name.ts";
import type { Notices } from "../store/notices.ts";
import type { AuditAction, Note } from "./audit.ts";
import { type ApiKey, type Keys, PAGE_DAILY, type PageTerms } from "./key-store.ts";
import { hashApiKey, makeApiKey, shownParts } from "./key-text.ts";

interface KeyServiceDeps {
  readonly note?: Note;
  readonly notices?: Pick<Notices, "tell">;
  readonly keys: Keys;
  readonly ids: Ids;
  readonly clock: Pick<Clock, "nowMs">;
}

const KEYS_MAX = 100;

const KEY_NAME_MAX = 100;

interface NewKey {
  readonly key: ApiKey;
  readonly apiKey: string;
}

/** What is absent is the standard. */
export interface NewPage {
  readonly origins: readonly string[];
  readonly policy?: string | undefined;
  readonly form?: string | undefined;
  readonly daily?: number | undefined;
}

const UNFIT = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

const ORIGINS_MAX = 20;

function originsMistake(origins: readonly string[]): string | undefined {
  if (origins.length === 0 || origins.length > ORIGINS_MAX) {
    return `A publishable key needs 1 to ${String(ORIGINS_MAX)} origins.`;
  }
  const wrong = origins.find((origin) => !isOrigin(origin));
  if (wrong === undefined) return undefined;
  return `${JSON.stringify(wrong.slice(0, 100))} is not an origin: write https://shop.example, without a path or a pattern.`;
}

function isOrigin(text: string): boolean {
  const isPlain = /^https?:\/\/(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d+)?$/.test(text);
  return isPlain && URL.canParse(text) && new URL(text).origin === text;
}

const FORM_MAX = 64;

function pageMistake({ origins, form = "page", daily = PAGE_DAILY }: NewPage): string | undefined {
  const mistake = originsMistake(origins);
  if (mistake !== undefined) return mistake;
  if (form.trim() === "" || form.length > FORM_MAX || UNFIT.test(form)) {
    return `The form's label must be one line of 1 to ${String(FORM_MAX)} characters.`;
  }
  if (isReservedName(form.trim())) return "The form's label is a reserved name. Choose another.";
  const isCount = Number.isInteger(daily) && daily >= 1 && daily <= 1_000_000_000;
  return isCount ? undefined : "The daily allowance must be a whole number from 1.";
}

const noPolicy = (name = ""): string =>
  `The account has no policy ${JSON.stringify(name.slice(0, 100))}. Save it first.`;

const termsOf = ({ policy = DEFAULT_NAME, form, daily = PAGE_DAILY }: NewPage): PageTerms => ({
  policy,
  ...(form !== undefined && { form: form.trim() }),
  daily,
});

function nameIn(text: string): string {
  const name = text.trim();
  const isFit =
    name !== "" && name.length <= KEY_NAME_MAX && !UNFIT.test(name) && !isReservedName(name);
  if (isFit) return name;
  const most = String(KEY_NAME_MAX);
  throw badField(
    `A key needs a name: one line of at most ${most} characters, and no reserved one.`,
  );
}

export class KeyService {
  readonly #deps: KeyServiceDeps;

  constructor(deps: KeyServiceDeps) {
    this.#deps = deps;
  }

  by(note: Note): KeyService {
    return new KeyService({ ...this.#deps, note });
  }

  /** Makes a key of an account that exists. With `page` it is a publishable one, which works from its origins alone. Throws a `Refusal`. */
  async create(accountId: string, text: string, page?: NewPage): Promise<NewKey> {
    const { keys, ids, clock } = this.#deps;
    const name = nameIn(text);
    const mistake = page && pageMistake(page);
    if (mistake !== undefined) throw badField(mistake);
    const apiKey = makeApiKey(ids, page === undefined ? "secret" : "publishable");
    const terms = page && termsOf(page);
    const key: ApiKey = {
      id: ids.hex32(),
      account_id: accountId,
      name,
      ...shownParts(apiKey),
      created_at_ms: clock.nowMs(),
      last_used_at_ms: null,
      revoked_at_ms: null,
      origins: page === undefined ? null : JSON.stringify(page.origins),
      page: terms === undefined ? null : JSON.stringify(terms),
    };
    const made = await keys.create({ ...key, key_hash: hashApiKey(apiKey) }, KEYS_MAX);
    if (made === "no_policy") throw badField(noPolicy(terms?.policy));
    if (made === "full") {
      throw notNow(`An account has at most ${String(KEYS_MAX)} keys. Revoke one first.`);
    }
    await this.#note("key.created", key);
    return { key, apiKey };
  }

  list(accountId: string): Promise<readonly ApiKey[]> {
    return this.#deps.keys.list(accountId);
  }

  find(keyId: string): Promise<ApiKey | undefined> {
    return this.#deps.keys.find(keyId);
  }

  async rename(keyId: string, text: string): Promise<void> {
    await this.#deps.keys.rename(keyId, nameIn(text));
    await this.#note("key.renamed", await this.find(keyId));
  }

  /** Revokes a key for good: every server refuses it within 5 s. Returns false when there is no such key. */
  async revoke(keyId: string): Promise<boolean> {
    const { keys, clock, notices } = this.#deps;
    const key = await this.find(keyId);
    if (key === undefined) return false;
    await keys.revoke(keyId, clock.nowMs());
    notices?.tell("accounts");
    if (key.revoked_at_ms === null) await this.#note("key.revoked", key);
    return true;
  }

  async #note(action: AuditAction, key: ApiKey | undefined): Promise<void> {
    if (key === undefined) return;
    await this.#deps.note?.({ action, accountId: key.account_id, detail: key.name });
  }
}
