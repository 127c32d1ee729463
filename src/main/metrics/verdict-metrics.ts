import { Counter, type Registry } from "prom-client";
import { type FullResult, isInconclusive } from "../../core/validate/result.ts";

const OUTCOMES = ["accepted", "disposable", "no_mail", "unknown", "malformed"] as const;

/** What a fresh check came to. */
export type VerdictOutcome = (typeof OUTCOMES)[number];

export type VerdictCounts = Readonly<Record<VerdictOutcome, number>>;

/** Counts verdicts of one kind of check. */
export interface VerdictTally {
  readonly count: (result: FullResult) => void;
  readonly counts: () => VerdictCounts;
}

export function verdictTally(): VerdictTally {
  const counts = { accepted: 0, disposable: 0, no_mail: 0, unknown: 0, malformed: 0 };
  return { count: (result) => void (counts[outcomeOf(result)] += 1), counts: () => counts };
}

function outcomeOf(result: FullResult): VerdictOutcome {
  if (!result.format) return "malformed";
  if (result.disposable) return "disposable";
  if (result.dns) return "accepted";
  return isInconclusive(result) ? "unknown" : "no_mail";
}

/** Verdicts by where they were made; an answer from the cache of finished answers is no verdict. */
export function watchVerdicts(
  registry: Registry,
  sources: Readonly<Record<string, () => VerdictCounts | undefined>>,
): void {
  const verdicts: Counter = new Counter({
    name: "gatepost_verdicts_total",
    help: "Fresh verdicts by outcome, of single checks and of lists.",
    labelNames: ["check", "outcome"],
    registers: [registry],
    collect() {
      verdicts.reset();
      for (const [check, counts] of Object.entries(sources)) {
        const read = counts();
        for (const outcome of OUTCOMES) verdicts.inc({ check, outcome }, read?.[outcome] ?? 0);
      }
    },
  });
}
