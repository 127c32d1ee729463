/** Names of the bench's server, and the share of them that its proxy never answers. */
export const ZONE = "bench.example";

/** The `index`-th name. */
export const nameOf = (index: number): string => `d${index}.${ZONE}`;

/** One name in fifty is dead: the proxy answers nothing about it. */
export const isDead = (index: number): boolean => index % 50 === 7;

/** Whether a query message asks about a dead name; the first label is "d" and the index. */
export function isDeadQuery(query: Buffer): boolean {
  const length = query[12] ?? 0;
  return isDead(Number(query.toString("latin1", 14, 13 + length)));
}

/** A zone file in which each name has one MX of a few hundred providers. */
export function zoneFile(count: number): string {
  const lines = [
    `$ORIGIN ${ZONE}.`,
    "$TTL 3600",
    `@ SOA ns hostmaster 1 7200 3600 1209600 300`,
    "@ NS ns",
    "ns A 127.0.0.1",
  ];
  for (let index = 0; index < count; index += 1) {
    lines.push(`d${index} MX 10 mx${index % 300}.mail.example.`);
  }
  return `${lines.join("\n")}\n`;
}

/** The questions in dnsperf's form. */
export const dnsperfInput = (names: readonly string[]): string =>
  names.map((name) => `${name} MX\n`).join("");
