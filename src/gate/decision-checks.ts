import { LRUCache } from "lru-cache";
import type { Caller } from "../accounts/admission/caller.ts";
import type { Tiers } from "../accounts/admission/tiers.ts";
import type { Clock } from "../base/clock.ts";
import { ownerKey } from "../base/owner.ts";
import type { CheckWithoutDns, SingleCheck, TimedValidation } from "../check/single-check.ts";
import { KEPT_AT_MOST_MS } from "../check/check-one.ts";
import { present } from "../check/kept-answers.ts";
import { sortFeatures } from "../check/features.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import type { CheckedDecision } from "./decision-body.ts";
import { askedBy, checkedEntry, type PoliciesInForce } from "./rulings.ts";
import {
  type AccountHash,
  mailboxId,
  type Marks,
  marksOf,
  reportedDomainOf,
  type TrafficOwner,
} from "./traffic-marks.ts";

export interface DecisionCheckDeps {
  readonly tiers: Tiers;
  readonly publicUrl: () => string;
  readonly hash: AccountHash;
  readonly check: SingleCheck;
  readonly checkWithoutDns: CheckWithoutDns;
  readonly datasets: () => Datasets;
  readonly clock: Pick<Clock, "nowMs">;
}

export interface CheckedFor {
  readonly caller: Caller;
  readonly text: string;
  readonly policies: PoliciesInForce;
}

const KEPT_TEXT_MAX_UNITS = 1_024;

const KEPT_BYTES = 24 * 1_048_576;

/** Objects and cells around one kept check, in bytes: its marks keep the parsed address. */
const OVERHEAD_BYTES = 1_600;

export class DecisionChecks {
  readonly #deps: DecisionCheckDeps;
  readonly #kept = new LRUCache<string, CheckedDecision>({
    maxSize: KEPT_BYTES,
    sizeCalculation: ({ result }, key) => result().length + key.length + OVERHEAD_BYTES,
  });

  constructor(deps: DecisionCheckDeps) {
    this.#deps = deps;
  }

  kept(question: CheckedFor): CheckedDecision | undefined {
    const key = this.#keyOf(question);
    const kept = key === undefined ? undefined : this.#kept.get(key);
    return kept !== undefined && kept.expiresAtMs > this.#deps.clock.nowMs() ? kept : undefined;
  }

  async check(question: CheckedFor, budgetMs: number): Promise<CheckedDecision> {
    const validation = await this.#deps.check({ ...this.#asked(question), budgetMs });
    const checked = this.#checkedOf(question, validation);
    const key = this.#keyOf(question);
    if (key !== undefined) this.#kept.set(key, checked);
    return checked;
  }

  /** `isComplete` absent: when DNS had nothing to say. */
  withoutDns(question: CheckedFor, isComplete?: boolean): CheckedDecision {
    const validation = this.#deps.checkWithoutDns(this.#asked(question));
    return this.#checkedOf(question, validation, isComplete);
  }

  /** What the check depends on; the text stands last, so that it cannot pass for another part. Undefined: it is not kept. */
  #keyOf({ caller, text, policies }: CheckedFor): string | undefined {
    if (text.length > KEPT_TEXT_MAX_UNITS) return undefined;
    const { owner, tier, trafficSince = 0, isPublishable } = caller;
    const id = owner.kind === "account" ? owner.accountId : "";
    const { features } = askedBy(policies, this.#deps.tiers[tier].premium);
    const { version } = this.#deps.datasets();
    const traffic = `${isPublishable === true ? "page " : ""}${String(trafficSince)}`;
    return `${id} ${traffic} ${tier} ${features.join()} ${String(version)} ${text}`;
  }

  #asked({ caller, text, policies }: CheckedFor) {
    const { premium } = this.#deps.tiers[caller.tier];
    const asked = { ...askedBy(policies, premium), by: ownerKey(caller.owner) };
    return { text, mode: "address" as const, asked };
  }

  #checkedOf(
    { caller }: CheckedFor,
    validation: TimedValidation,
    isComplete = validation.isComplete,
  ): CheckedDecision {
    const { tiers, hash, publicUrl, clock } = this.#deps;
    const datasets = this.#deps.datasets();
    const { owner, tier } = caller;
    const { premium } = tiers[tier];
    const { entry } = validation;
    const isAddress = entry.kind === "address";
    const hasMailbox = owner.kind === "account" && isAddress;
    const reportedDomain = isAddress ? reportedDomainOf(entry.domain, datasets) : undefined;
    const { facts, meant, problem } = checkedEntry(validation, datasets);
    return {
      facts,
      meant,
      problem,
      isComplete,
      result: resultOf(validation, premium, publicUrl()),
      reportedDomain,
      mailboxId: hasMailbox ? mailboxId(hash, owner.accountId, entry.address) : undefined,
      marks: marksFor(caller, validation, { hash, datasets, reportedDomain }),
      expiresAtMs: Math.min(validation.expiresAtMs, clock.nowMs() + KEPT_AT_MOST_MS),
    };
  }
}

/** Keeps what it is made of only until it is made. */
function resultOf(of: TimedValidation, premium: boolean, publicUrl: string): () => string {
  let [validation, json]: [TimedValidation | undefined, string] = [of, ""];
  return () => {
    if (validation !== undefined)
      json = present(validation, sortFeatures([], { premium }), publicUrl);
    validation = undefined;
    return json;
  };
}

/** Undefined for callers whose traffic is not counted. */
function marksFor(
  { owner, trafficSince: since, isPublishable }: Caller,
  validation: TimedValidation,
  by: Parameters<typeof marksOf>[2],
): Marks | undefined {
  if (owner.kind !== "account" || since === undefined) return undefined;
  const isPage = isPublishable === true;
  const counter: TrafficOwner = { accountId: owner.accountId, since, isPage };
  return marksOf(counter, validation, by);
}
