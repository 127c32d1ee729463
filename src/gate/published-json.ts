import { compactVerify, flattenedVerify, importJWK, type JWK } from "jose";
import { LRUCache } from "lru-cache";
import type { Clock } from "../base/clock.ts";
import { FairQueue } from "../base/fair-queue.ts";
import type { OwnerKey } from "../base/owner.ts";
import { jsonIn } from "../core/json.ts";
import { registrableOf } from "../core/name/domain.ts";
import type { Outbound } from "../outbound/outbound-types.ts";

const MAX_BYTES = 65_536;
const KEPT_MAX = 1_000;

/** How long a document is believed; a failure, or one without what is looked for, is asked again sooner. */
const BELIEVED_MS = 300_000;
const ASKED_AGAIN_MS = 60_000;

type Time = Pick<Clock, "monotonicMs">;

/** Who makes us fetch a document. Whoever names a host that fails, or that is slow, does not harm others who name it. */
export interface Wanting {
  readonly timeoutMs: number;
  /** The issuer of a proof, or the account of a hook; a failure is remembered for it and the host together. */
  readonly by: string;
}

/** The JSON at a URL; undefined when there is none to be had. */
export type FetchJson = (url: string, wanting: Wanting) => Promise<unknown>;

const WAITING_MAX = 8;

type HostQueue = FairQueue<() => Promise<void>>;

/** By https alone and without redirects, one document at a time from a host, for each registrable domain or account in turn. */
export function createFetchJson(outbound: Pick<Outbound, "http">, clock: Time): FetchJson {
  const hosts = new Map<string, HostQueue>();
  const failedAtMs = new LRUCache<string, number>({ max: KEPT_MAX });
  const serve = async (host: string, waiting: HostQueue): Promise<void> => {
    for (let next = waiting.next(); next !== undefined; next = waiting.next()) await next.item();
    hosts.delete(host);
  };
  const fetched = async (url: string, known: string, timeoutMs: number): Promise<unknown> => {
    if (clock.monotonicMs() - (failedAtMs.get(known) ?? -Infinity) < ASKED_AGAIN_MS) {
      return undefined;
    }
    const answer = await outbound.http({
      url,
      method: "GET",
      headers: { accept: "application/json" },
      timeoutMs,
      maxBodyBytes: MAX_BYTES,
      maxRedirects: 0,
    });
    if (!answer.ok) failedAtMs.set(known, clock.monotonicMs());
    if (!answer.ok || answer.value.status !== 200 || answer.value.cut) return undefined;
    return jsonIn(Buffer.from(answer.value.body).toString());
  };
  return (url, { timeoutMs, by }) => {
    if (!url.startsWith("https://") || !URL.canParse(url)) return Promise.resolve(undefined);
    const { host } = new URL(url);
    const owner: OwnerKey = registrableOf(by) ?? by;
    const known = hosts.get(host);
    const queue = known ?? new FairQueue();
    if (queue.lengthOf(owner) >= WAITING_MAX) return Promise.resolve(undefined);
    const answer = new Promise<unknown>((resolve, reject) => {
      const fetching = (): Promise<unknown> => fetched(url, `${by} ${host}`, timeoutMs);
      queue.push(owner, () => fetching().then(resolve, reject));
    });
    if (known === undefined) {
      hosts.set(host, queue);
      void serve(host, queue);
    }
    return answer;
  };
}

interface CachedJson<T> {
  value?: T | undefined;
  askedAtMs: number;
  fetchedAtMs: number;
  asking?: Promise<void> | undefined;
}

export interface Published<T> {
  readonly value: T;
  /** Whether it came with the last fetch, so that what it lacks is not there. */
  readonly isCurrent: boolean;
}

interface PublishedJsonOptions<T> {
  readonly fetchJson: FetchJson;
  readonly clock: Time;
  readonly read: (json: unknown) => T | undefined;
  readonly timeoutMs: number;
  readonly keptMs: number;
}

export class PublishedJson<T> {
  readonly #options: PublishedJsonOptions<T>;
  readonly #kept = new LRUCache<string, CachedJson<T>>({ max: KEPT_MAX });

  constructor(options: PublishedJsonOptions<T>) {
    this.#options = options;
  }

  /** What is kept is kept for each `by` apart. */
  async at(
    url: string,
    by: string,
    hasWanted: (value: T) => boolean = () => true,
  ): Promise<Published<T> | undefined> {
    const { clock, keptMs } = this.#options;
    const key = `${by} ${url}`;
    const kept = this.#kept.get(key) ?? { askedAtMs: -Infinity, fetchedAtMs: -Infinity };
    this.#kept.set(key, kept);
    const isThere = kept.value !== undefined && hasWanted(kept.value);
    const isStale =
      clock.monotonicMs() - kept.askedAtMs >= (isThere ? BELIEVED_MS : ASKED_AGAIN_MS);
    if (isStale) await (kept.asking ??= this.#ask(url, by, kept));
    const { value, askedAtMs, fetchedAtMs } = kept;
    if (value === undefined || clock.monotonicMs() - fetchedAtMs > keptMs) return undefined;
    return { value, isCurrent: fetchedAtMs === askedAtMs };
  }

  async #ask(url: string, by: string, kept: CachedJson<T>): Promise<void> {
    const { fetchJson, clock, read, timeoutMs } = this.#options;
    const value = read(await fetchJson(url, { timeoutMs, by }));
    kept.askedAtMs = clock.monotonicMs();
    if (value !== undefined) Object.assign(kept, { value, fetchedAtMs: kept.askedAtMs });
    kept.asking = undefined;
  }
}

/** Sets of public keys (RFC 7517 section 5), of which what is no object is dropped. */
export const keySets = (
  fetchJson: FetchJson,
  clock: Time,
  { timeoutMs, keptMs }: { readonly timeoutMs: number; readonly keptMs: number },
): PublishedJson<readonly JWK[]> =>
  new PublishedJson({ fetchJson, clock, read: keysOf, timeoutMs, keptMs });

function keysOf(json: unknown): readonly JWK[] | undefined {
  const { keys } = Object(json) as { readonly keys?: unknown };
  if (!Array.isArray(keys)) return undefined;
  return keys.filter((key): key is JWK => typeof key === "object" && key !== null);
}

/** Whether the key is for this algorithm and made the signature. Only the listed algorithms are; a private key is none. */
export async function isSignedBy(
  jwk: JWK,
  signed:
    string | { readonly protected: string; readonly payload: string; readonly signature: string },
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
