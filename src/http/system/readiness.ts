import type { Clock } from "../../base/clock.ts";
import { inTime } from "../../base/in-time.ts";

/** Whether something the service needs answers; a rejection is a no. */
export type Probe = () => Promise<boolean>;

export interface Readiness {
  /** Names of what does not answer, in the order of the probes. */
  failing(): Promise<readonly string[]>;
}

/** The probe, asked at most once in `ms`: anybody may ask for readiness, and some probes write. */
export function askedRarely(probe: Probe, ms: number, clock: Clock): Probe {
  let answer: Promise<boolean> | undefined;
  let askedMs = -Infinity;
  return () => {
    const nowMs = clock.monotonicMs();
    if (answer === undefined || nowMs - askedMs >= ms) {
      askedMs = nowMs;
      answer = probe();
    }
    return answer;
  };
}

/** A probe without an answer after this time counts as failed. */
const PROBE_TIMEOUT_MS = 2_000;

/** Runs all probes in parallel; calls meanwhile get the same answer. */
export function createReadiness(probes: ReadonlyMap<string, Probe>, clock: Clock): Readiness {
  let running: Promise<readonly string[]> | undefined;
  const ask = async (): Promise<readonly string[]> => {
    const answers = await Promise.all(
      [...probes].map(async ([name, probe]) => ((await hasAnswered(probe, clock)) ? [] : [name])),
    );
    running = undefined;
    return answers.flat();
  };
  return { failing: () => (running ??= ask()) };
}

function hasAnswered(probe: Probe, clock: Clock): Promise<boolean> {
  const said = probe().catch(() => false);
  return inTime(said, { timeoutMs: PROBE_TIMEOUT_MS, late: false, clock });
}
