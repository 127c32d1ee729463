import { resolve } from "node:path";
import { parseCanaries } from "../../dns/trust/trust.ts";
import { parseDnsServers } from "../../dns/transport/system-resolvers.ts";
import { type AddressRange, parseRanges } from "../../outbound/public-address.ts";
import { SHAPES } from "../../http/compat/services.ts";
import { readTrustedProxies } from "../../http/request/client-address.ts";
import { readCompatHosts } from "../../http/request/compat-hosts.ts";
import {
  choice,
  flag,
  optional,
  parsed,
  readApiKey,
  readBaseUrl,
  readHosts,
  readPort,
  readProxy,
  secretKey,
  secretUrl,
  type Setting,
  text,
  url,
  whole,
} from "./setting.ts";

type Environment = Readonly<Record<string, string | undefined>>;

function readRanges(text: string): readonly AddressRange[] {
  const parsed = parseRanges(text.split(",").map((part) => part.trim()));
  if (parsed.ok) return parsed.ranges;
  throw new Error(`not an IP address or CIDR range: ${parsed.wrong.join(", ")}`);
}

/** Every setting. Only this file reads the environment. */
export const SETTINGS = {
  host: text("HOST", "127.0.0.1", "Address to listen on."),
  port: whole("PORT", 8_080, { min: 0, max: 65_535 }, "Port to listen on; 0 picks a free one."),
  databaseUrl: parsed(
    [
      "DATABASE_URL",
      "none",
      "`postgres://...` of the PostgreSQL that several processes share, by a direct connection; unset: SQLite in the data directory.",
    ],
    secretUrl("a PostgreSQL database", ["postgres:", "postgresql:"]),
  ),
  workerPort: parsed(
    [
      "GATEPOST_WORKER_PORT",
      "none",
      "Port of `HOST` where `gatepost worker` serves `/healthz`, `/readyz` and `/metrics`; 0 picks a free one; unset: no port.",
    ],
    readPort,
  ),
  dataDir: text("GATEPOST_DATA_DIR", "./data", "Database, cached lists, keys."),
  publicUrl: parsed(
    [
      "GATEPOST_PUBLIC_URL",
      "none",
      "Base of links in answers, such as the pricing page; unset: `http://HOST:PORT`.",
    ],
    readBaseUrl,
  ),
  dnsServers: parsed(
    [
      "GATEPOST_DNS_SERVERS",
      "the system's resolvers",
      "DNS servers to ask: comma-separated `ip` or `ip:port` (`[v6]:port`).",
    ],
    parseDnsServers,
  ),
  cacheMb: whole(
    "GATEPOST_CACHE_MB",
    128,
    { min: 8, max: 65_536 },
    "Memory of all caches of a process together, in MiB.",
  ),
  dnsCanaries: parsed(
    [
      "GATEPOST_DNS_CANARIES",
      "built in",
      "Names that must exist, comma-separated, or `off`: when DNS finds none of them, its answers are not trusted.",
    ],
    parseCanaries,
  ),
  trustProxy: parsed(
    [
      "GATEPOST_TRUST_PROXY",
      "none",
      "Proxies whose `X-Forwarded-For` is trusted: IP addresses or CIDR ranges, comma-separated.",
    ],
    readTrustedProxies,
  ),
  secretKey: secretKey(
    "GATEPOST_SECRET_KEY",
    "made in the data directory",
    "32 bytes in base64: encrypts webhook secrets and keys the stored hashes of addresses; required with `DATABASE_URL`. Keep it apart from the database's back-up.",
  ),
  signup: choice(
    "GATEPOST_SIGNUP",
    ["open", "closed"],
    "Who may create accounts in the dashboard: `open` or `closed`.",
  ),
  implicitMx: flag(
    "GATEPOST_IMPLICIT_MX",
    "Count an address record alone as a mail server (RFC 5321 section 5.1).",
  ),
  tiersFile: optional(
    "GATEPOST_TIERS_FILE",
    "JSON file that overrides numbers of the tier table; a mistake in it stops the start.",
  ),
  syncBudgetMs: whole(
    "GATEPOST_SYNC_BUDGET_MS",
    10_000,
    { min: 1, max: 600_000 },
    "How long a bulk request of up to 100 entries may run before it is queued, in milliseconds.",
  ),
  rdapBootstrapUrl: url(
    "GATEPOST_RDAP_BOOTSTRAP_URL",
    "https://data.iana.org/rdap/dns.json",
    "URL of the RDAP bootstrap file (RFC 9224).",
  ),
  outboundAllow: parsed(
    [
      "GATEPOST_OUTBOUND_ALLOW",
      "none",
      "Non-public IP addresses or CIDR ranges that RDAP and list fetches may reach; webhooks never may.",
    ],
    readRanges,
  ),
  listsRefresh: choice(
    "GATEPOST_LISTS_REFRESH",
    ["daily", "off"],
    "`daily` or `off`: fetch feeds and learn mail servers from DNS.",
  ),
  listsMirror: parsed(
    ["GATEPOST_LISTS_MIRROR", "none", "Base URL of a mirror that serves each feed as `<id>`."],
    readBaseUrl,
  ),
  httpsProxy: parsed(
    ["HTTPS_PROXY", "none", "Proxy for feeds with an https URL; also in lower case."],
    readProxy,
  ),
  httpProxy: parsed(
    ["HTTP_PROXY", "none", "Proxy for feeds with an http URL; also in lower case."],
    readProxy,
  ),
  noProxy: parsed(
    [
      "NO_PROXY",
      "none",
      "Hosts and host suffixes, comma-separated, to fetch without a proxy; also in lower case.",
    ],
    readHosts,
  ),
  metricsToken: optional(
    "GATEPOST_METRICS_TOKEN",
    "Bearer token for `/metrics`; unset: loopback peers without forwarding headers only.",
  ),
  logLevel: choice(
    "LOG_LEVEL",
    ["info", "debug", "warn", "error", "silent"],
    "The least severe level that is logged.",
  ),
  maxConnectionsPerAddress: whole(
    "GATEPOST_MAX_CONNECTIONS_PER_ADDRESS",
    256,
    { min: 1, max: 1_000_000 },
    "Largest number of connections of one IPv4 address or IPv6 /64; not for trusted proxies.",
  ),
  allowedHosts: parsed(
    [
      "GATEPOST_ALLOWED_HOSTS",
      "from the public URL and loopback",
      "Host names that `/account/*` and `/metrics` answer to, comma-separated, beside that of the public URL and loopback names, and the dashboard's pages too. Unset, without `GATEPOST_PUBLIC_URL`: any, unless `HOST` is a loopback address.",
    ],
    readHosts,
  ),
  compatHosts: parsed(
    [
      "GATEPOST_COMPAT_HOSTS",
      "none",
      "Host names that serve another service's shape at their root: `host=service`, comma-separated; services as in `docs/migrate.md`.",
    ],
    (text) =>
      readCompatHosts(
        text,
        SHAPES.map(({ service }) => service),
      ),
  ),
  compatOptimistic: flag(
    "GATEPOST_COMPAT_OPTIMISTIC",
    "In other services' shapes, say that a mailbox is deliverable when its domain takes mail and nothing was found; if false, unknown.",
  ),
  apiKey: parsed(
    ["GATEPOST_API_KEY", "none", "API key that `gatepost mcp --server` sends to the server."],
    readApiKey,
  ),
} as const satisfies Readonly<Record<string, Setting<unknown>>>;

