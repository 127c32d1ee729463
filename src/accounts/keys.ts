import { createHash } from "node:crypto";
import type { AuditAction, Note } from "./audit.ts";
import type { Key } from "./key-json.ts";
import { type CompiledQuery, type Kysely, sql as raw } from "kysely";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import { isoTime, isoTimeOrNull } from "../core/calendar.ts";
import { isReservedName } from "../core/reserved-name.ts";
import { DEFAULT_NAME } from "../core/policy/default-policy.ts";
import { isLivePolicy, lockPolicies } from "../store/live-policy.ts";
import { changeRows, countRows, findRow, insertRow, keepNewest } from "../store/rows.ts";
import type { Notices } from "../store/notices.ts";
import type { AccountRow, ApiKeyRow, Database } from "../store/schema.ts";
import { inTransaction, type Tx } from "../store/transaction.ts";
import { type Account, account } from "./accounts-store.ts";
import { crc32 } from "node:zlib";

/** What a page must not choose: it is fixed with its publishable key. */
export interface PageTerms {
  readonly policy: string;
  readonly form?: string;
  /** Decisions of a UTC day that may cost a unit. */
  readonly daily: number;
}

const PAGE_DAILY = 2_000;

export type ApiKey = Omit<ApiKeyRow, "key_hash">;

export interface KeyHolder {
  readonly keyId: string;
  readonly account: Account;
  readonly origins?: readonly string[];
  readonly page?: PageTerms;
}

const SHOWN = [
  ...(["id", "account_id", "name", "prefix", "last_four", "created_at_ms"] as const),
  ...(["last_used_at_ms", "revoked_at_ms", "origins", "page"] as const),
];

type PageColumns = Pick<ApiKeyRow, "origins" | "page">;

const originsOf = ({ origins, page }: PageColumns): Pick<KeyHolder, "origins" | "page"> => {
  if (origins === null) return {};
  const terms = page === null ? STANDARD : (JSON.parse(page) as PageTerms);
  return { origins: JSON.parse(origins) as readonly string[], page: terms };
};

const STANDARD: PageTerms = { policy: DEFAULT_NAME, daily: PAGE_DAILY };

type KeyMade = "created" | "full" | "no_policy";

/** Revoked keys of an account that stay listed. With all of them each look at the list would cost as much as was ever made. */
const REVOKED_KEPT = 100;

async function createIn(tx: Tx, key: ApiKeyRow, limit: number): Promise<KeyMade> {
  const { sql } = tx;
  const { account_id: id, page } = key;
  // Touching the account's row lets its keys be made one after the other (PostgreSQL).
  await changeRows(sql, "accounts", { id }, { id });
  const inForce = sql
    .selectFrom("api_keys")
    .where("account_id", "=", id)
    .where("revoked_at_ms", "is", null);
  if ((await countRows(inForce)) >= limit) return "full";
  if (page !== null) {
    await lockPolicies(tx, id);
    const { policy: name } = JSON.parse(page) as PageTerms;
    if (!(await isLivePolicy(sql, { accountId: id, name }))) return "no_policy";
  }
  const only = raw`revoked_at_ms is not null`;
  await keepNewest(tx, "api_keys", id, REVOKED_KEPT, { column: "revoked_at_ms", only });
  await insertRow(sql, "api_keys", key);
  return "created";
}

type HolderRow = AccountRow & PageColumns & { readonly key_id: string };

/** Built once: every key in use is asked for every few seconds. The parameter is the hash. */
function holderQuery(db: Kysely<Database>): CompiledQuery<HolderRow> {
  return db
    .selectFrom("api_keys")
    .innerJoin("accounts", "accounts.id", "api_keys.account_id")
    .select(["api_keys.id as key_id", "api_keys.origins", "api_keys.page"]) // first, as in `find` of session-store.ts
    .selectAll("accounts")
    .where("api_keys.revoked_at_ms", "is", null)
    .where("api_keys.key_hash", "=", "")
    .compile();
}

