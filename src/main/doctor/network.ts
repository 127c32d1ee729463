import { once } from "node:events";
import { connect } from "node:net";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { Finding } from "../../cli/commands/doctor.ts";
import type { Lookup } from "../../core/mail/lookup.ts";
import type { Trust } from "../../dns/trust/trust.ts";
import { isTrustedProxy } from "../../http/client-address.ts";
import type { Outbound } from "../../outbound/outbound-types.ts";
import { type Config, guessesPublicUrl, publicUrlOf } from "../settings/config.ts";

/** What is looked at; each has a heading of this name in `PAGE`. */
export const NAMES = [
  "settings",
  "program",
  "public URL",
  "proxy",
  "HTTPS_PROXY",
  "HTTP_PROXY",
  "service",
  "memory",
  "files",
  "disk",
  "database",
  "pooler",
  "schema",
  "ledger",
  "clock",
  "workers",
  "feeds",
  "resolver",
  "time",
] as const;

const PAGE = "docs/operations/troubleshooting.md";

type Name = (typeof NAMES)[number];

export const ok = (name: Name, says: string): Finding => ({ name, state: "ok", says });

const fault =
  (state: "note" | "wrong") =>
  (name: Name, says: string, toDo: string): Finding => ({
    name,
    state,
    says,
    toDo: `${toDo} See ${PAGE}#${name.toLowerCase().replaceAll(" ", "-")}.`,
  });

export const note = fault("note");

export const wrong = fault("wrong");

const NAME = "resolver";

/** Names that do not exist: each is asked once, so no cache answers. */
const QUESTIONS = 20;

/** Below these a single check is slow, or often undecided. */
const SLOW_MS = 400;
const LOST_MAX = 1;

interface ResolverDeps {
  /** Asks what the service asks; undefined when GATEPOST_DNS_CANARIES is off. */
  readonly trust: Trust | undefined;
  readonly lookup: Pick<Lookup, "addresses">;
  readonly clock: Clock;
  readonly ids: Ids;
}

export interface Measured {
  readonly finding: Finding;
  readonly medianMs?: number;
  /** Null: nothing was found, and names that exist were not asked. */
  readonly isTruthful: boolean | null;
}

export async function measureResolver(deps: ResolverDeps): Promise<Measured> {
  const lie = await deps.trust?.round();
  const told = lie && wrong(NAME, lie.says, lie.toDo);
  const answers = await Promise.all(Array.from({ length: QUESTIONS }, () => ask(deps)));
  const lost = answers.filter(({ kind }) => kind === "unknown").length;
  if (lost === QUESTIONS) {
    const says = "DNS does not answer.";
    const toDo = "Check the network, or set GATEPOST_DNS_SERVERS to a resolver that answers.";
    return { finding: told ?? wrong(NAME, says, toDo), isTruthful: null };
  }
  const medianMs = Math.round(
    answers.map(({ ms }) => ms).sort((a, b) => a - b)[QUESTIONS / 2] ?? 0,
  );
  if (told !== undefined) return { finding: told, medianMs, isTruthful: false };
  if (answers.some(({ kind }) => kind === "found")) {
    const says =
      "It invents addresses for names that do not exist, so every typing error looks like a domain.";
    const toDo =
      "Set GATEPOST_DNS_SERVERS to a resolver that tells the truth, best one of your own.";
    return { finding: wrong(NAME, says, toDo), medianMs, isTruthful: false };
  }
  const isTruthful = deps.trust === undefined ? null : true;
  const figures = `${String(QUESTIONS - lost)} of ${String(QUESTIONS)} answers, half of them within ${String(medianMs)} ms.`;
  if (lost > LOST_MAX || medianMs > SLOW_MS) {
    const advice =
      "Use a resolver that is nearer, best one on this machine (GATEPOST_DNS_SERVERS).";
    const finding = note(NAME, `It is slow or loses answers: ${figures}`, advice);
    return { finding, medianMs, isTruthful };
  }
  return { finding: ok(NAME, `It tells the truth: ${figures}`), medianMs, isTruthful };
}

async function ask({ lookup, clock, ids }: ResolverDeps): Promise<{ kind: string; ms: number }> {
  const startMs = clock.monotonicMs();
  const { kind } = await lookup.addresses(`${ids.hex32()}.com`);
  return { kind, ms: clock.monotonicMs() - startMs };
}

