import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { DAY_MS } from "../../core/calendar.ts";
import { nextLabel } from "../../core/name/domain.ts";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { Outbound } from "../../outbound/outbound-types.ts";
import { isRecord, readJson } from "./domain-answer.ts";

/** Which RDAP server knows the names under a suffix (RFC 9224 section 4). */
export type Bootstrap = (domain: string) => string | undefined;

const SUFFIXES_MAX = 20_000;
const URLS_MAX = 8;

/** RFC 9224 section 3. Undefined when no valid service is left, so that an older copy stays in use. */
function readBootstrap(body: Uint8Array): Bootstrap | undefined {
  const file = readJson(body);
  if (!isRecord(file) || !Array.isArray(file["services"])) return undefined;
  const servers = new Map<string, string>();
  for (const service of file["services"].slice(0, SUFFIXES_MAX)) addService(service, servers);
  if (servers.size === 0) return undefined;
  return (domain) => {
    // Whole labels are cut from the left, so the first hit is the longest (RFC 9224 section 4).
    for (let at = 0; at >= 0; at = nextLabel(domain, at)) {
      const url = servers.get(domain.slice(at));
      if (url !== undefined) return url;
    }
    return undefined;
  };
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

interface BootstrapDeps {
  readonly url: string;
  readonly path: string;
  readonly outbound: Pick<Outbound, "http">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly ids: Pick<Ids, "hex32">;
  readonly log: Log;
}

const FRESH_MS = 7 * DAY_MS;
const RETRY_MS = 60_000;
const FETCH_MS = 10_000;
const BYTES_MAX = 1_048_576;

interface Copy {
  readonly bootstrap: Bootstrap;
  readonly fetchedAtMs: number;
}

/** Fetched when first needed and again after a week; a lookup never waits because its copy is old. */
export function createBootstrapCopy(deps: BootstrapDeps): () => Promise<Bootstrap | undefined> {
  let copy: Copy | undefined;
  let loaded: Promise<void> | undefined;
  let fetching: Promise<void> | undefined;
  let triedAtMs = -Infinity;
  const refresh = (): Promise<void> => {
    triedAtMs = deps.clock.nowMs();
    fetching ??= fetchCopy(deps, triedAtMs)
      .then((fetched) => void (copy = fetched ?? copy))
      .finally(() => (fetching = undefined));
    return fetching;
  };
  const load = async (): Promise<void> => void (copy = await loadCopy(deps));
  return async () => {
    await (loaded ??= load());
    const ageMs = deps.clock.nowMs() - (copy?.fetchedAtMs ?? -Infinity);
    // A clock that was set back makes the age negative; the copy then counts as old.
    const isFresh = ageMs >= 0 && ageMs < FRESH_MS;
    const mayTry = Math.abs(deps.clock.nowMs() - triedAtMs) >= RETRY_MS;
    const refreshed = !isFresh && mayTry ? refresh() : fetching;
    if (copy === undefined) await refreshed;
    return copy?.bootstrap;
  };
}

async function fetchCopy(deps: BootstrapDeps, nowMs: number): Promise<Copy | undefined> {
  const reply = await deps.outbound.http({
    url: deps.url,
    method: "GET",
    headers: { Accept: "application/json", "User-Agent": "gatepost" },
    timeoutMs: FETCH_MS,
    maxBodyBytes: BYTES_MAX,
    maxRedirects: 3,
  });
  if (!reply.ok) {
    const { fault, detail } = reply;
    deps.log.warn("rdap.bootstrap_fetch_failed", { fault, detail });
    return undefined;
  }
  const { status, cut, body } = reply.value;
  const bootstrap = status === 200 && !cut ? readBootstrap(body) : undefined;
  if (bootstrap === undefined) {
    deps.log.warn("rdap.bootstrap_invalid", { status, cut });
    return undefined;
  }
  await saveCopy(deps, body, nowMs);
  return { bootstrap, fetchedAtMs: nowMs };
}

/** A copy that cannot be written is still used by this process. */
async function saveCopy(deps: BootstrapDeps, body: Uint8Array, nowMs: number): Promise<void> {
  const document = new TextDecoder().decode(body);
  const text = JSON.stringify({ url: deps.url, fetchedAtMs: nowMs, document });
  const draft = `${deps.path}.${deps.ids.hex32()}.tmp`;
  try {
    await mkdir(dirname(deps.path), { recursive: true });
    await writeFile(draft, text);
    await rename(draft, deps.path);
  } catch (fault) {
    deps.log.error("rdap.bootstrap_save_failed", fault);
    await rm(draft, { force: true }).catch(() => undefined); // each new try would leave another one
  }
}

/** A copy fetched from another URL is used, but counts as old. */
async function loadCopy({ path, url }: BootstrapDeps): Promise<Copy | undefined> {
  const kept = readJson(await readFile(path).catch(() => new Uint8Array()));
  if (!isRecord(kept) || typeof kept["document"] !== "string") return undefined;
  const bootstrap = readBootstrap(new TextEncoder().encode(kept["document"]));
  if (bootstrap === undefined) return undefined;
  const { fetchedAtMs } = kept;
  const isOurs = kept["url"] === url && typeof fetchedAtMs === "number";
  return { bootstrap, fetchedAtMs: isOurs ? fetchedAtMs : -Infinity };
}
