import { isRecord, readJson } from "./domain-answer.ts";

/** Which RDAP server knows the names under a suffix (RFC 9224 section 4). */
export interface Bootstrap {
  /** Base URL with a last slash for the longest suffix of `domain` that has one. */
  serverFor(domain: string): string | undefined;
}

const SUFFIXES_MAX = 20_000;
const URLS_MAX = 8;

/**
 * Reads a bootstrap file for domain names (RFC 9224 section 3). Ignores unknown members and invalid services; undefined
 * when no valid service is left, so that an older copy stays in use.
 */
export function readBootstrap(body: Uint8Array): Bootstrap | undefined {
  const file = readJson(body);
  if (!isRecord(file) || !Array.isArray(file["services"])) return undefined;
  const servers = new Map<string, string>();
  for (const service of file["services"].slice(0, SUFFIXES_MAX)) addService(service, servers);
  if (servers.size === 0) return undefined;
  return { serverFor: (domain) => longestMatch(domain, servers) };
}

function addService(service: unknown, servers: Map<string, string>): void {
  if (!Array.isArray(service)) return;
  const [suffixes, urls] = service.map(texts);
  const url = baseUrl(urls ?? []);
  if (url === undefined) return;
  for (const suffix of suffixes ?? []) {
    if (servers.size < SUFFIXES_MAX) servers.set(suffix.toLowerCase(), url);
  }
}

const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];

/** https where there is one (RFC 9224 section 8); http only when the registry offers nothing else. */
function baseUrl(urls: readonly string[]): string | undefined {
  const usable = urls.slice(0, URLS_MAX).filter((url) => URL.canParse(url));
  const chosen =
    usable.find((url) => /^https:/i.test(url)) ?? usable.find((url) => /^http:/i.test(url));
  return chosen?.endsWith("/") === false ? `${chosen}/` : chosen;
}

/** By whole labels from the left, so the first hit is the longest (RFC 9224 section 4). */
function longestMatch(domain: string, servers: ReadonlyMap<string, string>): string | undefined {
  for (let rest = domain; rest !== ""; rest = parentOf(rest)) {
    const url = servers.get(rest);
    if (url !== undefined) return url;
  }
  return undefined;
}

function parentOf(name: string): string {
  const dot = name.indexOf(".");
  return dot < 0 ? "" : name.slice(dot + 1);
}
