import ipaddr from "ipaddr.js";
import type { IncomingMessage } from "node:http";
import type { HttpRequest } from "./route.ts";
import type { Credentials } from "../accounts/admission/caller.ts";

export type TrustedProxies = readonly ProxyNetwork[];

type ProxyNetwork = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, prefixLength: number];

/** Reads GATEPOST_TRUST_PROXY: addresses or CIDRs. Throws an `Error` that names every piece that is neither. */
export function readTrustedProxies(text: string): TrustedProxies {
  const pieces = text.split(/[\s,]+/).filter((piece) => piece !== "");
  const wrong = pieces.filter((piece) => readNetwork(piece) === undefined);
  if (wrong.length > 0) throw new Error(`neither an address nor a CIDR: ${wrong.join(", ")}`);
  return pieces.flatMap((piece) => {
    const network = readNetwork(piece);
    return network === undefined ? [] : [network];
  });
}

function readNetwork(text: string): ProxyNetwork | undefined {
  const [, addressText = "", lengthText] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const written = parse(addressText);
  if (written === undefined) return undefined;
  const address = unmapped(written);
  const bits = address.kind() === "ipv4" ? 32 : 128;
  // A prefix written for the mapped form ("::ffff:10.0.0.0/104") counts 96 bits that the IPv4 form lacks.
  const lead = written.kind() === address.kind() ? 0 : 96;
  const length = lengthText === undefined ? bits : Number(lengthText) - lead;
  return length < 0 || length > bits ? undefined : [address, length];
}

/** Only the textual forms of RFC 4291 section 2.2 and dotted decimals: "0x7f.1" is not an address here. */
function parse(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  const withoutZone = text.split("%", 1)[0] ?? "";
  return ipaddr.IPv6.isValid(withoutZone) && withoutZone.includes(":")
    ? ipaddr.IPv6.parse(withoutZone)
    : undefined;
}

function unmapped(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  const mapped = address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress();
  return mapped ? address.toIPv4Address() : address;
}

const NO_ADDRESS = "0.0.0.0";

/** Plain IPv4, as most sockets name it, needs no parser. */
const PLAIN_IPV4 = /^\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}$/;

/**
 * The address that a request counts for: the peer's, or, when the peer is a trusted proxy, the right-most
 * one in `X-Forwarded-For` that is not. `forwardedFor` is the header's value, several lines joined with
 * commas. An invalid address ends the walk: pieces left of it were not written by a proxy that we
 * trust. IPv6 is written in its shortest form without a zone, IPv4-mapped IPv6 as IPv4.
 */
export function clientAddress(
  peer: string | undefined,
  forwardedFor: string | undefined,
  trusted: TrustedProxies,
): string {
  const text = peer ?? NO_ADDRESS;
  if (trusted.length === 0 && PLAIN_IPV4.test(text)) return text;
  const socket = parse(text);
  if (socket === undefined) return text;
  const address = unmapped(socket);
  if (forwardedFor === undefined || !isTrusted(address, trusted)) return written(address);
  return written(walk(address, forwardedFor, trusted));
}

function walk(
  proxy: ipaddr.IPv4 | ipaddr.IPv6,
  forwardedFor: string,
  trusted: TrustedProxies,
): ipaddr.IPv4 | ipaddr.IPv6 {
  let client = proxy;
  let end = forwardedFor.length;
  while (end > 0 && isTrusted(client, trusted)) {
    const comma = forwardedFor.lastIndexOf(",", end - 1);
    const hop = parse(withoutPort(forwardedFor.slice(comma + 1, end).trim()));
    if (hop === undefined) return client;
    client = unmapped(hop);
    end = comma;
  }
  return client;
}

/** Some proxies add the port: "192.0.2.1:4711", "[2001:db8::1]:4711". */
function withoutPort(text: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\](?::\d+)?|([^:]*):\d+)$/.exec(text) ?? [];
  return bracketed ?? plain ?? text;
}

function isTrusted(address: ipaddr.IPv4 | ipaddr.IPv6, trusted: TrustedProxies): boolean {
  return trusted.some(
    ([network, length]) => network.kind() === address.kind() && address.match(network, length),
  );
}

export function isTrustedProxy(peer: string, trusted: TrustedProxies): boolean {
  const address = trusted.length === 0 ? undefined : parse(peer);
  return address !== undefined && isTrusted(unmapped(address), trusted);
}

/** The peer that forwards for others and is not trusted, as far as its headers say so: a client may send them, too. */
export function unknownProxy(
  { headers, socket: { remoteAddress: peer } }: Pick<IncomingMessage, "headers" | "socket">,
  trusted: TrustedProxies,
): string | undefined {
  if (headers["x-forwarded-for"] === undefined || peer === undefined) return undefined;
  return isTrustedProxy(peer, trusted) ? undefined : clientAddress(peer, undefined, []);
}

const written = (address: ipaddr.IPv4 | ipaddr.IPv6): string => address.toString();

export function isLoopback(address: string): boolean {
  const parsed = parse(address);
  return parsed !== undefined && unmapped(parsed).range() === "loopback";
}

export function addressOf(
  { headers, socket }: IncomingMessage,
  { trustedProxies }: { readonly trustedProxies: TrustedProxies },
): string {
  const forwarded = headers["x-forwarded-for"];
  const line = typeof forwarded === "string" ? forwarded : forwarded?.join(",");
  return clientAddress(socket.remoteAddress, line, trustedProxies);
}

const NO_CREDENTIALS: Credentials = { apiKey: [], authorization: [] };

/** Node joins repeated headers or drops all but the first; the raw list has them all. */
export function credentialsOf({ headers, rawHeaders }: HttpRequest): Credentials {
  if (headers["x-api-key"] === undefined && headers.authorization === undefined) {
    return NO_CREDENTIALS;
  }
  const [apiKey, authorization]: [string[], string[]] = [[], []];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (name.length !== "x-api-key".length && name.length !== "authorization".length) continue;
    const value = rawHeaders[at + 1] ?? "";
    if (name.toLowerCase() === "x-api-key") apiKey.push(value);
    else if (name.toLowerCase() === "authorization") authorization.push(value);
  }
  return { apiKey, authorization };
}
