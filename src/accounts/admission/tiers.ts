import { DAY_MS } from "../../core/calendar.ts";
import type { Account } from "../accounts-store.ts";

/** The plans. One table, overridable by the operator (GATEPOST_TIERS_FILE). */

export type TierName = "anonymous" | "free" | "new_free" | "starter" | "pro";

export interface Tier {
  /** Requests in a window of 60 s; null: no limit. */
  readonly ratePerMinute: number | null;
  /** Units in a UTC day; null: no limit. */
  readonly daily: number | null;
  /** Units in a UTC month; null: no limit. */
  readonly monthly: number | null;
  /** Unique entries in one bulk request; null: no limit. */
  readonly bulkLimit: number | null;
  readonly premium: boolean;
}

export type Tiers = Readonly<Record<TierName, Tier>>;

/** The contract's table; `new_free` is the first 24 hours of a free account made by sign-up. */
export const DEFAULT_TIERS: Tiers = {
  anonymous: {
    ratePerMinute: 30,
    daily: 1_000,
    monthly: null,
    bulkLimit: 10_000,
    premium: false,
  },
  free: { ratePerMinute: 60, daily: 10_000, monthly: 30_000, bulkLimit: 12_000, premium: false },
  new_free: { ratePerMinute: 10, daily: 1_000, monthly: 30_000, bulkLimit: 12_000, premium: false },
  starter: { ratePerMinute: 120, daily: null, monthly: null, bulkLimit: 25_000, premium: false },
  pro: { ratePerMinute: 500, daily: null, monthly: null, bulkLimit: 100_000, premium: true },
};

/** How long a free account made by sign-up has the limits of `new_free`. */
const NEW_FREE_MS = DAY_MS;

/** The tier whose limits an account has at `nowMs`. */
export function tierOf(
  { tier, origin, createdAtMs }: Pick<Account, "tier" | "origin" | "createdAtMs">,
  nowMs: number,
): TierName {
  const isNew = origin === "signup" && nowMs - createdAtMs < NEW_FREE_MS;
  return tier === "free" && isNew ? "new_free" : tier;
}

/** The tiers file cannot be used; `message` names every mistake, one a line. */
export class TiersFault extends Error {
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    super(mistakes.join("\n"));
    this.name = "TiersFault";
    this.mistakes = mistakes;
  }
}

/** The file's names of the numbers, where they go, and the least they may be. */
const NUMBERS = new Map([
  ["rate_per_minute", { field: "ratePerMinute", least: 1 }],
  ["daily", { field: "daily", least: 0 }],
  ["monthly", { field: "monthly", least: 0 }],
  ["bulk_limit", { field: "bulkLimit", least: 1 }],
] as const);

const NAMES = [...NUMBERS.keys(), "premium"].join(", ");

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isTierName = (name: string): name is TierName => Object.hasOwn(DEFAULT_TIERS, name);

function isNumberName(name: string): name is Parameters<typeof NUMBERS.get>[0] {
  return (NUMBERS as ReadonlyMap<string, unknown>).has(name);
}

/** What is wrong with one number of a tier; undefined when nothing is. */
function mistakeIn(name: string, value: unknown): string | undefined {
  if (name === "premium") return typeof value === "boolean" ? undefined : "must be true or false";
  if (!isNumberName(name)) return `is not known (known: ${NAMES})`;
  if (value === null) return undefined;
  const least = NUMBERS.get(name)?.least ?? 0;
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
    else changes[isNumberName(key) ? (NUMBERS.get(key)?.field ?? key) : key] = value;
  }
  return { ...DEFAULT_TIERS[name], ...(changes as Partial<Tier>) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? `: ${cause.message}` : "";
    throw new TiersFault([`is not JSON${reason}`]);
  }
}

/**
 * The tier table with what the text of a GATEPOST_TIERS_FILE changes: an absent tier or number keeps its
 * default, null means no limit. Throws one `TiersFault` with all mistakes.
 */
export function readTiers(text: string): Tiers {
  const given = parsed(text);
  if (!isObject(given)) throw new TiersFault(["must be an object of tiers"]);
  const mistakes: string[] = [];
  const tiers: Record<TierName, Tier> = { ...DEFAULT_TIERS };
  for (const [name, tier] of Object.entries(given)) {
    if (isTierName(name)) tiers[name] = readTier(name, tier, mistakes);
    else {
      const known = Object.keys(DEFAULT_TIERS).join(", ");
      mistakes.push(`${name}: unknown tier (known: ${known})`);
    }
  }
  if (mistakes.length > 0) throw new TiersFault(mistakes);
  return tiers;
}
