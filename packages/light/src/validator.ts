import { type Feature, FEATURES } from "../../../src/core/checks/registry.ts";
import type { Datasets } from "../../../src/core/evidence/datasets.ts";
import type { Lookup } from "../../../src/core/mail/lookup.ts";
import { meantBy, withMeant } from "../../../src/core/validate/malformed.ts";
import { type Reason, reasonsOf } from "../../../src/core/validate/explain.ts";
import type { FullResult } from "../../../src/core/validate/result.ts";
import type { Clock } from "../../../src/base/clock.ts";
import { createSingleCheck } from "../../../src/check/single-check.ts";
import { denialFields, sortFeatures } from "../../../src/check/features.ts";
import { CORE_BUDGET_MS } from "../../../src/check/bounded-lookup.ts";

export type Result = FullResult & {
  readonly reasons: readonly Reason[];
  readonly temporarily_unavailable_features?: readonly Feature[];
};

/** A premium check by name, or all of them. */
export type FeatureName = Feature | "all";

export interface Validator {
  /** Checks an address or a domain. Throws for an entry that is no text and for an unknown feature, never for what DNS says. */
  validate(entry: string, features?: FeatureName | readonly FeatureName[]): Promise<Result>;
  /** Reads fresh lists now. Rejects when that fails; the old ones then stay in use. */
  refreshLists(): Promise<void>;
  /** The lists in use: each with its kind and, where it was fetched, the time. */
  lists(): Datasets["sources"];
  /** Leaves no socket and no timer, so that the process may end. */
  close(): Promise<void>;
}

export interface CheckOptions {
  /** Count an address record alone as a mail server (RFC 5321 section 5.1); false unless given. */
  readonly implicitMx?: boolean;
  /** How long DNS may take for one entry, 50 to 60,000 ms; 5,000 unless given. What is open then is "could not tell". */
  readonly timeoutMs?: number;
}

type OptionNames<Options> = Readonly<Record<keyof Required<Options>, true>>;

export const CHECK_OPTIONS: OptionNames<CheckOptions> = { implicitMx: true, timeoutMs: true };

/** Throws for an option that does not exist: a misspelt one would be ignored without a word. */
export function refuseUnknown<Options extends object>(
  options: Options,
  known: OptionNames<Options>,
): void {
  if (typeof options !== "object" || Array.isArray(options) || options === null) {
    throw new TypeError("options: must be an object");
  }
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(known, name));
  if (unknown === undefined) return;
  throw new TypeError(`${unknown}: is not an option; they are ${Object.keys(known).join(", ")}`);
}

export interface ValidatorParts extends CheckOptions {
  readonly lookup: Lookup;
  readonly datasets: () => Datasets;
  readonly clock: Clock;
  readonly refreshLists: () => Promise<void>;
  readonly close: () => void;
}

export function validatorOf(parts: ValidatorParts): Validator {
  const { implicitMx = false, timeoutMs = CORE_BUDGET_MS, datasets } = parts;
  if (typeof timeoutMs !== "number" || !(timeoutMs >= 50 && timeoutMs <= 60_000)) {
    throw new RangeError(`timeoutMs: ${String(timeoutMs)} is not a number from 50 to 60000`);
  }
  if (typeof implicitMx !== "boolean") {
    throw new TypeError(`implicitMx: ${String(implicitMx)} is not true or false`);
  }
  const check = createSingleCheck({ ...parts, implicitMx });
  return {
    async validate(entry, features = []) {
      if (typeof entry !== "string") throw new TypeError(`entry: ${typeof entry} is not text`);
      const asked = featuresOf(features);
      const validation = await check({
        text: entry,
        mode: "either",
        asked: { features: asked, spamTrap: asked.length > 0 },
        budgetMs: timeoutMs,
      });
      const { result, unavailable } = validation;
      const reasons = reasonsOf(validation, datasets());
      return {
        ...withMeant(result, meantBy(validation)),
        reasons,
        ...denialFields(sortFeatures(asked, { premium: true }), unavailable, ""),
      };
    },
    refreshLists: parts.refreshLists,
    lists: () => datasets().sources,
    close: () => Promise.resolve(parts.close()),
  };
}

function featuresOf(asked: FeatureName | readonly FeatureName[]): readonly Feature[] {
  const known: readonly string[] = [...FEATURES, "all"];
  const names: readonly string[] = typeof asked === "string" ? [asked] : asked;
  if (!Array.isArray(names)) {
    throw new TypeError(`features: ${typeof asked} is not a name or an array of names`);
  }
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new RangeError(`features: "${unknown}" is not one of ${known.join(", ")}`);
  }
  return FEATURES.filter((name) => names.includes(name) || names.includes("all"));
}
