import type { Rules } from "../../core/evidence/datasets.ts";
import { rulesOf } from "../../core/evidence/rule.ts";
import type { AddressHash } from "../../base/secrets.ts";
import type { Clock } from "../../base/clock.ts";
import { type End, every } from "../../base/every.ts";
import { inRounds } from "../../base/rounds.ts";
import type { Log } from "../../base/log.ts";
import type { Notices } from "../../store/notices.ts";
import type { Rule } from "./entry-json.ts";
import type { RuleStore } from "./rule.ts";
import { noRules } from "../shared-datasets.ts";

interface LiveRulesDeps {
  readonly entries: Pick<RuleStore, "changes" | "all">;
  readonly hash: AddressHash;
  readonly clock: Pick<Clock, "nowMs" | "after">;
  readonly log: Pick<Log, "error">;
  readonly notices?: Pick<Notices, "hear">;
}

/** A change is active after one poll and one read, within 5 s if the store answers. */
export const OPERATOR_POLL_MS = 1_500;

export class LiveRules {
  readonly #deps: LiveRulesDeps;
  #rules: Rules = noRules;
  #seen = -1;
  #nextExpiryMs = Infinity;
  #end: End | undefined;
  #unsubscribe: (() => void) | undefined;

  constructor(deps: LiveRulesDeps) {
    this.#deps = deps;
  }

  current(): Rules {
    return this.#rules;
  }

  /** Looks now; true when the lists in memory were made anew. Rejects when the store does. */
  async refresh(): Promise<boolean> {
    const { entries, hash, clock } = this.#deps;
    // Read before the entries: a change in between is seen the next time at the latest.
    const changes = await entries.changes();
    const nowMs = clock.nowMs();
    if (changes === this.#seen && nowMs < this.#nextExpiryMs) return false;
    const inForce = (await entries.all()).filter((entry) => expiryOf(entry) > nowMs);
    this.#rules = rulesOf(inForce, hash);
    this.#nextExpiryMs = inForce.reduce((next, entry) => Math.min(next, expiryOf(entry)), Infinity);
    this.#seen = changes;
    return true;
  }

  /** `changed` is called after each change of the rules or the files. A store that fails leaves what there is. */
  start(changed: () => void): void {
    const { clock, log, notices } = this.#deps;
    const failed = (fault: unknown): void => log.error("rules.read_failed", fault);
    // Of two looks at once the older could be the one that stays.
    const look = inRounds(async () => {
      if ((await this.refresh()) && this.#end !== undefined) changed();
    });
    this.#end = every({ ms: OPERATOR_POLL_MS, clock, failed }, look);
    // The next poll reads what a notice could not, or reports the failure.
    this.#unsubscribe = notices?.hear("lists", () => void look().catch(() => undefined));
  }

  stop(): void {
    this.#unsubscribe?.();
    void this.#end?.();
    this.#end = undefined;
  }
}

const expiryOf = ({ expiresAtMs }: Rule): number => expiresAtMs ?? Infinity;