/** Keys of accounts, found by their hash. Rules are checked by `test/contracts/account/accounts.ts`. */
export class Keys {
  readonly #db: Kysely<Database>;
  readonly #holder: CompiledQuery<HolderRow>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
    this.#holder = holderQuery(db);
  }

  /** Changes nothing if the account has `limit` active keys, or no such policy. Keeps the newest 100 revoked keys. */
  create(key: ApiKeyRow, limit: number): Promise<KeyMade> {
    return inTransaction(this.#db, (tx) => createIn(tx, key, limit));
  }

  list(accountId: string): Promise<readonly ApiKey[]> {
    const all = this.#db.selectFrom("api_keys").select(SHOWN).where("account_id", "=", accountId);
    return all.orderBy("created_at_ms").orderBy("id").execute();
  }

  find(id: string): Promise<ApiKey | undefined> {
    return this.#db.selectFrom("api_keys").select(SHOWN).where("id", "=", id).executeTakeFirst();
  }

  async holder(hash: string): Promise<KeyHolder | undefined> {
    const { rows } = await this.#db.executeQuery<HolderRow>({
      ...this.#holder,
      parameters: [hash],
    });
    const [row] = rows;
    return row && { keyId: row.key_id, account: account(row), ...originsOf(row) };
  }

  /** The first revocation stands. False when there is no such key. */
  async revoke(id: string, nowMs: number): Promise<boolean> {
    await changeRows(this.#db, "api_keys", { id, revoked_at_ms: null }, { revoked_at_ms: nowMs });
    return (await findRow(this.#db, "api_keys", { id })) !== undefined;
  }

  async setOrigins(id: string, origins: readonly string[]): Promise<boolean> {
    const publishable = this.#db.updateTable("api_keys").where("origins", "is not", null);
    const columns = { origins: JSON.stringify(origins) };
    const { numUpdatedRows } = await publishable
      .set(columns)
      .where("id", "=", id)
      .executeTakeFirst();
    return Number(numUpdatedRows) === 1;
  }

  async rename(id: string, name: string): Promise<void> {
    await changeRows(this.#db, "api_keys", { id }, { name });
  }

  /** One statement a key, as the database prepares each text; in order, so that no two processes wait for each other. */
  async touch(ids: readonly string[], nowMs: number): Promise<void> {
    if (ids.length === 0) return;
    await inTransaction(this.#db, async ({ sql }) => {
      for (const id of ids.toSorted()) {
        const key = sql.updateTable("api_keys").set({ last_used_at_ms: nowMs });
        const isNews = raw<boolean>`(last_used_at_ms is null or last_used_at_ms < ${nowMs})`;
        await key.where("id", "=", id).where(isNews).execute();
      }
    });
  }
}

interface KeyServiceDeps {
  readonly note?: Note;
  readonly notices?: Pick<Notices, "tell">;
  readonly keys: Keys;
  readonly ids: Ids;
  readonly clock: Pick<Clock, "nowMs">;
}

export const KEYS_MAX = 100;

export const KEY_NAME_MAX = 100;

type KeyAnswer =
  | { readonly kind: "created"; readonly key: ApiKey; readonly apiKey: string }
  | { readonly kind: "bad_name" }
  | { readonly kind: "bad_page"; readonly mistake: string }
  | { readonly kind: "too_many" };

export interface NewPage extends Partial<PageTerms> {
  readonly origins: readonly string[];
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

/** As a browser writes it: scheme, host and a port that is not the scheme's own, all in lower case. */
function isOrigin(text: string): boolean {
  const isPlain = /^https?:\/\/(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d+)?$/.test(text);
  return isPlain && URL.canParse(text) && new URL(text).origin === text;
}

const FORM_MAX = 64;
const DAILY_MAX = 1_000_000_000;

function pageMistake({ origins, form = "page", daily = PAGE_DAILY }: NewPage): string | undefined {
  const mistake = originsMistake(origins);
  if (mistake !== undefined) return mistake;
  if (form.trim() === "" || form.length > FORM_MAX || UNFIT.test(form)) {
    return `The form's label must be one line of 1 to ${String(FORM_MAX)} characters.`;
  }
  if (isReservedName(form.trim())) return "The form's label is a reserved name. Choose another.";
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

function nameIn(text: string): string | undefined {
  const name = text.trim();
  const isFit =
    name !== "" && name.length <= KEY_NAME_MAX && !UNFIT.test(name) && !isReservedName(name);
  return isFit ? name : undefined;
}

export class KeyService {
  readonly #deps: KeyServiceDeps;

  constructor(deps: KeyServiceDeps) {
    this.#deps = deps;
  }

  by(note: Note): KeyService {
    return new KeyService({ ...this.#deps, note });
  }

  /** Makes a key of an account that exists. With `page` it is a publishable one, which works from its origins alone. */
  async create(accountId: string, text: string, page?: NewPage): Promise<KeyAnswer> {
    const { keys, ids, clock } = this.#deps;
    const name = nameIn(text);
    if (name === undefined) return { kind: "bad_name" };
    const mistake = page && pageMistake(page);
    if (mistake !== undefined) return { kind: "bad_page", mistake };
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
    if (made === "no_policy") return { kind: "bad_page", mistake: noPolicy(terms?.policy) };
    if (made === "full") return { kind: "too_many" };
    await this.#note("key.created", key);
    return { kind: "created", key, apiKey };
  }

  list(accountId: string): Promise<readonly ApiKey[]> {
    return this.#deps.keys.list(accountId);
  }

  find(keyId: string): Promise<ApiKey | undefined> {
    return this.#deps.keys.find(keyId);
  }

  async rename(keyId: string, text: string): Promise<boolean> {
    const name = nameIn(text);
    if (name === undefined) return false;
    await this.#deps.keys.rename(keyId, name);
    await this.#note("key.renamed", await this.find(keyId));
    return true;
  }

  /** Replaces the origins of a publishable key: the mistake in them, or undefined when it is done. */
  async setOrigins(keyId: string, origins: readonly string[]): Promise<string | undefined> {
    const { keys, notices } = this.#deps;
    const mistake = originsMistake(origins);
    if (mistake !== undefined) return mistake;
    if (!(await keys.setOrigins(keyId, origins))) return "The key is not a publishable one.";
    notices?.tell("accounts");
    await this.#note("key.origins", await this.find(keyId));
    return undefined;
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

/** A key as the commands and the dashboard show it: snake_case, ISO 8601, null for what is absent; never the key itself. */
export function keyJson(key: ApiKey): Key {
  const { origins, page } = originsOf(key);
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    last_four: key.last_four,
    created_at: isoTime(key.created_at_ms),
    last_used_at: isoTimeOrNull(key.last_used_at_ms),
    revoked_at: isoTimeOrNull(key.revoked_at_ms),
    ...(origins !== undefined && { origins }),
    ...page,
  };
}

const SECRET_PREFIX = "gp_live_";
const PUBLISHABLE_PREFIX = "gp_pub_";
const RANDOM_LENGTH = 34;
const CHECKSUM_LENGTH = 6;

const BODY_LENGTH = RANDOM_LENGTH + CHECKSUM_LENGTH;

const SHOWN_PREFIX_LENGTH = 12;
const SHOWN_LAST_LENGTH = 4;

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SHAPE = /^gp_(?:live|pub)_[0-9A-Za-z]{40}$/;

const encoder = new TextEncoder();

/** The CRC-32 of the random part in base 62, most significant digit first; six digits hold 32 bits. */
function checksum(random: string): string {
  let rest = crc32(encoder.encode(random));
  let digits = "";
  for (let count = 0; count < CHECKSUM_LENGTH; count += 1) {
    digits = `${BASE62[rest % 62] ?? ""}${digits}`;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** Bytes from here on are thrown away, so that every character is equally likely. */
const FAIR_BYTES = 248;

function randomText(ids: Ids): string {
  let text = "";
  while (text.length < RANDOM_LENGTH) {
    for (const byte of ids.bytes(RANDOM_LENGTH)) {
      if (byte < FAIR_BYTES && text.length < RANDOM_LENGTH) text += BASE62[byte % 62] ?? "";
    }
  }
  return text;
}

type KeyKind = "secret" | "publishable";

export function makeApiKey(ids: Ids, kind: KeyKind = "secret"): string {
  const random = randomText(ids);
  const prefix = kind === "secret" ? SECRET_PREFIX : PUBLISHABLE_PREFIX;
  return `${prefix}${random}${checksum(random)}`;
}

/** Whether a text can be one of our keys: its shape and its checksum. No secret is compared here. */
export const isApiKey = (text: string): boolean =>
  SHAPE.test(text) &&
  checksum(text.slice(-BODY_LENGTH, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);

export const isPublishableKey = (text: string): boolean => text.startsWith(PUBLISHABLE_PREFIX);

/** What is stored of a key. A plain hash is enough: 202 bits cannot be guessed. */
export const hashApiKey = (key: string): string => createHash("sha256").update(key).digest("hex");

export const shownParts = (key: string): Pick<ApiKey, "prefix" | "last_four"> => ({
  prefix: key.slice(0, SHOWN_PREFIX_LENGTH),
  last_four: key.slice(-SHOWN_LAST_LENGTH),
});
