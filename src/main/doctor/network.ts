import { once } from "node:events";
import { connect } from "node:net";
import type { Clock } from "../../base/clock.ts";
import type { ShownPart } from "../../base/health.ts";
import type { Finding } from "../../cli/commands/doctor.ts";
import { isTrustedProxy } from "../../http/client-address.ts";
import type { Outbound } from "../../outbound/outbound-types.ts";
import { type Config, guessesPublicUrl, publicUrlOf } from "../settings/config.ts";
import { finding, type Inspection, note, wrong } from "./found.ts";

/** How content networks show themselves in an answer, and one of the addresses that they call from. */
const EDGES = [
  { name: "Cloudflare", header: "cf-ray", address: "173.245.48.1" },
  { name: "CloudFront", header: "x-amz-cf-id", address: "13.32.0.1" },
  { name: "Fastly", header: "x-fastly-request-id", address: "151.101.0.1" },
] as const;

export async function examineUrls(config: Config): Promise<readonly Finding[]> {
  const base = publicUrlOf(config);
  const isGuessed = guessesPublicUrl(config);
  const answer = isGuessed ? undefined : await healthAt(base);
  const edge = EDGES.find(({ header }) => answer?.headers.has(header));
  const guessed = note(
    `It is not set; links say ${base}.`,
    "Set GATEPOST_PUBLIC_URL to the address that clients use.",
  );
  return [
    finding("public URL", isGuessed ? guessed : publicUrl(base, answer)),
    finding("proxy", trustedProxies(config, edge)),
  ];
}

function publicUrl(base: string, answer: Response | undefined): Inspection {
  if (answer === undefined) {
    const says = `${base}/healthz does not answer from here.`;
    return note(says, "Start the service, or correct GATEPOST_PUBLIC_URL.");
  }
  if (answer.status === 200) return `${base} answers; links say so.`;
  return wrong(
    `${base}/healthz answers ${String(answer.status)}, which the service never does.`,
    "Let the proxy pass every path to the service, or correct GATEPOST_PUBLIC_URL, its path included.",
  );
}

function trustedProxies(
  { publicUrl: url, trustProxy = [] }: Config,
  edge: (typeof EDGES)[number] | undefined,
): Inspection {
  const ranges = trustProxy.flatMap(({ texts }) => texts);
  const trusted = ranges.join(", ");
  if (ranges.some((range) => /\/0+$/.test(range))) {
    return wrong(
      `Every address is trusted (${trusted}): a caller can send any client address.`,
      "Set GATEPOST_TRUST_PROXY to the addresses of your proxies alone.",
    );
  }
  if (edge !== undefined && !isTrustedProxy(edge.address, trustProxy)) {
    return note(
      `${edge.name} is in front of the service, and its addresses are not trusted: unless a proxy of yours replaces them, everybody seems to have the address of its edge.`,
      `Add the published ranges of ${edge.name} to GATEPOST_TRUST_PROXY beside your own proxy, or let that proxy take the client's address from the header of ${edge.name} (nginx: set_real_ip_from and real_ip_header).`,
    );
  }
  if (trusted !== "") return `X-Forwarded-For is believed of ${trusted}.`;
  if (url?.startsWith("https:") !== true) return "None is trusted.";
  return note(
    "The public URL is https, but no proxy is trusted: all callers seem to have the proxy's address.",
    "Set GATEPOST_TRUST_PROXY to the address of the proxy that ends TLS.",
  );
}

