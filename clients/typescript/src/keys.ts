import type { BulkWork } from "./bulk.ts";
import { startDeadline } from "./question.ts";
import { GatepostError, isFields, unlike } from "./results.ts";
import { kidOf, type PublicKey } from "./token.ts";

/** The public keys of the service, fetched and kept. */
export interface Keys {
  /** Undefined: none could ever be fetched. Old ones stay while the service is away. */
  forToken(token: string): Promise<readonly PublicKey[] | undefined>;
}

const FRESH_MS = 300_000;
/** A token with an unknown key, which anyone can write, makes at most one question in this time. */
const AGAIN_MS = 10_000;
const FETCH_MS = 3_000;
const KEYS_MAX_BYTES = 65_536;

export function createKeys(asking: BulkWork["asking"], told: (fault: GatepostError) => void): Keys {
  let held: readonly PublicKey[] | undefined;
  let heldAtMs = -Infinity;
  let askedAtMs = -Infinity;
  let fetching: Promise<void> | undefined;
  const fetchKeys = async (): Promise<void> => {
    const deadline = startDeadline(FETCH_MS);
    askedAtMs = performance.now();
    try {
      const question = { path: "/.well-known/jwks.json", maxBytes: KEYS_MAX_BYTES };
      const body = await asking(question, deadline);
      if (!isFields(body) || !Array.isArray(body["keys"])) throw unlike();
      held = body["keys"].filter(isFields);
      heldAtMs = performance.now();
    } catch (error) {
      told(error instanceof GatepostError ? error : unlike());
    } finally {
      deadline.clear();
      fetching = undefined;
    }
  };
  return {
    async forToken(token) {
      const now = performance.now();
      const isKnown = held?.some(({ kid }) => kid === kidOf(token)) ?? false;
      const isFresh = isKnown && now - heldAtMs < FRESH_MS;
      if (!isFresh && (fetching !== undefined || now - askedAtMs >= AGAIN_MS)) {
        await (fetching ??= fetchKeys());
      }
      return held;
    },
  };
}
