import type { JsonWebKey } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import type { Outbound } from "../outbound/outbound-types.ts";
import type { HookKeys } from "./hook-signatures.ts";

const TIMEOUT_MS = 700;
const MAX_BYTES = 65_536;
const KEPT_MAX = 1_000;

/** How long keys are believed; a failure, or a set without the wanted key, is asked again sooner. */
const BELIEVED_MS = 300_000;
const ASKED_AGAIN_MS = 60_000;

interface KeySet {
  keys?: readonly JsonWebKey[] | undefined;
  askedAtMs: number;
  asking?: Promise<void> | undefined;
}

/** Public keys of identity systems by URL. `outbound` must reach public addresses only. Rejects without any keys. */
export function createHookKeys(
  outbound: Pick<Outbound, "http">,
  clock: Pick<Clock, "monotonicMs">,
): (url: string) => HookKeys["jwks"] {
  const kept = new Map<string, KeySet>();
  const ask = async (url: string, set: KeySet): Promise<void> => {
    set.keys = (await fetchKeys(url, outbound)) ?? set.keys;
    set.askedAtMs = clock.monotonicMs();
    set.asking = undefined;
  };
  return (url) => async (kid) => {
    if (kept.size >= KEPT_MAX) kept.clear();
    const set = kept.get(url) ?? { askedAtMs: -Infinity };
    kept.set(url, set);
    const isThere = set.keys?.some((key) => kid === undefined || key["kid"] === kid) === true;
    const isStale = clock.monotonicMs() - set.askedAtMs >= (isThere ? BELIEVED_MS : ASKED_AGAIN_MS);
    if (isStale) await (set.asking ??= ask(url, set));
    if (set.keys === undefined) {
      throw new Error(`the public keys at ${new URL(url).host} cannot be fetched`);
    }
    return set.keys;
  };
}

async function fetchKeys(
  url: string,
  outbound: Pick<Outbound, "http">,
): Promise<readonly JsonWebKey[] | undefined> {
  if (!url.startsWith("https://")) return undefined; // of a hook from before this was refused
  const answer = await outbound.http({
    url,
    method: "GET",
    headers: { accept: "application/json" },
    timeoutMs: TIMEOUT_MS,
    maxBodyBytes: MAX_BYTES,
    maxRedirects: 0,
  });
  if (!answer.ok || answer.value.status !== 200 || answer.value.cut) return undefined;
  try {
    const { keys } = JSON.parse(Buffer.from(answer.value.body).toString()) as { keys?: unknown };
    if (!Array.isArray(keys)) return undefined;
    return keys.filter((key): key is JsonWebKey => typeof key === "object" && key !== null);
  } catch {
    return undefined;
  }
}
