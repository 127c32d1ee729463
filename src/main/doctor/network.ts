import { connect } from "node:net";
import type { Finding } from "../../cli/commands/doctor.ts";
import type { Clock } from "../../ports/process/clock.ts";
import type { Outbound } from "../../ports/process/outbound.ts";
import type { Config } from "../settings/config.ts";
import { guessesPublicUrl, publicUrlOf } from "../settings/links.ts";
import { note, ok, wrong } from "./findings.ts";

/** Links, and whether the client addresses behind a proxy are known. */
export function examineUrls(config: Config): readonly Finding[] {
  const base = publicUrlOf(config);
  const links = guessesPublicUrl(config)
    ? note(
        "public URL",
        `It is not set; links say ${base}.`,
        "Set GATEPOST_PUBLIC_URL to the address that clients use.",
      )
    : ok("public URL", `Links say ${base}.`);
  return [links, trustFinding(config)];
}

function trustFinding({ publicUrl, trustProxy = [] }: Config): Finding {
  const trusted = trustProxy.map(([address, length]) => `${address.toString()}/${String(length)}`);
  if (trustProxy.some(([, length]) => length === 0)) {
    return wrong(
      "proxy",
      `Every address is trusted (${trusted.join(", ")}): a caller can send any client address.`,
      "Set GATEPOST_TRUST_PROXY to the addresses of your proxies alone.",
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
export async function examineFetchProxies(
  config: Pick<Config, "httpsProxy" | "httpProxy" | "noProxy">,
  accepts = acceptsConnection,
): Promise<readonly Finding[]> {
  const named = [
    ["HTTPS_PROXY", config.httpsProxy],
    ["HTTP_PROXY", config.httpProxy],
  ] as const;
  const { noProxy = [] } = config;
  const except = noProxy.length === 0 ? "" : `, except for ${noProxy.join(", ")} (NO_PROXY)`;
  const found = named.map(async ([name, url]) => {
    if (url === undefined) return [];
    const shown = `${url.protocol}//${url.host}`;
    if (await accepts(url)) return [ok(name, `Feeds are fetched through ${shown}${except}.`)];
    const says = `${shown} accepts no connection, so that no feed can be fetched.`;
    return [wrong(name, says, `Correct ${name}, or start the proxy.`)];
  });
  return (await Promise.all(found)).flat();
}

function acceptsConnection({ hostname, port }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const host = hostname.replace(/^\[|\]$/g, "");
    const socket = connect({ host, port: port === "" ? 80 : Number(port) });
    const end = (accepted: boolean): void => {
      socket.destroy();
      resolve(accepted);
    };
    socket.setTimeout(PROXY_TIMEOUT_MS, () => end(false));
    socket.on("connect", () => end(true)).on("error", () => end(false));
  });
}

const TIME_TIMEOUT_MS = 5_000;
const TIME_SLACK_MS = 60_000;

export interface TimeDeps {
  readonly outbound: Pick<Outbound, "http">;
  readonly clock: Pick<Clock, "nowMs">;
}

/** Compares the clock with the `Date` of a server that the service asks anyway. */
export async function examineTime(
  { rdapBootstrapUrl: url, listsRefresh }: Pick<Config, "rdapBootstrapUrl" | "listsRefresh">,
  { outbound, clock }: TimeDeps,
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
