import type { AuditAction, Note } from "./audit.ts";
import type { Key } from "./key-json.ts";
import type { CompiledQuery, Kysely } from "kysely";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import { isoTime, isoTimeOrNull } from "../core/calendar.ts";
import { isReservedName } from "../core/reserved-name.ts";
import { DEFAULT_NAME } from "../core/policy/default-policy.ts";
import { isLivePolicy, lockPolicies } from "../store/live-policy.ts";
import { changeRows, countRows, findRow, insertRow } from "../store/rows.ts";
import type { Notices } from "../store/notices.ts";
import type { AccountRow, ApiKeyRow, Database } from "../store/schema.ts";
import { inTransaction, type Tx } from "../store/transaction.ts";
import { type Account, account } from "./accounts-store.ts";
import { createHash } from "node:crypto";
import { crc32 } from "../core/when.ts";

/** What a page must not choose: it is fixed with its publishable key. */
export interface PageTerms {
  readonly policy: string;
  readonly form?: string;
  /** Decisions of a UTC day that may cost a unit. */
  readonly daily: number;
}

const PAGE_DAILY = 2_000;

/** An API key as it is shown after its making: never the key itself. */
export interface ApiKey {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly prefix: string;
  readonly lastFour: string;
  readonly createdAtMs: number;
  /** To the minute or so; absent: never used. */
  readonly lastUsedAtMs?: number;
  readonly revokedAtMs?: number;
  /** Of a publishable key: where it may be used from. Absent: the key is a secret one. */
  readonly origins?: readonly string[];
  readonly page?: PageTerms;
}

export interface NewApiKey extends Omit<ApiKey, "lastUsedAtMs" | "revokedAtMs"> {
  /** SHA-256 of the whole key, lower-case hex. */
  readonly hash: string;
}

export interface KeyHolder {
  readonly keyId: string;
  readonly account: Account;
  readonly origins?: readonly string[];
  readonly page?: PageTerms;
}

function apiKey(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    prefix: row.prefix,
    lastFour: row.last_four,
    createdAtMs: row.created_at_ms,
    ...(row.last_used_at_ms !== null && { lastUsedAtMs: row.last_used_at_ms }),
    ...(row.revoked_at_ms !== null && { revokedAtMs: row.revoked_at_ms }),
    ...originsOf(row),
  };
}

const originsOf = ({ origins, page }: PageColumns): Pick<ApiKey, "origins" | "page"> => {
  if (origins === null) return {};
  const terms = page === null ? STANDARD : (JSON.parse(page) as PageTerms);
  return { origins: JSON.parse(origins) as readonly string[], page: terms };
};

type PageColumns = Pick<ApiKeyRow, "origins" | "page">;
const STANDARD: PageTerms = { policy: DEFAULT_NAME, daily: PAGE_DAILY };

type KeyMade = "created" | "full" | "no_policy";

async function createIn(tx: Tx, key: NewApiKey, limit: number): Promise<KeyMade> {
  const { sql } = tx;
  // Touching the account's row lets its keys be made one after the other (PostgreSQL).
  await changeRows(sql, "accounts", { id: key.accountId }, { id: key.accountId });
  const inForce = sql
    .selectFrom("api_keys")
    .where("account_id", "=", key.accountId)
    .where("revoked_at_ms", "is", null);
  if ((await countRows(inForce)) >= limit) return "full";
  if (key.page !== undefined) {
    await lockPolicies(tx, key.accountId);
    const named = { accountId: key.accountId, name: key.page.policy };
    if (!(await isLivePolicy(sql, named))) return "no_policy";
  }
  await forgetRevoked(sql, key.accountId);
  await insertRow(sql, "api_keys", newRow(key));
  return "created";
}

/** Revoked keys of an account that stay listed; with all of them each look at the list would cost as much as was ever made. */
const REVOKED_KEPT = 100;

async function forgetRevoked(sql: Tx["sql"], accountId: string): Promise<void> {
  const last = await sql
    .selectFrom("api_keys")
    .select("revoked_at_ms")
    .where("account_id", "=", accountId)
    .where("revoked_at_ms", "is not", null)
    .orderBy("revoked_at_ms", "desc")
    .limit(1)
    .offset(REVOKED_KEPT - 1)
    .executeTakeFirst();
  if (last === undefined) return;
  await sql
    .deleteFrom("api_keys")
    .where("account_id", "=", accountId)
    .where("revoked_at_ms", "<", last.revoked_at_ms)
    .execute();
}

