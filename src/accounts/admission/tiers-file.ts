import { DEFAULT_TIERS, type Tier, type TierName, type Tiers } from "./tiers.ts";

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
