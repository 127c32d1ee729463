import type { AbsentReason, UnknownReason } from "../../core/mail/lookup.ts";
import { type Owned, type Question, RCODE, type Response, appended } from "./wire.ts";

export type Reply<T> =
  | {
      readonly kind: "found";
      readonly records: readonly T[];
      readonly ttlSeconds: number;
    }
  | {
      readonly kind: "absent";
      readonly why: AbsentReason;
      /** By the SOA (RFC 2308 section 5), or an alias on the way if less; undefined without a SOA. */
      readonly ttlSeconds: number | undefined;
    }
  /** The name is an alias, and the answer does not contain its target. */
  | { readonly kind: "alias"; readonly target: string; readonly ttlSeconds: number }
  | { readonly kind: "unknown"; readonly why: UnknownReason };

const CHAIN_MAX = 16;

const MALFORMED = { kind: "unknown", why: "malformed" } as const;

/** By the response code and by whether the asked type stands at the end of the chain (RFC 2308 s. 2, RFC 6604 s. 3). */
export function interpret<T>({ name }: Question<T>, response: Response<T>): Reply<T> {
  const { rcode } = response;
  if (rcode === RCODE.refused) return { kind: "unknown", why: "refused" };
  if (rcode === RCODE.formErr) return MALFORMED;
  if (rcode !== RCODE.noError && rcode !== RCODE.nxDomain) {
    return { kind: "unknown", why: "servfail" };
  }
  const end = chainEnd(name, response.aliases);
  if (end === undefined) return MALFORMED;
  let records: T[] | undefined;
  let { ttlSeconds } = end;
  for (const record of response.records) {
    if (record.owner !== end.name) continue;
    records = appended(records, record.data);
    ttlSeconds = Math.min(ttlSeconds, record.ttlSeconds);
  }
  if (records === undefined) return nothingAt(end, name, response);
  if (rcode === RCODE.nxDomain) return MALFORMED; // it exists and it does not
  return { kind: "found", records, ttlSeconds };
}

interface ChainEnd {
  readonly name: string;
  readonly ttlSeconds: number;
}

function chainEnd(name: string, aliases: readonly Owned<string>[]): ChainEnd | undefined {
  let end: ChainEnd = { name, ttlSeconds: Infinity };
  if (aliases.length === 0) return end;
  const byOwner = new Map(aliases.map((alias) => [alias.owner, alias]));
  for (let hops = 0; hops <= CHAIN_MAX; hops += 1) {
    const alias = byOwner.get(end.name);
    if (alias === undefined) return end;
    end = { name: alias.data, ttlSeconds: Math.min(end.ttlSeconds, alias.ttlSeconds) };
  }
  return undefined;
}

function nothingAt<T>(end: ChainEnd, name: string, response: Response<T>): Reply<T> {
  const { rcode, negativeTtlSeconds, referral } = response;
  const isAlias = end.name !== name;
  if (rcode === RCODE.noError && negativeTtlSeconds === undefined) {
    if (isAlias) return { kind: "alias", target: end.name, ttlSeconds: end.ttlSeconds };
    // A referral is not an answer: the server does not look further for us (RFC 2308 section 2.2).
    if (referral) return { kind: "unknown", why: "refused" };
  }
  const ttlSeconds =
    negativeTtlSeconds === undefined ? undefined : Math.min(negativeTtlSeconds, end.ttlSeconds);
  return { kind: "absent", why: rcode === RCODE.nxDomain ? "noName" : "noData", ttlSeconds };
}
