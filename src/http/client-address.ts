import type { IncomingMessage } from "node:http";
import { isIP, SocketAddress } from "node:net";
import { mappedV4, v6Groups, withoutPort } from "../core/name/ip-address.ts";
import { AddressRanges } from "../outbound/public-address.ts";
import type { HttpRequest } from "./route.ts";
import type { Credentials } from "../accounts/admission/caller.ts";

/** Empty: no peer is believed. */
export type TrustedProxies = readonly AddressRanges[];

/** Reads GATEPOST_TRUST_PROXY: addresses or CIDRs. Throws an `Error` that names every piece that is neither. */
export function readTrustedProxies(text: string): TrustedProxies {
  const pieces = text.split(/[\s,]+/).filter((piece) => piece !== "");
  return pieces.length === 0 ? [] : [new AddressRanges(pieces.map(unmapped))];
}

/** A prefix written for the mapped form ("::ffff:10.0.0.0/104") counts 96 bits that the IPv4 form lacks. */
function unmapped(range: string): string {
  const [address = "", bits] = range.split("/");
  const mapped = mappedV4(v6Groups(address) ?? []);
  if (mapped === undefined) return range;
  return bits === undefined ? mapped : `${mapped}/${String(Number(bits) - 96)}`;
}

/**
 * An address in its one spelling: IPv6 in its shortest form without a zone, IPv4-mapped IPv6 as IPv4. Only the textual forms
 * of RFC 4291 section 2.2 and dotted decimals are one: "0x7f.1" is not.
 */
function plainAddress(text: string): string | undefined {
  const address = text.split("%", 1)[0] ?? "";
  const family = isIP(address);
  if (family !== 6) return family === 4 ? address : undefined;
  return (
    mappedV4(v6Groups(address) ?? []) ?? new SocketAddress({ address, family: "ipv6" }).address
  );
}

const NO_ADDRESS = "0.0.0.0";

/** Plain IPv4, as most sockets name it, needs no parser. */
const PLAIN_IPV4 = /^\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}$/;

/**
 * The address that a request counts for: the peer's, or, when the peer is a trusted proxy, the right-most
 * one in `X-Forwarded-For` that is not. `forwardedFor` is the header's value, several lines joined with
 * commas. An invalid address ends the walk: pieces left of it were not written by a proxy that we
 * trust. Written as `plainAddress` does.
 */
export function clientAddress(
  peer: string | undefined,
  forwardedFor: string | undefined,
  trusted: TrustedProxies,
): string {
  const text = peer ?? NO_ADDRESS;
  if (trusted.length === 0 && PLAIN_IPV4.test(text)) return text;
  const socket = plainAddress(text);
  if (socket === undefined) return text;
  return forwardedFor === undefined ? socket : walk(socket, forwardedFor, trusted);
}

function walk(proxy: string, forwardedFor: string, trusted: TrustedProxies): string {
  let client = proxy;
  let end = forwardedFor.length;
  while (end > 0 && isTrusted(client, trusted)) {
    const comma = forwardedFor.lastIndexOf(",", end - 1);
    const hop = plainAddress(withoutPort(forwardedFor.slice(comma + 1, end).trim()));
    if (hop === undefined) return client;
    client = hop;
    end = comma;
  }
  return client;
}

const isTrusted = (address: string, trusted: TrustedProxies): boolean =>
  trusted.some((ranges) => ranges.has(address));

export function isTrustedProxy(peer: string, trusted: TrustedProxies): boolean {
  const address = trusted.length === 0 ? undefined : plainAddress(peer);
  return address !== undefined && isTrusted(address, trusted);
}

/** The peer that forwards for others and is not trusted, as far as its headers say so: a client may send them, too. */
export function unknownProxy(
  { headers, socket: { remoteAddress: peer } }: Pick<IncomingMessage, "headers" | "socket">,
  trusted: TrustedProxies,
): string | undefined {
  if (headers["x-forwarded-for"] === undefined || peer === undefined) return undefined;
  return isTrustedProxy(peer, trusted) ? undefined : clientAddress(peer, undefined, []);
}

const LOOPBACK = new AddressRanges(["127.0.0.0/8", "::1"]);

export const isLoopback = (address: string): boolean => LOOPBACK.has(plainAddress(address) ?? "");

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
