import { addressGroups } from "./bucket.ts";

/** An address range (RFC 4632 section 3.1); an IPv4 one is kept in mapped form. */
interface Network {
  readonly groups: readonly number[];
  /** Leading bits that count, 0 to 128. */
  readonly prefixBits: number;
}

export type Networks = readonly Network[];

/** Proxies that are asked in turn; a longer chain is somebody's joke. */
const HOPS_MAX = 50;

function network(text: string): Network | undefined {
  const [address = "", bits, ...rest] = text.split("/");
  const groups = addressGroups(address);
  if (groups === undefined || rest.length > 0) return undefined;
  const widthBits = address.includes(":") ? 128 : 32;
  if (bits === undefined) return { groups, prefixBits: 128 };
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > widthBits) return undefined;
  return { groups, prefixBits: 128 - widthBits + Number(bits) };
}

/** Addresses and CIDRs as the operator lists them; throws one Error that names every one that is neither. */
export function readNetworks(texts: readonly string[]): Networks {
  const read = texts.map((text) => [text, network(text)] as const);
  const bad = read.filter(([, made]) => made === undefined).map(([text]) => `"${text}"`);
  if (bad.length > 0) throw new Error(`no address or CIDR: ${bad.join(", ")}`);
  return read.flatMap(([, made]) => made ?? []);
}

function isWithin(groups: readonly number[], { groups: base, prefixBits }: Network): boolean {
  return base.every((group, index) => {
    const bits = Math.min(16, Math.max(0, prefixBits - index * 16));
    const mask = (0xffff << (16 - bits)) & 0xffff;
    return ((groups[index] ?? 0) & mask) === (group & mask);
  });
}

function isTrusted(address: string, trusted: Networks): boolean {
  const groups = addressGroups(address);
  return groups !== undefined && trusted.some((one) => isWithin(groups, one));
}

/** One element of X-Forwarded-For without port and brackets; undefined when it is no address. */
function forwardedAddress(text: string): string | undefined {
  const trimmed = text.trim();
  const bracketed = /^\[([0-9a-f:.%]+)\](?::\d{1,5})?$/i.exec(trimmed)?.[1];
  const dotted = /^([\d.]+):\d{1,5}$/.exec(trimmed)?.[1];
  const address = bracketed ?? dotted ?? trimmed;
  return addressGroups(address) === undefined ? undefined : address;
}

/**
 * Who sent the request: the socket's peer or, while the one who speaks is trusted, whom it names. The
 * header is read from the right, where our own proxies write; what stands left of the first untrusted
 * address is hearsay. `forwardedFor` are the header's values in the order received.
 */
export function clientAddress(
  peer: string,
  forwardedFor: readonly string[],
  trusted: Networks,
): string {
  if (trusted.length === 0 || forwardedFor.length === 0) return peer;
  let rest = forwardedFor.join(",");
  let address = peer;
  for (let hop = 0; hop < HOPS_MAX && rest !== "" && isTrusted(address, trusted); hop += 1) {
    const cut = rest.lastIndexOf(",");
    const named = forwardedAddress(rest.slice(cut + 1));
    if (named === undefined) return address;
    address = named;
    rest = cut < 0 ? "" : rest.slice(0, cut);
  }
  return address;
}
