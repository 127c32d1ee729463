import { compactVerify, flattenedVerify, importJWK, type JWK } from "jose";
import type { Clock } from "../base/clock.ts";
import { type FetchJson, PublishedJson } from "./published-json.ts";

/** Sets of public keys (RFC 7517 section 5), of which what is no object is dropped. */
export const keySets = (
  fetchJson: FetchJson,
  clock: Pick<Clock, "monotonicMs">,
  { timeoutMs, keptMs }: { readonly timeoutMs: number; readonly keptMs: number },
): PublishedJson<readonly JWK[]> =>
  new PublishedJson({ fetchJson, clock, read: keysOf, timeoutMs, keptMs });

function keysOf(json: unknown): readonly JWK[] | undefined {
  const { keys } = Object(json) as { readonly keys?: unknown };
  if (!Array.isArray(keys)) return undefined;
  return keys.filter((key): key is JWK => typeof key === "object" && key !== null);
}

/** What was signed: a compact JWS, or one whose payload is somewhere else. */
type Signed =
  string | { readonly protected: string; readonly payload: string; readonly signature: string };

/** Whether the key is for this algorithm and made the signature. Only the listed algorithms are; a private key is none. */
export async function isSignedBy(
  jwk: JWK,
  signed: Signed,
  { alg, algorithms }: { readonly alg: string; readonly algorithms: readonly string[] },
): Promise<boolean> {
  if ((jwk.alg ?? alg) !== alg || (jwk.use ?? "sig") !== "sig") return false;
  const options = { algorithms: [...algorithms] };
  try {
    const key = await importJWK(jwk, alg);
    if (key instanceof Uint8Array) return false;
    if (typeof signed === "string") await compactVerify(signed, key, options);
    else await flattenedVerify(signed, key, options);
    return true;
  } catch {
    return false; // not signed by it, or no key of this algorithm
  }
}
