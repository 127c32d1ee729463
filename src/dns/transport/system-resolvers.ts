import { getServers } from "node:dns";
import { isIP, isIPv6 } from "node:net";
import { isReachable } from "../../core/name/ip-address.ts";

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

const DNS_PORT = 53;

/** The C library reads no more (resolv.conf(5), MAXNS). */
const SYSTEM_SERVERS_MAX = 3;

/** Tries under way at once against the operator's own resolvers, and against others. */
const OWN_MAX = 2_000;
const FOREIGN_MAX = 800;

/** At most three. Without any the machine itself is asked, as resolv.conf(5) says. */
export function systemResolvers(
  listed: readonly string[] = getServers(),
): readonly ServerAddress[] {
  const servers = listed.flatMap((text) => parseServer(text) ?? []).slice(0, SYSTEM_SERVERS_MAX);
  return servers.length === 0 ? [{ host: "127.0.0.1", port: DNS_PORT }] : servers;
}

/** `GATEPOST_DNS_SERVERS`. Throws an `Error` that names a piece of any other form. */
export function parseDnsServers(text: string): readonly ServerAddress[] {
  if (text.trim().toLowerCase() === "off") return [];
  const pieces = text.split(",").map((piece) => piece.trim());
  return pieces.map((piece) => {
    const server = parseServer(piece);
    if (server !== undefined) return server;
    const forms = "192.0.2.1, 192.0.2.1:5353, 2001:db8::1 or [2001:db8::1]:5353";
    throw new Error(
      `"${piece}" is not a name server: write an IP address with or without a port, ${forms}`,
    );
  });
}

function parseServer(text: string): ServerAddress | undefined {
  if (isIP(text) !== 0) return { host: text, port: DNS_PORT };
  const [, bracketed, plain, digits] =
    /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed ?? plain ?? "";
  const port = digits === undefined ? DNS_PORT : Number(digits);
  const isAddress = bracketed === undefined ? isIP(host) === 4 : isIPv6(host);
  return isAddress && port >= 1 && port <= 65_535 ? { host, port } : undefined;
}

/** 2,000 when every server is on this machine or in a private network. */
export function underWayMaxFor(servers: readonly ServerAddress[]): number {
  return servers.some(({ host }) => isReachable(host)) ? FOREIGN_MAX : OWN_MAX;
}
