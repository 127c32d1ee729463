import type { Answer, Registration, Until } from "../../core/mail/lookup.ts";
import type { OwnerKey } from "../../base/owner.ts";
import type { Clock } from "../../base/clock.ts";
import { NoRoom, type Shares } from "../../base/shares.ts";

/** How long a question may wait for its turn. */
const WAIT_MS = 10_000;

/** The owner of questions without a caller. */
const OPERATOR = "account:operator";

/** Asks a registry. `until`: given when others wait for the answer too. */
export type Question = (until?: Until) => Promise<Answer<Registration>>;

/** Limits the questions to each registry's server, and serves owners in turn. */
export interface ServerSlots {
  /** Runs `work` when the server has room; undefined when it has none in time or is held. */
  run(server: string, work: Question, by?: OwnerKey): Promise<Answer<Registration> | undefined>;
  /** Asks the server nothing for this time. */
  hold(server: string, forMs: number): void;
}

export function createServerSlots(
  clock: Pick<Clock, "monotonicMs">,
  shares: Pick<Shares, "registry">,
): ServerSlots {
  /** By server: the monotonic time before which it must not be asked. */
  const heldUntilMs = new Map<string, number>();
  const isHeld = (server: string): boolean =>
    (heldUntilMs.get(server) ?? -Infinity) > clock.monotonicMs();
  return {
    async run(server, work, by = OPERATOR) {
      const askedMs = clock.monotonicMs();
      if (isHeld(server)) return undefined;
      const inTurn = async () => {
        const isLate = clock.monotonicMs() - askedMs > WAIT_MS;
        return isHeld(server) || isLate ? undefined : await work();
      };
      try {
        return await shares.registry(server).run(by, inTurn);
      } catch (error) {
        if (error instanceof NoRoom) return undefined;
        throw error;
      }
    },
    hold(server, forMs) {
      const untilMs = clock.monotonicMs() + forMs;
      heldUntilMs.set(server, Math.max(heldUntilMs.get(server) ?? -Infinity, untilMs));
    },
  };
}
