import type { MailSighting } from "../../src/core/evidence/mail-servers/learn-mail-servers.ts";
import type { Zone } from "./zone-lookup.ts";

/** One domain of the synthetic world, and the truth about it. */
export interface WorldDomain {
  readonly name: string;
  readonly disposable: boolean;
  /** Curated lists hold it. */
  readonly listed: boolean;
  /** Its mail server serves only disposable domains: DNS can teach this. */
  readonly dedicated: boolean;
  readonly host: string;
  readonly address: string;
}

export interface MailWorld {
  readonly domains: readonly WorldDomain[];
  readonly zone: Zone;
}

/** Pseudo-random numbers from 0 to 1 that are the same in every run (a linear congruence modulo 2^32). */
function lot(seed: number): () => number {
  let state = seed;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
}

/** Sizes with a long tail: most are small. */
const sizeFrom = (least: number, most: number, drawn: number): number =>
  Math.floor(least * (most / least) ** drawn);

const OPERATORS = 40;
const HOSTERS = 40;

/**
 * Some 7,000 domains, 30 % of the disposable ones listed; names under .example, addresses for tests or of one
 * made-up network. Forty operators of disposable mail with 6 to 240 names each, half of them on one host, half
 * with mail.<own domain> on one machine; forty hosting companies with 10 to 300 honest customers, a third of those
 * with mail.<own domain>, and up to `guestsMax` disposable guests each, mostly few; a
 * large carrier with both.
 */
export function mailWorld(seed = 42, guestsMax = 26): MailWorld {
  const draw = lot(seed);
  const domains: WorldDomain[] = [];
  const add: Add = (name, on, its) =>
    void domains.push({ name, listed: its.disposable && draw() < 0.3, ...on, ...its });
  for (let n = 0; n < OPERATORS; n += 1) addOperator(n, sizeFrom(6, 240, draw()), add);
  for (let n = 0; n < HOSTERS; n += 1) {
    const shops = sizeFrom(10, 300, draw());
    addHoster(n, { shops, guests: Math.floor((guestsMax + 1) * draw() ** 2) }, add);
  }
  const carrier = { host: "route1.mx.cloudflare.net", address: "203.0.113.200" };
  for (let n = 0; n < 300; n += 1) add(`carried${String(n)}.example`, carrier, GUEST);
  for (let n = 0; n < 1_000; n += 1) add(`cloud${String(n)}.example`, carrier, HONEST);
  return { domains, zone: zoneOf(domains) };
}

type Add = (
  name: string,
  on: Pick<WorldDomain, "host" | "address">,
  its: Pick<WorldDomain, "disposable" | "dedicated">,
) => void;

const DEDICATED = { disposable: true, dedicated: true };
const GUEST = { disposable: true, dedicated: false };
const HONEST = { disposable: false, dedicated: false };

function addOperator(operator: number, size: number, add: Add): void {
  const address = `198.51.100.${String(operator)}`;
  for (let n = 0; n < size; n += 1) {
    const name = `drop${String(n)}-${String(operator)}.example`;
    const host = operator % 2 === 0 ? `mx.op${String(operator)}.example` : `mail.${name}`;
    add(name, { host, address }, DEDICATED);
  }
}

function addHoster(
  hoster: number,
  { shops, guests }: { readonly shops: number; readonly guests: number },
  add: Add,
): void {
  const on = { host: `mx.hoster${String(hoster)}.example`, address: `192.0.2.${String(hoster)}` };
  for (let n = 0; n < shops; n += 1) {
    const name = `shop${String(n)}-${String(hoster)}.example`;
    add(name, n % 3 === 0 ? { ...on, host: `mail.${name}` } : on, HONEST);
  }
  for (let n = 0; n < guests; n += 1) {
    add(`guest${String(n)}-${String(hoster)}.example`, on, GUEST);
  }
}

function zoneOf(domains: readonly WorldDomain[]): Zone {
  const zone: Record<string, { mx?: readonly string[]; a?: readonly string[] }> = {};
  for (const { name, host, address } of domains) {
    zone[name] = { mx: [`10 ${host}`] };
    zone[host] = { a: [address] };
  }
  return zone;
}

/** What a learner sees: the listed names, and one in `seenOneIn` honest names from own traffic. */
export function* sightingsOf({ domains }: MailWorld, seenOneIn: number): Generator<MailSighting> {
  for (const [index, { name, listed, disposable, host, address }] of domains.entries()) {
    if (!listed && (disposable || index % seenOneIn !== 0)) continue;
    yield { domain: name, listed, hosts: [host], addresses: [address] };
  }
}
