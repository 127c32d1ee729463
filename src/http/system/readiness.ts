import type { Clock } from "../../base/clock.ts";
import { inTime } from "../../base/in-time.ts";

/** Whether something the service needs answers; a rejection is a no. */
export type Probe = () => Promise<boolean>;

/** Names of what does not answer, in the order of the probes. */
export type Failing = () => Promise<readonly string[]>;

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
export function createReadiness(probes: ReadonlyMap<string, Probe>, clock: Clock): Failing {
  let running: Promise<readonly string[]> | undefined;
  const ask = async (): Promise<readonly string[]> => {
    const answers = await Promise.all(
      [...probes].map(async ([name, probe]) => {
        const said = probe().catch(() => false);
        const isFine = await inTime(said, { timeoutMs: PROBE_TIMEOUT_MS, late: false, clock });
        return isFine ? [] : [name];
      }),
    );
    running = undefined;
    return answers.flat();
  };
  return () => (running ??= ask());
}
