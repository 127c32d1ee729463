// The part of the library that needs nothing of Node: browsers, workers and Deno run it too.
import { HttpsResolver, type Fetch } from "../../../src/dns/https-resolver.ts";
import { createDnsLookup, type DnsQuestions } from "../../../src/dns/lookup.ts";
import { decodeLists } from "../../../src/lists/lists-file.ts";
import { noRules } from "../../../src/lists/shared-datasets.ts";
import { attachDatasets } from "../../../src/lists/shared-datasets.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { readEntry } from "../../../src/core/address/address.ts";
import type { Datasets } from "../../../src/core/evidence/datasets.ts";
import type { Lookup, Unknown } from "../../../src/core/mail/lookup.ts";
import { LARGE_PROVIDERS } from "../../../src/core/tables/data.ts";
import { formatProblem } from "../../../src/core/validate/malformed.ts";
import type { Reason } from "../../../src/core/validate/explain.ts";
import {
  CHECK_OPTIONS,
  type CheckOptions,
  refuseUnknown,
  type Validator,
  validatorOf,
} from "./validator.ts";

export type { Reason } from "../../../src/core/validate/explain.ts";
export type { CheckOptions, FeatureName, Result, Validator } from "./validator.ts";

export type Lists = Datasets;

export interface Dns extends DnsQuestions {
  close(): void;
}

export interface CoreOptions extends CheckOptions {
  /** As `readLists` gives them; none unless given: then no name is listed, free or a role. */
  readonly lists?: Lists;
  /** As `dnsOverHttps` gives it; none unless given: every result then says `dns_indeterminate`. */
  readonly dns?: Dns;
}

/** Checks without a server: by syntax and rules, by `lists` and by `dns` where they are given. */
export function createValidator(options: CoreOptions = {}): Promise<Validator> {
  refuseUnknown(options, { ...CHECK_OPTIONS, lists: true, dns: true });
  const { lists = noLists, dns = noDns } = options;
  requireDns(dns);
  if (typeof lists !== "object") throw new TypeError("lists: not what readLists gives");
  return Promise.resolve(
    validatorOf({
      ...options,
      lookup: lookupOf(dns, cannotTell),
      datasets: () => lists,
      clock: systemClock,
      refreshLists: () => Promise.resolve(),
      close: () => dns.close(),
    }),
  );
}

export function requireDns(dns: Dns): void {
  const isDns = typeof dns === "object" && typeof dns.mx === "function";
  if (!isDns) throw new TypeError("dns: not what dnsOverHttps gives; DNS servers are dnsServers");
}

/** The questions of `dns`, and those to registries. */
export const lookupOf = (dns: DnsQuestions, registration: Lookup["registration"]): Lookup => ({
  mx: (name, by, until) => dns.mx(name, by, until),
  addresses: (host, by, until) => dns.addresses(host, by, until),
  txt: (name, by, until) => dns.txt(name, by, until),
  registration,
});

const cannotTell = (): Unknown => ({ kind: "unknown", why: "network" });

const noDns: Dns = {
  mx: cannotTell,
  addresses: cannotTell,
  txt: cannotTell,
  close: () => undefined,
};

const nothing = { has: () => false };

const noLists: Lists = {
  version: 0,
  sources: [],
  disposable: { sourcesOf: () => 0 },
  families: { sourcesOf: () => 0 },
  mailServers: { kindOf: () => undefined },
  free: nothing,
  knownGood: LARGE_PROVIDERS,
  roles: nothing,
  operator: noRules,
};

/** Reads a file of lists: `bundled.lists` or `small.lists` of this package, or `/feeds/disposable.lists` of a Gatepost server. */
export function readLists(file: ArrayBuffer | Uint8Array): Lists {
  const octets = file instanceof Uint8Array ? file : new Uint8Array(file);
  const { packed } = decodeLists(octets, (bytes) => new ArrayBuffer(bytes), crc32);
  return attachDatasets(packed, noRules);
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** CRC-32 as in RFC 1952 section 8, for browsers; `sum` is that of the octets before. */
function crc32(octets: Uint8Array, sum: number): number {
  let value = sum ^ 0xffffffff;
  for (const octet of octets) value = (CRC_TABLE[(value ^ octet) & 0xff] ?? 0) ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}

export interface DnsOverHttpsOptions {
  /** Of the server's query resource: `https:`, or `http:` on this machine. */
  readonly url: string;
  readonly fetch?: Fetch;
  /** Memory of the answers that are kept for as long as their TTL says; 4 MiB unless given. */
  readonly cacheOctets?: number;
}

const CACHE_OCTETS = 4 * 1_048_576;

/** Asks DNS over HTTPS (RFC 8484). The server learns which domains you check. */
export function dnsOverHttps(options: DnsOverHttpsOptions): Dns {
  refuseUnknown(options, { url: true, fetch: true, cacheOctets: true });
  const { fetch = ownFetch, cacheOctets = CACHE_OCTETS } = options;
  const clock = systemClock;
  const resolver = new HttpsResolver({ url: queryUrl(options.url), fetch, clock });
  return createDnsLookup(resolver, { clock, cacheOctets });
}

const ownFetch: Fetch = (url, init) => globalThis.fetch(url, init);

/** Without the variable of a URI template, as servers publish it: "https://dns.example/dns-query{?dns}". */
function queryUrl(text: string): string {
  const plain = text.replace(/\{[?&]dns\}$/, "");
  const url = URL.canParse(plain) ? new URL(plain) : undefined;
  const isOwn = url !== undefined && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url?.protocol === "https:" || (url?.protocol === "http:" && isOwn)) return plain;
  throw new TypeError(`url: "${text}" is not the https: URL of a DNS server`);
}

export type Syntax =
  | {
      readonly ok: true;
      readonly kind: "address" | "domain";
      /** Lower-case A-labels, no last dot. */
      readonly domain: string;
      readonly localPart?: string;
    }
  | ({ readonly ok: false } & Pick<Reason, "code" | "message">);

/** Reads an address (it holds an "@") or a domain, at once and without asking anybody. */
export function checkSyntax(entry: string): Syntax {
  const read = readEntry(entry, "either");
  if (read.kind === "malformed") {
    const { code, message } = formatProblem(entry, "either", read.fault);
    return { ok: false, code, message };
  }
  const { kind, domain } = read;
  if (kind === "domain") return { ok: true, kind, domain: domain.name };
  return { ok: true, kind, domain: domain.name, localPart: read.address.localPart };
}
