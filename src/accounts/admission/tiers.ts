import { readFileSync } from "node:fs";
import { DAY_MS } from "../../core/calendar.ts";
import type { Account, AccountLimits } from "../accounts-store.ts";

export type TierName = "anonymous" | "free" | "new_free" | "starter" | "pro";

export interface Tier {
  /** Requests in a window of 60 s; null: no limit. */
  readonly ratePerMinute: number | null;
  readonly daily: number | null;
  readonly monthly: number | null;
  /** Unique entries in one bulk request; null: no limit. */
  readonly bulkLimit: number | null;
  readonly premium: boolean;
  /** Domains that one account may watch; null: no limit. */
  readonly watch: number | null;
}

export type Tiers = Readonly<Record<TierName, Tier>>;

/** The numbers of whoever asks: those of the plan, and in their place the account's own. */
export const limitsOf = (
  tiers: Tiers,
  { tier, limits }: { readonly tier: TierName; readonly limits?: AccountLimits | undefined },
): Tier => (limits === undefined ? tiers[tier] : { ...tiers[tier], ...limits });

export const limitsJson = (limits: AccountLimits = {}): Readonly<Record<string, number | null>> =>
  Object.fromEntries(
    [...NUMBERS].flatMap(([name, { field }]) => {
      const value = limits[field];
      return value === undefined ? [] : [[name, value]];
    }),
  );

/** By the names of GATEPOST_TIERS_FILE; what is absent stays the plan's. A text is the first mistake. */
export function readLimits(given: Readonly<Record<string, unknown>>): AccountLimits | string {
  const limits: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const mistake = name === "premium" ? "is not a limit" : mistakeIn(name, value);
    if (mistake !== undefined) return `${name}: ${mistake}`;
    limits[NUMBERS.get(name)?.field ?? name] = value;
  }
  return limits;
}

/** The contract's table; `new_free` is the first 24 hours of a free account made by sign-up. */
export const DEFAULT_TIERS: Tiers = {
  anonymous: {
    ratePerMinute: 30,
    daily: 1_000,
    monthly: null,
    bulkLimit: 10_000,
    premium: false,
    watch: 0,
  },
  free: {
    ratePerMinute: 60,
    daily: 10_000,
    monthly: 30_000,
    bulkLimit: 12_000,
    premium: false,
    watch: 100,
  },
  new_free: {
    ratePerMinute: 10,
    daily: 1_000,
    monthly: 30_000,
    bulkLimit: 12_000,
    premium: false,
    watch: 100,
  },
  starter: {
    ratePerMinute: 120,
    daily: null,
    monthly: null,
    bulkLimit: 25_000,
    premium: false,
    watch: 10_000,
  },
  pro: {
    ratePerMinute: 500,
    daily: null,
    monthly: null,
    bulkLimit: 100_000,
    premium: true,
    watch: 100_000,
  },
};

const NEW_FREE_MS = DAY_MS;

export function tierOf(
  { tier, origin, createdAtMs }: Pick<Account, "tier" | "origin" | "createdAtMs">,
  nowMs: number,
): TierName {
  const isNew = origin === "signup" && nowMs - createdAtMs < NEW_FREE_MS;
  return tier === "free" && isNew ? "new_free" : tier;
}

/** The file's names of the numbers, where they go, and the least they may be. */
const NUMBERS: ReadonlyMap<
  string,
  { readonly field: keyof AccountLimits; readonly least: number }
> = new Map([
  ["rate_per_minute", { field: "ratePerMinute", least: 1 }],
  ["daily", { field: "daily", least: 0 }],
  ["monthly", { field: "monthly", least: 0 }],
  ["bulk_limit", { field: "bulkLimit", least: 1 }],
  ["watch", { field: "watch", least: 0 }],
]);

const NAMES = [...NUMBERS.keys(), "premium"].join(", ");

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isTierName = (name: string): name is TierName => Object.hasOwn(DEFAULT_TIERS, name);

function mistakeIn(name: string, value: unknown): string | undefined {
  if (name === "premium") return typeof value === "boolean" ? undefined : "must be true or false";
  const least = NUMBERS.get(name)?.least;
  if (least === undefined) return `is not known (known: ${NAMES})`;
  if (value === null) return undefined;
  const isFine = typeof value === "number" && Number.isSafeInteger(value) && value >= least;
  return isFine ? undefined : `must be null or a whole number of at least ${String(least)}`;
}

function readTier(name: TierName, given: unknown, mistakes: string[]): Tier {
  if (!isObject(given)) {
    mistakes.push(`${name}: must be an object`);
    return DEFAULT_TIERS[name];
  }
  const changes: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(given)) {
    const mistake = mistakeIn(key, value);
    if (mistake !== undefined) mistakes.push(`${name}.${key}: ${mistake}`);
    else changes[NUMBERS.get(key)?.field ?? key] = value;
  }
  return { ...DEFAULT_TIERS[name], ...(changes as Partial<Tier>) };
}

const NAME = "GATEPOST_TIERS_FILE";

const fault = (mistakes: readonly string[], options?: ErrorOptions): Error =>
  new Error(mistakes.map((mistake) => `${NAME}: ${mistake}`).join("\n"), options);

/** The tier table with what the operator's file changes: an absent tier or number keeps its default, null is no limit. */
export function readTiers(text: string): Tiers {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (cause) {
    throw fault([`is not JSON: ${(cause as Error).message}`], { cause });
  }
  if (!isObject(given)) throw fault(["must be an object of tiers"]);
  const mistakes: string[] = [];
  const tiers: Record<TierName, Tier> = { ...DEFAULT_TIERS };
  for (const [name, tier] of Object.entries(given)) {
    if (isTierName(name)) tiers[name] = readTier(name, tier, mistakes);
    else {
      const known = Object.keys(DEFAULT_TIERS).join(", ");
      mistakes.push(`${name}: unknown tier (known: ${known})`);
    }
  }
  if (mistakes.length > 0) throw fault(mistakes);
  return tiers;
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ["ENOENT", "there is no such file"],
  ["ENOTDIR", "there is no such file"],
  ["EISDIR", "it is a directory"],
  ["EACCES", "this user may not read it"],
]);

export function readTiersFile(path: string | undefined): Tiers {
  if (path === undefined) return DEFAULT_TIERS;
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    const { code = "", message } = cause as NodeJS.ErrnoException;
    throw fault([`cannot read ${path}: ${REASONS.get(code) ?? message}`], { cause });
  }
  return readTiers(text);
}