function newRow(key: NewApiKey): ApiKeyRow {
  return {
    id: key.id,
    account_id: key.accountId,
    name: key.name,
    key_hash: key.hash,
    prefix: key.prefix,
    last_four: key.lastFour,
    created_at_ms: key.createdAtMs,
    last_used_at_ms: null,
    revoked_at_ms: null,
    origins: key.origins === undefined ? null : JSON.stringify(key.origins),
    page: key.page === undefined ? null : JSON.stringify(key.page),
  };
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
  create(key: NewApiKey, limit: number): Promise<KeyMade> {
    return inTransaction(this.#db, (tx) => createIn(tx, key, limit));
  }

  async list(accountId: string): Promise<readonly ApiKey[]> {
    const all = this.#db.selectFrom("api_keys").selectAll().orderBy("created_at_ms").orderBy("id");
    return (await all.where("account_id", "=", accountId).execute()).map(apiKey);
  }

  async find(id: string): Promise<ApiKey | undefined> {
    const row = await findRow(this.#db, "api_keys", { id });
    return row && apiKey(row);
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

  /** Replaces the origins of a publishable key. False when there is no such one. */
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

  async touch(ids: readonly string[], nowMs: number): Promise<void> {
    if (ids.length > 0) await inTransaction(this.#db, (tx) => touchIn(tx, ids, nowMs));
  }
}

/** One statement a key, as the database prepares each text; in order, so that no two processes wait for each other. */
async function touchIn({ sql }: Tx, ids: readonly string[], nowMs: number): Promise<void> {
  for (const id of ids.toSorted()) {
    await sql
      .updateTable("api_keys")
      .set({ last_used_at_ms: nowMs })
      .where("id", "=", id)
      .where((build) =>
        build.or([build("last_used_at_ms", "is", null), build("last_used_at_ms", "<", nowMs)]),
      )
      .execute();
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

export interface KeyService {
  /** The same service, which notes its changes. */
  by(note: Note): KeyService;
  /** For an account that exists. With `page` a publishable key, which works from its origins alone. */
  create(accountId: string, name: string, page?: NewPage): Promise<KeyAnswer>;
  list(accountId: string): Promise<readonly ApiKey[]>;
  find(keyId: string): Promise<ApiKey | undefined>;
  /** Replaces the origins of a publishable key: the mistake in them, or undefined when it is done. */
  setOrigins(keyId: string, origins: readonly string[]): Promise<string | undefined>;
  rename(keyId: string, name: string): Promise<boolean>;
  /** Refused everywhere within 5 s, for good. False when there is no such key. */
  revoke(keyId: string): Promise<boolean>;
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

export function createKeyService(deps: KeyServiceDeps): KeyService {
  const { keys, ids, clock, notices, note } = deps;
  const noteOf = async (action: AuditAction, key: ApiKey | undefined): Promise<void> => {
    if (key !== undefined) await note?.({ action, accountId: key.accountId, detail: key.name });
  };
  return {
    by: (noted) => createKeyService({ ...deps, note: noted }),
    async create(accountId, text, page) {
      const name = nameIn(text);
      if (name === undefined) return { kind: "bad_name" };
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
      if (made === "full") return { kind: "too_many" };
      await noteOf("key.created", key);
      return { kind: "created", key, apiKey };
    },
    list: (accountId) => keys.list(accountId),
    find: (keyId) => keys.find(keyId),
    async rename(keyId, text) {
      const name = nameIn(text);
      if (name === undefined) return false;
      await keys.rename(keyId, name);
      await noteOf("key.renamed", await keys.find(keyId));
      return true;
    },
    async setOrigins(keyId, origins) {
      const mistake = originsMistake(origins);
      if (mistake !== undefined) return mistake;
      if (!(await keys.setOrigins(keyId, origins))) return "The key is not a publishable one.";
      notices?.tell("accounts");
      await noteOf("key.origins", await keys.find(keyId));
      return undefined;
    },
    async revoke(keyId) {
      const key = await keys.find(keyId);
      if (key === undefined) return false;
      await keys.revoke(keyId, clock.nowMs());
      notices?.tell("accounts");
      if (key.revokedAtMs === undefined) await noteOf("key.revoked", key);
      return true;
    },
  };
}

/** A key as the commands and the dashboard show it: snake_case, ISO 8601, null for what is absent; never the key itself. */
export const keyJson = (key: ApiKey): Key => ({
  id: key.id,
  name: key.name,
  prefix: key.prefix,
  last_four: key.lastFour,
  created_at: isoTime(key.createdAtMs),
  last_used_at: isoTimeOrNull(key.lastUsedAtMs),
  revoked_at: isoTimeOrNull(key.revokedAtMs),
  ...(key.origins !== undefined && { origins: key.origins }),
  ...key.page,
});

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

/** The value of a base 62 digit by its code; SHAPE has seen to it that there is one. */
const DIGIT_VALUES = Uint8Array.from({ length: 128 }, (_, code) =>
  Math.max(0, BASE62.indexOf(String.fromCharCode(code))),
);

/** Whether a text can be one of our keys: its shape and its checksum. No secret is compared here. */
export function isApiKey(text: string): boolean {
  if (!SHAPE.test(text)) return false;
  const start = text.length - BODY_LENGTH;
  const end = start + RANDOM_LENGTH;
  let value = 0;
  for (let at = end; at < text.length; at += 1) {
    value = value * 62 + (DIGIT_VALUES[text.charCodeAt(at)] ?? 0);
  }
  return value === crc32(encoder.encode(text.slice(start, end)));
}

export const isPublishableKey = (text: string): boolean => text.startsWith(PUBLISHABLE_PREFIX);

/** What is stored of a key. A plain hash is enough: 202 bits cannot be guessed. */
export const hashApiKey = (key: string): string => createHash("sha256").update(key).digest("hex");

export const shownParts = (
  key: string,
): { readonly prefix: string; readonly lastFour: string } => ({
  prefix: key.slice(0, SHOWN_PREFIX_LENGTH),
  lastFour: key.slice(-SHOWN_LAST_LENGTH),
});