export async function examineServer(
  config: Config,
  isServed: boolean | undefined,
): Promise<readonly Inspection[]> {
  const { host, port, metricsToken } = config;
  const base = publicUrlOf({ ...config, publicUrl: undefined }).replace(
    "//localhost:",
    "//127.0.0.1:",
  );
  if (!(await acceptsConnection(new URL(base)))) {
    if (isServed !== true)
      return [`Nothing listens at ${host}, port ${String(port)}: a start can.`];
    const says = `A service has the data directory, but not at ${base}.`;
    return [note(says, "Give this command its HOST and PORT.")];
  }
  const taken = `PORT=${String(port)}: another`;
  const isGatepost =
    (await healthAt(base))?.status === 200 &&
    (await (await answerAt(`${base}/openapi.json`))?.text().catch(() => ""))?.includes('"Gatepost');
  if (isGatepost !== true) {
    return [wrong(`${taken} program listens there.`, "Stop it, or set PORT to a free port.")];
  }
  if (isServed === false) {
    return [
      wrong(
        `${taken} Gatepost listens there, which serves another data directory.`,
        "Set PORT to a free port, or give this command that GATEPOST_DATA_DIR.",
      ),
    ];
  }
  const broken = await brokenAt(base, metricsToken);
  if (broken === undefined) {
    const says = `It runs at ${base}; what it says of itself is not known.`;
    const toDo = "Run this on its machine, or with its GATEPOST_METRICS_TOKEN.";
    return [note(says, toDo)];
  }
  if (broken.length === 0) return [`It runs at ${base}, and says that all is well.`];
  return broken.map(({ says, to_do: toDo, stops }) => ({ says, toDo, isWarning: !stops }));
}

async function brokenAt(
  base: string,
  token: string | undefined,
): Promise<readonly ShownPart[] | undefined> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const answer = await answerAt(`${base}/readyz`, headers);
  const said = (await answer?.json().catch(() => ({}))) as { readonly broken?: ShownPart[] };
  return said?.broken;
}

async function healthAt(base: string): Promise<Response | undefined> {
  const answer = await answerAt(`${base}/healthz`);
  await answer?.body?.cancel();
  return answer;
}

/** The operator's own URL, so no guard for addresses. Undefined: nobody answers. */
async function answerAt(url: string, headers = {}): Promise<Response | undefined> {
  const signal = AbortSignal.timeout(5_000);
  return await fetch(url, { headers, signal, redirect: "manual" }).catch(() => undefined);
}

/** Proxies for fetching feeds: each must accept a connection. Their user names and passwords are never shown. */
export async function examineFetchProxies({
  httpsProxy,
  httpProxy,
  noProxy = [],
}: Config): Promise<readonly Finding[]> {
  const except = noProxy.length === 0 ? "" : `, except for ${noProxy.join(", ")} (NO_PROXY)`;
  const look = async (name: "HTTPS_PROXY" | "HTTP_PROXY", url: URL | undefined) => {
    if (url === undefined) return [];
    const shown = `${url.protocol}//${url.host}`;
    const closed = wrong(
      `${shown} accepts no connection, so that no feed can be fetched.`,
      `Correct ${name}, or start the proxy.`,
    );
    const isOpen = await acceptsConnection(url);
    return [finding(name, isOpen ? `Feeds are fetched through ${shown}${except}.` : closed)];
  };
  return [...(await look("HTTPS_PROXY", httpsProxy)), ...(await look("HTTP_PROXY", httpProxy))];
}

async function acceptsConnection({ hostname, port }: URL): Promise<boolean> {
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) || 80 });
  try {
    await once(socket, "connect", { signal: AbortSignal.timeout(2_000) });
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

const TIME_SLACK_MS = 60_000;

/** Compares the clock with the `Date` of a server that the service asks anyway. */
export async function examineTime(
  { rdapBootstrapUrl: url, listsRefresh }: Config,
  outbound: Pick<Outbound, "http">,
  clock: Clock,
): Promise<Inspection> {
  if (listsRefresh === "off") {
    return "Not compared with another machine's, because fetching is off.";
  }
  const asked = { url, method: "GET", headers: {}, maxBodyBytes: 1, maxRedirects: 0 } as const;
  const answer = await outbound.http({ ...asked, timeoutMs: 5_000 });
  const toldMs = answer.ok ? Date.parse(answer.value.headers["date"] ?? "") : NaN;
  const { host } = new URL(url);
  if (Number.isNaN(toldMs)) {
    const says = `Not compared: ${host} did not tell the time.`;
    return note(says, "Check that this machine's clock is set by NTP.");
  }
  const differenceMs = Math.abs(clock.nowMs() - toldMs);
  const says = `It differs by ${String(Math.round(differenceMs / 1_000))} s from that of ${host}.`;
  if (differenceMs <= TIME_SLACK_MS) return says;
  return wrong(says, "Set this machine's clock (NTP): tokens, quotas and sign-ins go by it.");
}