type Settings = typeof SETTINGS;

/** Every setting's value, by its name in the code. */
export type Config = {
  readonly [Name in keyof Settings]: ReturnType<Settings[Name]["read"]>;
};

/** The environment cannot be used; `message` names every mistake, one a line. */
class ConfigFault extends Error {
  constructor(mistakes: readonly string[]) {
    super(mistakes.join("\n"));
    this.name = "ConfigFault";
  }
}

/** Reads all settings; throws one `ConfigFault` with all mistakes. Blank counts as unset. */
export function readConfig(environment: Environment): Config {
  const mistakes: string[] = [];
  const entries = Object.entries(SETTINGS).map(([key, setting]) => {
    // The proxy variables are as often written in lower case; no other setting is.
    const also = setting.name.endsWith("_PROXY")
      ? environment[setting.name.toLowerCase()]
      : undefined;
    const given = (environment[setting.name] ?? also)?.trim();
    try {
      return [key, setting.read(given === "" ? undefined : given)];
    } catch (fault) {
      mistakes.push(`${setting.name}: ${fault instanceof Error ? fault.message : "is bad"}.`);
      return [key, undefined];
    }
  });
  mistakes.push(...incomplete(environment));
  if (mistakes.length > 0) throw new ConfigFault(mistakes);
  const config = Object.fromEntries(entries) as Config;
  return { ...config, dataDir: resolve(config.dataDir) };
}

/** Settings that need each other. Invalid values are reported elsewhere. */
function incomplete(environment: Environment): readonly string[] {
  const isGiven = ({ name }: Setting<unknown>): boolean => (environment[name] ?? "").trim() !== "";
  const { databaseUrl, secretKey: key } = SETTINGS;
  const missing: string[] = [];
  if (isGiven(databaseUrl) && !isGiven(key)) {
    missing.push(
      "GATEPOST_SECRET_KEY: required with DATABASE_URL: all processes must have the same one.",
    );
  }
  return missing;
}