const PUBLIC_TIMEOUT_MS = 5_000;

/** How content networks show themselves in an answer, and one of the addresses that they call from. */
const EDGES = [
  { name: "Cloudflare", header: "cf-ray", address: "173.245.48.1" },
  { name: "CloudFront", header: "x-amz-cf-id", address: "13.32.0.1" },
  { name: "Fastly", header: "x-fastly-request-id", address: "151.101.0.1" },
] as const;

/** Links, whether they lead here, and whether the client addresses behind a proxy are known. */
export async function examineUrls(config: Config): Promise<readonly Finding[]> {
  const base = publicUrlOf(config);
  if (guessesPublicUrl(config)) {
    const advice = "Set GATEPOST_PUBLIC_URL to the address that clients use.";
    return [note("public URL", `It is not set; links say ${base}.`, advice), trustFinding(config)];
  }
  const answer = await healthAt(base);
  const edge = EDGES.find(({ header }) => answer?.headers.has(header));
  return [publicFinding(base, answer), trustFinding(config, edge)];
}

/** Parts without which `/readyz` is 503. */
const STOPPING: ReadonlySet<string> = new Set(["database", "disk", "dns"]);

/** Who listens at HOST and PORT, and what a running service says of itself. */
export async function examineServer(
  config: Config,
  isServed: boolean | undefined,
): Promise<Finding> {
  const { host, port } = config;
  const base = publicUrlOf({ ...config, publicUrl: undefined }).replace(
    "//localhost:",
    "//127.0.0.1:",
  );
  const taken = `PORT=${String(port)}: `;
  const isHeard = await acceptsConnection(new URL(base));
  if (!isHeard) {
    if (isServed !== true)
      return ok("service", `Nothing listens at ${host}, port ${String(port)}: a start can.`);
    return note(
      "service",
      `A service has the data directory, but not at ${base}.`,
      "Give this command its HOST and PORT.",
    );
  }
  const answer = await healthAt(base);
  const isGatepost =
    answer?.status === 200 && (await textAt(`${base}/openapi.json`)).includes('"Gatepost');
  if (!isGatepost) {
    return wrong(
      "service",
      `${taken}another program listens there.`,
      "Stop it, or set PORT to a free port.",
    );
  }
  if (isServed === false) {
    const says = `${taken}another Gatepost listens there, which serves another data directory.`;
    return wrong(
      "service",
      says,
      "Set PORT to a free port, or give this command that GATEPOST_DATA_DIR.",
    );
  }
  const metrics = await textAt(`${base}/metrics`, config.metricsToken);
  const parts = [...metrics.matchAll(/^gatepost_broken\{part="(\w+)"\} 1$/gm)].map(
    ([, part]) => part,
  );
  if (parts.length === 0) return ok("service", `It runs at ${base}, and says that all is well.`);
  const says = `It runs at ${base}, and says that this is broken: ${parts.join(", ")}.`;
  const toDo = "The page System and health.broken in its log say what to do.";
  return parts.some((part) => STOPPING.has(part ?? ""))
    ? wrong("service", says, toDo)
    : note("service", says, toDo);
}

async function textAt(url: string, token?: string): Promise<string> {
  try {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const signal = AbortSignal.timeout(PUBLIC_TIMEOUT_MS);
    return await (await fetch(url, { headers, signal, redirect: "manual" })).text();
  } catch {
    return "";
  }
}

/** The operator's own URL, so no guard for addresses. Undefined: nobody answers. */
async function healthAt(base: string): Promise<Response | undefined> {
  try {
    const signal = AbortSignal.timeout(PUBLIC_TIMEOUT_MS);
    const answer = await fetch(`${base}/healthz`, { redirect: "manual", signal });
    await answer.body?.cancel();
    return answer;
  } catch {
    return undefined;
  }
}

function publicFinding(base: string, answer: Response | undefined): Finding {
  if (answer === undefined) {
    const says = `${base}/healthz does not answer from here.`;
    return note("public URL", says, "Start the service, or correct GATEPOST_PUBLIC_URL.");
  }
  if (answer.status === 200) return ok("public URL", `${base} answers; links say so.`);
  const says = `${base}/healthz answers ${String(answer.status)}, which the service never does.`;
  const advice =
    "Let the proxy pass every path to the service, or correct GATEPOST_PUBLIC_URL, its path included.";
  return wrong("public URL", says, advice);
}

