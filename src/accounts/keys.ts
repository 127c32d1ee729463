import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import { DEFAULT_NAME } from "../core/policy/default-policy.ts";
import { type ApiKey, type Keys, PAGE_DAILY, type PageTerms } from "./admission/keys.ts";
import type { Notices } from "../store/notices.ts";
import { hashApiKey, makeApiKey, shownParts } from "./admission/api-key.ts";

export interface KeyServiceDeps {
  /** Gets a notice of each change; absent: others notice within 5 s. */
  readonly notices?: Pick<Notices, "tell">;
  readonly keys: Keys;
  readonly ids: Ids;
  readonly clock: Pick<Clock, "nowMs">;
}

/** Valid keys that an account may have. */
export const KEYS_MAX = 100;

/** Characters of a key's name. */
export const KEY_NAME_MAX = 100;

export type KeyAnswer =
  /** The only time that the key itself is seen. */
  | { readonly kind: "created"; readonly key: ApiKey; readonly apiKey: string }
  | { readonly kind: "bad_name" }
  /** `mistake`: which one and why. */
  | { readonly kind: "bad_page"; readonly mistake: string }
  | { readonly kind: "too_many" };

export interface NewPage extends Partial<PageTerms> {
  readonly origins: readonly string[];
}

export interface KeyService {
  /** For an account that exists. With `page` a publishable key, which works from its origins alone. */
  create(accountId: string, name: string, page?: NewPage): Promise<KeyAnswer>;
  /** Oldest first, revoked ones included. */
  list(accountId: string): Promise<readonly ApiKey[]>;
  /** By its id, revoked or not. */
  find(keyId: string): Promise<ApiKey | undefined>;
  /** Replaces the origins of a publishable key: the mistake in them, or undefined when it is done. */
  setOrigins(keyId: string, origins: readonly string[]): Promise<string | undefined>;
  /** Refused everywhere within 5 s, for good. False when there is no such key. */
  revoke(keyId: string): Promise<boolean>;
}

/** Names are shown in terminals and tables: one line, nothing invisible. */
const UNFIT = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Origins of one publishable key. */
const ORIGINS_MAX = 20;

/** What is wrong with the origins; undefined for nothing. */
function originsMistake(origins: readonly string[]): string | undefined {
  if (origins.length === 0 || origins.length > ORIGINS_MAX) {
    return `A publishable key needs 1 to ${String(ORIGINS_MAX)} origins.`;
  }
  const wrong = origins.find((origin) => !isOrigin(origin));
  if (wrong === undefined) return undefined;
  return `${JSON.stringify(wrong.slice(0, 100))} is not an origin: write https://shop.example, without a path or a pattern.`;
}

/** As a browser writes it: scheme, host and a port that is not the scheme's own, all in lower case. */
function isOrigin(text: string): boolean {
  const isPlain = /^https?:\/\/(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d+)?$/.test(text);
  return isPlain && URL.canParse(text) && new URL(text).origin === text;
}

/** Characters of a form's label. */
const FORM_MAX = 64;
const DAILY_MAX = 1_000_000_000;

function pageMistake({ origins, form = "page", daily = PAGE_DAILY }: NewPage): string | undefined {
  const mistake = originsMistake(origins);
  if (mistake !== undefined) return mistake;
  if (form.trim() === "" || form.length > FORM_MAX || UNFIT.test(form)) {
    return `The form's label must be one line of 1 to ${String(FORM_MAX)} characters.`;
  }
  const isCount = Number.isInteger(daily) && daily >= 1 && daily <= DAILY_MAX;
  return isCount ? undefined : "The daily allowance must be a whole number from 1.";
}

const noPolicy = (name = ""): string =>
  `The account has no policy ${JSON.stringify(name.slice(0, 100))}.`;

const termsOf = ({ policy = DEFAULT_NAME, form, daily = PAGE_DAILY }: NewPage): PageTerms => ({
  policy,
  ...(form !== undefined && { form: form.trim() }),
  daily,
});

export function createKeyService({ keys, ids, clock, notices }: KeyServiceDeps): KeyService {
  return {
    async create(accountId, text, page) {
      const name = text.trim();
      if (name === "" || name.length > KEY_NAME_MAX || UNFIT.test(name))
        return { kind: "bad_name" };
      const mistake = page && pageMistake(page);
      if (mistake !== undefined) return { kind: "bad_page", mistake };
      const apiKey = makeApiKey(ids, page === undefined ? "secret" : "publishable");
      const id = ids.hex32();
      const key: ApiKey = {
        id,
        accountId,
        name,
        ...shownParts(apiKey),
        createdAtMs: clock.nowMs(),
        ...(page !== undefined && { origins: page.origins, page: termsOf(page) }),
      };
      const made = await keys.create({ ...key, hash: hashApiKey(apiKey) }, KEYS_MAX);
      if (made === "no_policy") return { kind: "bad_page", mistake: noPolicy(key.page?.policy) };
      return made === "created" ? { kind: "created", key, apiKey } : { kind: "too_many" };
    },
    list: (accountId) => keys.list(accountId),
    find: (keyId) => keys.find(keyId),
    async setOrigins(keyId, origins) {
      const mistake = originsMistake(origins);
      if (mistake !== undefined) return mistake;
      if (!(await keys.setOrigins(keyId, origins))) return "The key is not a publishable one.";
      notices?.tell("accounts");
      return undefined;
    },
    async revoke(keyId) {
      const isRevoked = await keys.revoke(keyId, clock.nowMs());
      if (isRevoked) notices?.tell("accounts");
      return isRevoked;
    },
  };
}
