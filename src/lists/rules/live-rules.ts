import type { Rules } from "../../core/evidence/datasets.ts";
import { rulesOf } from "../../core/evidence/rule.ts";
import type { AddressHash } from "../../base/address-hash.ts";
import type { Clock } from "../../base/clock.ts";
import { type End, every } from "../../base/every.ts";
import type { Log } from "../../base/log.ts";
import type { Notices } from "../../store/notices.ts";
import type { Rule } from "./entry-json.ts";
import type { RuleStore } from "./rule.ts";
import { noRules } from "../shared-datasets.ts";

export interface LiveRulesDeps {
  readonly entries: Pick<RuleStore, "changes" | "all">;
  readonly hash: AddressHash;
  readonly clock: Pick<Clock, "nowMs" | "after">;
  readonly log: Pick<Log, "error">;
  readonly notices?: Pick<Notices, "hear">;
}

/** A change is active after one poll and one read, within 5 s if the store answers. */
export const OPERATOR_POLL_MS = 1_500;

/** The operator's lists in this process's memory, kept up with what any process writes. */
export interface LiveRules {
  current(): Rules;
  /** Looks now; true when the lists in memory were made anew. Rejects when the store does. */
  refresh(): Promise<boolean>;
  /** `changed` is called after each change of the rules or the files. A store that fails leaves what there is. */
  start(changed: () => void): void;
  stop(): void;
}

export function createLiveRules(deps: LiveRulesDeps): LiveRules {
  const { entries, hash, clock, log, notices } = deps;
  let lists: Rules = noRules;
  let seen = -1;
  let nextExpiryMs = Infinity;
  let end: End | undefined;
  let endHearing: (() => void) | undefined;
  const refresh = async (): Promise<boolean> => {
    // Read before the entries: a change in between is seen the next time at the latest.
    const changes = await entries.changes();
    const nowMs = clock.nowMs();
    if (changes === seen && nowMs < nextExpiryMs) return false;
    const inForce = (await entries.all()).filter((entry) => expiryOf(entry) > nowMs);
    lists = rulesOf(inForce, hash);
    nextExpiryMs = inForce.reduce((next, entry) => Math.min(next, expiryOf(entry)), Infinity);
    seen = changes;
    return true;
  };
  let last: Promise<void> = Promise.resolve();
  /** One after another: of two looks at once the older could be the one that stays. */
  const look = (changed: () => void): Promise<void> => {
    const looked = last.then(refresh).then((isNew) => {
      if (isNew && end !== undefined) changed();
    });
    last = looked.catch(() => undefined);
    return looked;
  };
  const failed = (fault: unknown): void => log.error("rules.read_failed", fault);
  return {
    current: () => lists,
    refresh,
    start(changed) {
      end = every({ ms: OPERATOR_POLL_MS, clock, failed }, () => look(changed));
      // The next poll reads what a notice could not, or reports the failure.
      endHearing = notices?.hear("lists", () => void look(changed).catch(() => undefined));
    },
    stop() {
      endHearing?.();
      void end?.();
      end = undefined;
    },
  };
}

const expiryOf = ({ expiresAtMs }: Rule): number => expiresAtMs ?? Infinity;