function trustFinding(
  { publicUrl, trustProxy = [] }: Config,
  edge?: (typeof EDGES)[number],
): Finding {
  const trusted = trustProxy.map(([address, length]) => `${address.toString()}/${String(length)}`);
  if (trustProxy.some(([, length]) => length === 0)) {
    return wrong(
      "proxy",
      `Every address is trusted (${trusted.join(", ")}): a caller can send any client address.`,
      "Set GATEPOST_TRUST_PROXY to the addresses of your proxies alone.",
    );
  }
  if (edge !== undefined && !isTrustedProxy(edge.address, trustProxy)) {
    return note(
      "proxy",
      `${edge.name} is in front of the service, and its addresses are not trusted: unless a proxy of yours replaces them, everybody seems to have the address of its edge.`,
      `Add the published ranges of ${edge.name} to GATEPOST_TRUST_PROXY beside your own proxy, or let that proxy take the client's address from the header of ${edge.name} (nginx: set_real_ip_from and real_ip_header).`,
    );
  }
  if (trusted.length > 0)
    return ok("proxy", `X-Forwarded-For is believed of ${trusted.join(", ")}.`);
  if (publicUrl?.startsWith("https:") === true) {
    return note(
      "proxy",
      "The public URL is https, but no proxy is trusted: all callers seem to have the proxy's address.",
      "Set GATEPOST_TRUST_PROXY to the address of the proxy that ends TLS.",
    );
  }
  return ok("proxy", "None is trusted.");
}

const PROXY_TIMEOUT_MS = 2_000;

/** Proxies for fetching feeds: each must accept a connection. Their user names and passwords are never shown. */
export async function examineFetchProxies({
  httpsProxy,
  httpProxy,
  noProxy = [],
}: Config): Promise<readonly Finding[]> {
  const named = [
    ["HTTPS_PROXY", httpsProxy],
    ["HTTP_PROXY", httpProxy],
  ] as const;
  const except = noProxy.length === 0 ? "" : `, except for ${noProxy.join(", ")} (NO_PROXY)`;
  const found = named.map(async ([name, url]) => {
    if (url === undefined) return [];
    const shown = `${url.protocol}//${url.host}`;
    if (await acceptsConnection(url))
      return [ok(name, `Feeds are fetched through ${shown}${except}.`)];
    const says = `${shown} accepts no connection, so that no feed can be fetched.`;
    return [wrong(name, says, `Correct ${name}, or start the proxy.`)];
  });
  return (await Promise.all(found)).flat();
}

async function acceptsConnection({ hostname, port }: URL): Promise<boolean> {
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) || 80 });
  try {
    await once(socket, "connect", { signal: AbortSignal.timeout(PROXY_TIMEOUT_MS) });
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

const TIME_TIMEOUT_MS = 5_000;
const TIME_SLACK_MS = 60_000;

/** Compares the clock with the `Date` of a server that the service asks anyway. */
export async function examineTime(
  { rdapBootstrapUrl: url, listsRefresh }: Config,
  outbound: Pick<Outbound, "http">,
  clock: Clock,
): Promise<Finding> {
  if (listsRefresh === "off") {
    return ok("time", "Not compared with another machine's, because fetching is off.");
  }
  const asked = { url, method: "GET", headers: {}, maxBodyBytes: 1, maxRedirects: 0 } as const;
  const answer = await outbound.http({ ...asked, timeoutMs: TIME_TIMEOUT_MS });
  const toldMs = answer.ok ? Date.parse(answer.value.headers["date"] ?? "") : NaN;
  const { host } = new URL(url);
  if (Number.isNaN(toldMs)) {
    const says = `Not compared: ${host} did not tell the time.`;
    return note("time", says, "Check that this machine's clock is set by NTP.");
  }
  const seconds = String(Math.round(Math.abs(clock.nowMs() - toldMs) / 1_000));
  if (Math.abs(clock.nowMs() - toldMs) <= TIME_SLACK_MS) {
    return ok("time", `It differs by ${seconds} s from that of ${host}.`);
  }
  return wrong(
    "time",
    `It differs by ${seconds} s from that of ${host}.`,
    "Set this machine's clock (NTP): tokens, quotas and sign-ins go by it.",
  );
}
