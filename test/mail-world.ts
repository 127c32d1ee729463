import type { Zone } from "./zone-lookup.ts";

/** One domain of the synthetic world, and the truth about it. */
export interface WorldDomain {
  readonly name: string;
  readonly disposable: boolean;
  /** Curated lists hold it. */
  readonly listed: boolean;
  /** Its mail server serves disposable domains alone: what can be learned from DNS. */
  readonly dedicated: boolean;
}

/** Pseudo-random numbers from 0 to 1 that are the same in every run (a linear congruence modulo 2^32). */
function lot(seed: number): () => number {
  let state = seed;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
}

/** A world of 7,500 domains, 30 % of the disposable ones listed. Names under .example, addresses for tests. */
export function mailWorld(): { readonly domains: readonly WorldDomain[]; readonly zone: Zone } {
  const draw = lot(42);
  const domains: WorldDomain[] = [];
  const zone: Record<string, { mx?: readonly string[]; a?: readonly string[] }> = {};
  const add = (
    name: string,
    host: string,
    address: string,
    its: Omit<WorldDomain, "name">,
  ): void => {
    domains.push({ name, ...its });
    zone[name] = { mx: [`10 ${host}`] };
    zone[host] = { a: [address] };
  };
  const isListed = (): boolean => draw() < 0.3;
  const bad = (dedicated: boolean) => ({ disposable: true, listed: isListed(), dedicated });
  const good = { disposable: false, listed: false, dedicated: false };
  for (let n = 0; n < 1_200; n += 1) {
    // Dedicated hosts, a hundred domains each.
    const operator = String(n % 12);
    add(
      `drop${String(n)}.example`,
      `mx.op${operator}.example`,
      `198.51.100.${operator}`,
      bad(true),
    );
  }
  for (let n = 0; n < 800; n += 1) {
    // mail.<own domain> on a dedicated address, eighty domains each.
    const name = `rotate${String(n)}.example`;
    add(name, `mail.${name}`, `203.0.113.${String(n % 10)}`, bad(true));
  }
  for (let n = 0; n < 200; n += 1) {
    // On hosts and addresses that honest customers use too: not to be told apart by DNS.
    const host = n % 10;
    add(
      `guest${String(n)}.example`,
      `mx.host${String(host)}.example`,
      `192.0.2.${String(host)}`,
      bad(false),
    );
  }
  for (let n = 0; n < 300; n += 1) {
    add(`carried${String(n)}.example`, "route1.mx.cloudflare.net", "192.0.2.200", bad(false));
  }
  for (let n = 0; n < 3_000; n += 1) {
    const host = n % 10;
    add(
      `shop${String(n)}.example`,
      `mx.host${String(host)}.example`,
      `192.0.2.${String(host)}`,
      good,
    );
  }
  for (let n = 0; n < 1_000; n += 1) {
    // mail.<own domain> on the shared machines.
    const name = `firm${String(n)}.example`;
    add(name, `mail.${name}`, `192.0.2.${String(n % 10)}`, good);
  }
  for (let n = 0; n < 1_000; n += 1) {
    add(`cloud${String(n)}.example`, "route1.mx.cloudflare.net", "192.0.2.200", good);
  }
  return { domains, zone };
}
