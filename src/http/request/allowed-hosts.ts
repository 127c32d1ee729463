import { isLoopback } from "./client-address.ts";

/** Whether a request with this Host may be answered; the host may have a port. */
export type HostCheck = (host: string | undefined) => boolean;

export interface HostTerms {
  /** GATEPOST_ALLOWED_HOSTS; absent: any host, unless the service listens on loopback alone. */
  readonly allowed: readonly string[] | undefined;
  readonly publicUrl: () => string;
  /** The address that the service listens on. */
  readonly listensOn: string;
}

/**
 * Checks Host against DNS rebinding: a page of another site whose name was pointed at this machine could read what
 * only this machine may. Browsers send that site's name.
 */
export function createHostCheck({ allowed, publicUrl, listensOn }: HostTerms): HostCheck {
  const isLocal = listensOn === "localhost" || isLoopback(listensOn);
  if (allowed === undefined && !isLocal) return () => true;
  const names = new Set((allowed ?? []).map((name) => nameOf(name)));
  return (host) => {
    const name = nameOf(host ?? "");
    return isLoopbackName(name) || names.has(name) || name === nameOf(new URL(publicUrl()).host);
  };
}

/** Without port and brackets. */
const nameOf = (host: string): string =>
  host
    .toLowerCase()
    .replace(/:\d*$/, "")
    .replace(/^\[|\]$/g, "");

const isLoopbackName = (name: string): boolean =>
  name === "localhost" || name.endsWith(".localhost") || isLoopback(name);
