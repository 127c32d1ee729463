import type { Finding } from "../../cli/commands/doctor.ts";
import type { Trust } from "../../dns/trust/trust.ts";
import type { Lookup } from "../../core/mail/lookup.ts";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import { note, ok, wrong } from "./findings.ts";

const NAME = "resolver";

/** Names that do not exist: each is asked once, so no cache answers. */
const QUESTIONS = 20;

/** Below these a single check is slow, or often undecided. */
const SLOW_MS = 400;
const LOST_MAX = 1;

export interface ResolverDeps {
  /** Asks what the service asks; undefined when GATEPOST_DNS_CANARIES is off. */
  readonly trust: Pick<Trust, "round"> | undefined;
  readonly lookup: Pick<Lookup, "mx" | "addresses">;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Whether DNS tells the truth about names that cannot exist, how fast it is and how much is lost. */
export async function examineResolver(deps: ResolverDeps): Promise<Finding> {
  const lie = await deps.trust?.round();
  if (lie !== undefined) return wrong(NAME, lie.says, lie.toDo);
  const answers = await Promise.all(Array.from({ length: QUESTIONS }, () => ask(deps)));
  const lost = answers.filter(({ kind }) => kind === "unknown").length;
  if (lost === QUESTIONS) {
    return wrong(
      NAME,
      "DNS does not answer.",
      "Check the network, or set GATEPOST_DNS_SERVERS to a resolver that answers.",
    );
  }
  if (answers.some(({ kind }) => kind === "found")) {
    return wrong(
      NAME,
      "It invents addresses for names that do not exist, so every typing error looks like a domain.",
      "Set GATEPOST_DNS_SERVERS to a resolver that tells the truth, best one of your own.",
    );
  }
  const medianMs = Math.round(
    answers.map(({ ms }) => ms).sort((a, b) => a - b)[QUESTIONS / 2] ?? 0,
  );
  const figures = `${String(QUESTIONS - lost)} of ${String(QUESTIONS)} answers, half of them within ${String(medianMs)} ms.`;
  if (lost > LOST_MAX || medianMs > SLOW_MS) {
    const advice =
      "Use a resolver that is nearer, best one on this machine (GATEPOST_DNS_SERVERS).";
    return note(NAME, `It is slow or loses answers: ${figures}`, advice);
  }
  return ok(NAME, `It tells the truth: ${figures}`);
}

async function ask({ lookup, clock, ids }: ResolverDeps): Promise<{ kind: string; ms: number }> {
  const startMs = clock.monotonicMs();
  const { kind } = await lookup.addresses(`${ids.hex32()}.com`);
  return { kind, ms: clock.monotonicMs() - startMs };
}
