import type { IncomingMessage } from "node:http";
import { isLoopback } from "./client-address.ts";
import type { RequestTarget } from "./target.ts";

export type HostCheck = (host: string | undefined) => boolean;

interface HostTerms {
  readonly allowed: readonly string[] | undefined;
  readonly publicUrl: () => string;
  readonly hasPublicUrl: boolean;
  readonly listensOn: string;
}

/**
 * Checks Host against DNS rebinding: a page of another site whose name was pointed at this machine could read what
 * only this machine may. Browsers send that site's name. Any host is allowed where nothing says which are: the service
 * listens on more than loopback, and neither a public URL nor a host is set.
 */
export function createHostHeaderCheck(terms: HostTerms): HostCheck {
  const { allowed, publicUrl, hasPublicUrl, listensOn } = terms;
  const isLocal = listensOn === "localhost" || isLoopback(listensOn);
  if (allowed === undefined && !hasPublicUrl && !isLocal) return () => true;
  const names = new Set((allowed ?? []).map(hostName));
  names.delete("");
  return (host) => {
    const name = hostName(host ?? "");
    if (name === "") return false;
    return isLoopbackName(name) || names.has(name) || name === hostName(new URL(publicUrl()).host);
  };
}

export const isHostHeader = (host = ""): boolean =>
  /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=-]+|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})+)(?::\d{0,5})?$/i.test(
    host,
  );

/** A Host in its one spelling: lower case, A-labels, without port, brackets and a last dot. "" for what is no host. */
function hostName(host: string): string {
  if (/[\s/?#@\\%]/.test(host)) return "";
  const isBareV6 = !host.startsWith("[") && host.split(":").length > 2;
  const url = `http://${isBareV6 ? `[${host}]` : host}`;
  if (!URL.canParse(url)) return "";
  return new URL(url).hostname.replace(/^\[|\]$|\.$/g, "");
}

/**
 * Whether the request may be answered by its Host. A target in absolute form names a host of its own, which counts in
 * place of Host (RFC 9112 section 3.2.2); both must be allowed, for a proxy may have looked at either.
 */
export function isAllowedFor(
  { headers, url = "" }: Pick<IncomingMessage, "headers" | "url">,
  isAllowed: HostCheck,
): boolean {
  const authority = /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1];
  return isAllowed(headers.host) && (authority === undefined || isAllowed(authority));
}

const isLoopbackName = (name: string): boolean =>
  name === "localhost" || name.endsWith(".localhost") || isLoopback(name);

/** GATEPOST_COMPAT_HOSTS: host name, lower case and without a port -> the service whose shape it serves. */
export type CompatHosts = ReadonlyMap<string, string>;

/** Reads "kickbox.mail.example=kickbox, ..."; throws an Error with a sentence. */
export function readCompatHosts(text: string, services: readonly string[]): CompatHosts {
  const hosts = new Map<string, string>();
  for (const pair of text.split(",").map((piece) => piece.trim())) {
    if (pair === "") continue;
    const [host = "", service, ...more] = pair.toLowerCase().split(/\s*=\s*/);
    if (service === undefined || more.length > 0 || !HOST.test(host)) {
      throw new Error(`"${pair}" is not HOST=SERVICE, such as kickbox.mail.example=kickbox`);
    }
    if (!services.includes(service)) {
      throw new Error(`"${service}" is not one of ${services.join(", ")}`);
    }
    if (hosts.has(host)) throw new Error(`"${host}" is named twice`);
    hosts.set(host, service);
  }
  return hosts;
}

const HOST =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/;

export function atCompatHost(
  target: RequestTarget,
  host: string | undefined,
  hosts: CompatHosts,
): RequestTarget {
  if (hosts.size === 0 || target.path.startsWith("/compat/")) return target;
  const service = hosts.get(hostName(host ?? ""));
  return service === undefined ? target : { ...target, path: `/compat/${service}${target.path}` };
}
