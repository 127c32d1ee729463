import { dayOf } from "../core/calendar.ts";
import type { Decision } from "../core/policy/policy.ts";
import type { Clock } from "../base/clock.ts";
import type { HourCounts } from "../accounts/hour-counts.ts";
import type { Log } from "../base/log.ts";
import type {
  OutcomeBatch,
  OutcomeCount,
  OutcomeLimits,
  Outcomes,
  ShadowCount,
  ShadowDomain,
} from "./outcomes-store.ts";
import type { Caller } from "../accounts/admission/caller.ts";
import { addCount, WriteBehind } from "../base/write-behind.ts";
import type { PoliciesInForce } from "./in-force.ts";

export interface DecisionMade {
  readonly decision: Decision;
  readonly reason: string;
  /** What the shadow version says; absent when none runs. */
  readonly shadow?: Decision | undefined;
  readonly domain: string;
  readonly format: boolean;
  readonly disposable: boolean;
  readonly dns: "yes" | "no" | "unknown";
  readonly policies: PoliciesInForce;
  readonly form: string;
  /** Nothing was checked for it: an earlier answer still holds. */
  readonly isCached: boolean;
  readonly isComplete: boolean;
  /** Counts from 0; undefined: `else` decided. */
  readonly rule: number | undefined;
  readonly signals: readonly string[];
  readonly registrableDomain: string | undefined;
  /** Undefined for what is no address, and for callers without an account. */
  readonly mailboxId: string | undefined;
}

export type RecordDecision = (caller: Caller, made: DecisionMade) => void;

const OUTCOME_LIMITS: OutcomeLimits = { rowsMax: 1_000, domainsMax: 100 };

export interface OutcomeRecorder {
  readonly record: RecordDecision;
  flush(): Promise<void>;
}

export interface OutcomeRecorderDeps {
  readonly outcomes: Pick<Outcomes, "add">;
  readonly clock: Pick<Clock, "nowMs" | "after">;
  readonly log: Pick<Log, "error">;
  /** Absent: nothing is counted by hour. */
  readonly hours?: Pick<HourCounts, "note">;
}

const FLUSH_AFTER_MS = 1_000;

const BATCH = 200;

/** Rows that wait at most: a store that is away for long costs counts, not memory. */
const WAITING_MAX = 20_000;

export function createOutcomeRecorder({
  outcomes,
  clock,
  log,
  hours,
}: OutcomeRecorderDeps): OutcomeRecorder {
  const writer = <T extends { count: number }>(
    kind: string,
    save: (rows: readonly T[]) => Promise<void>,
  ): WriteBehind<T> =>
    new WriteBehind<T>({
      afterMs: FLUSH_AFTER_MS,
      batch: BATCH,
      max: WAITING_MAX,
      clock,
      merge: addCount,
      save,
      failed: (fault, lost) => log.error("decisions.flush_failed", fault, { kind, lost }),
    });
  const save = (batch: Partial<OutcomeBatch>): Promise<void> =>
    outcomes.add({ ...NOTHING, ...batch }, OUTCOME_LIMITS);
  const counts = writer<OutcomeCount>("outcomes", (rows) => save({ outcomes: rows }));
  const pairs = writer<ShadowCount>("pairs", (rows) => save({ pairs: rows }));
  const domains = writer<ShadowDomain>("domains", (rows) => save({ domains: rows }));
  return {
    record({ owner, keyId = "" }, made) {
      if (owner.kind !== "account") return;
      const { accountId } = owner;
      const day = dayOf(clock.nowMs());
      const { decision, reason, form } = made;
      hours?.note(accountId, decision);
      const key = [day, accountId, keyId, decision, reason, form].join("\n");
      counts.note(key, { day, accountId, keyId, form, decision, reason, count: 1 });
      const pair = pairOf(accountId, day, made);
      if (pair === undefined) return;
      const { policy, version, live, shadow } = pair;
      const pairKey = [day, accountId, policy, version, live, shadow].join(" ");
      pairs.note(pairKey, pair);
      const { domain } = made;
      if (live !== shadow && made.format) domains.note(`${pairKey} ${domain}`, { ...pair, domain });
    },
    async flush() {
      const ends = await Promise.allSettled([counts.flush(), pairs.flush(), domains.flush()]);
      for (const end of ends) if (end.status === "rejected") throw end.reason;
    },
  };
}

const NOTHING: OutcomeBatch = { outcomes: [], pairs: [], domains: [] };

/** Undefined when no shadow runs. */
function pairOf(
  accountId: string,
  day: number,
  { shadow, decision: live, policies }: DecisionMade,
): ShadowCount | undefined {
  if (shadow === undefined || policies.shadow === undefined) return undefined;
  const { version } = policies.shadow;
  return { day, accountId, policy: policies.name, version, live, shadow, count: 1 };
}
