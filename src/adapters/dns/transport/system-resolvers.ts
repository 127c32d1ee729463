import { isIP, isIPv6 } from "node:net";
import { isReachable } from "../../../core/name/reachable.ts";
import type { ServerAddress } from "./server-address.ts";

const DNS_PORT = 53;

/** The C library reads no more (resolv.conf(5), MAXNS). */
const SYSTEM_SERVERS_MAX = 3;

/** Queries under way at once against resolvers of our own, and against anybody else's. */
const OWN_WINDOW_MAX = 2_000;
const FOREIGN_WINDOW_MAX = 800;

/**
 * The name servers of a `resolv.conf` text, in order, at most three; what is no address is passed over.
 * None named means the machine itself, as resolv.conf(5) has it.
 */
export function readResolvConf(text: string): readonly ServerAddress[] {
  const hosts = text
    .split("\n")
    .map((line) => /^nameserver[ \t]+([^ \t\r#;]+)/.exec(line)?.[1] ?? "")
    .filter((host) => isIP(host) !== 0)
    .slice(0, SYSTEM_SERVERS_MAX);
  return (hosts.length === 0 ? ["127.0.0.1"] : hosts).map((host) => ({ host, port: DNS_PORT }));
}

/**
 * The servers of `GATEPOST_DNS_SERVERS`: comma-separated `192.0.2.1`, `192.0.2.1:5353`, `2001:db8::1` or
 * `[2001:db8::1]:5353`. Throws an `Error` that names the piece that is none of these.
 */
export function parseDnsServers(text: string): readonly ServerAddress[] {
  const pieces = text.split(",").map((piece) => piece.trim());
  return pieces.map((piece) => {
    const server = parseServer(piece);
    if (server !== undefined) return server;
    const forms = "192.0.2.1, 192.0.2.1:5353, 2001:db8::1 or [2001:db8::1]:5353";
    throw new Error(
      `"${piece}" is no name server: write an IP address with or without a port, ${forms}`,
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

/**
 * How many queries may be under way at once: 2,000 when every server is on this machine or in a private
 * network, 800 in all when one of them is somebody else's.
 */
export function windowMaxFor(servers: readonly ServerAddress[]): number {
  return servers.some(({ host }) => isReachable(host)) ? FOREIGN_WINDOW_MAX : OWN_WINDOW_MAX;
}
