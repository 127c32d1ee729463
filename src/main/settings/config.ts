import { resolve } from "node:path";
import { isOneEdit } from "../../core/name/one-edit.ts";
import { parseDnsServers } from "../../dns/transport/system-resolvers.ts";
import { parseCanaries } from "../../dns/trust/trust.ts";
import { SHAPES } from "../../http/compat/services.ts";
import { readTrustedProxies } from "../../http/client-address.ts";
import { type CompatHosts, readCompatHosts } from "../../http/hosts.ts";
import { AddressRanges } from "../../outbound/public-address.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Makes a value of a setting's text. Throws an Error with what is wrong; never with a secret in it. */
type ReadSetting<Value> = (text: string) => Value;

interface Setting<Value> {
  readonly name: string;
  readonly shownDefault: string;
  readonly meaning: string;
  readonly read: (text: string | undefined) => Value;
}

const set = <Value>(
  name: string,
  shownDefault: string,
  read: ReadSetting<Value>,
  meaning: string,
): Setting<Value> => ({ name, shownDefault, meaning, read: (given = shownDefault) => read(given) });

const may = <Value>(
  name: string,
  read: ReadSetting<Value>,
  meaning: string,
  shownDefault = "none",
): Setting<Value | undefined> => ({
  name,
  shownDefault,
  meaning,
  read: (given) => (given === undefined ? undefined : read(given)),
});

const text: ReadSetting<string> = (given) => given;

const numberOf =
  (kind: "a whole number" | "a number", digits: RegExp) =>
  (min: number, max: number): ReadSetting<number> =>
  (given) => {
    const value = Number(given);
    if (digits.test(given) && value >= min && value <= max) return value;
    throw new Error(`must be ${kind} from ${String(min)} to ${String(max)}, not "${given}"`);
  };

const whole = numberOf("a whole number", /^\d+$/);
const hours = numberOf("a number", /^[\d.]+$/);

const oneOf =
  <const Word extends string>(...words: readonly Word[]): ReadSetting<Word> =>
  (given) => {
    const word = words.find((known) => known === given);
    if (word !== undefined) return word;
    throw new Error(`must be ${words.join(" or ")}, not "${given}"`);
  };

const flag: ReadSetting<boolean> = (given) => {
  if (/^(?:false|0|no|off)$/i.test(given)) return false;
  if (/^(?:true|1|yes|on)$/i.test(given)) return true;
  throw new Error(`must be true or false, not "${given}"`);
};

const parsedUrl = (given: string): URL | undefined =>
  URL.canParse(given) ? new URL(given) : undefined;

const url: ReadSetting<string> = (given) => {
  const { protocol, username, password, href } = parsedUrl(given) ?? {};
  const isHttp = protocol === "https:" || protocol === "http:";
  if (isHttp && href !== undefined && username === "" && password === "") return href;
  throw new Error("must be an http or https URL without a user name");
};

const baseUrl: ReadSetting<string> = (given) => url(given).replace(/\/+$/, "");

/** Of the driver; all but the first and the last verify the certificate. */
const SSL_MODES = ["disable", "prefer", "require", "verify-ca", "verify-full", "no-verify"];

const databaseUrl: ReadSetting<string> = (given) => {
  const { protocol = "", hostname = "", searchParams } = parsedUrl(given) ?? {};
  const isNamed = hostname !== "" || (searchParams?.get("host") ?? "") !== "";
  const mode = searchParams?.get("sslmode");
  if (mode !== undefined && mode !== null && !SSL_MODES.includes(mode)) {
    throw new Error(`sslmode must be one of ${SSL_MODES.join(", ")}, not "${mode}"`);
  }
  if (/^postgres(?:ql)?:$/.test(protocol) && isNamed) return given;
  throw new Error("must be the URL of a PostgreSQL database, with postgres:// or postgresql://");
};

const proxy: ReadSetting<URL> = (given) => {
  const found = parsedUrl(given.includes("://") ? given : `http://${given}`);
  if (found?.protocol === "http:") return found;
  throw new Error("must be the http URL of a proxy");
};

const hosts: ReadSetting<readonly string[]> = (given) =>
  given.split(/[\s,]+/).filter((host) => host !== "");

const compatHosts: ReadSetting<CompatHosts> = (given) =>
  readCompatHosts(
    given,
    SHAPES.map(({ service }) => service),
  );

const apiKey: ReadSetting<string> = (given) => {
  if (/^[!-~]{1,200}$/.test(given)) return given;
  throw new Error("must be printable ASCII without blanks");
};

/** A name of RFC 9110 section 5.1, as Node has names of headers. */
const headerName: ReadSetting<string> = (given) => {
  if (/^[\w!#$%&'*+.^`|~-]{1,100}$/.test(given)) return given.toLowerCase();
  throw new Error(`must be the name of a header, not "${given}"`);
};

const secretKey: ReadSetting<Buffer> = (given) => {
  const key = Buffer.from(given, "base64");
  if (key.length === 32) return key;
  throw new Error("must be 32 bytes in base64");
};

export const SETTINGS = {
  host: set("HOST", "127.0.0.1", text, "Address to listen on."),
  port: set("PORT", "8080", whole(0, 65_535), "Port to listen on; 0 picks a free one."),
  databaseUrl: may(
    "DATABASE_URL",
    databaseUrl,
    "`postgres://...` of the PostgreSQL that several processes share, by a direct connection; unset: SQLite in the data directory.",
  ),
  workerPort: may(
    "GATEPOST_WORKER_PORT",
    whole(0, 65_535),
    "Port of `HOST` where `gatepost worker` serves `/healthz`, `/readyz` and `/metrics`; 0 picks a free one; unset: no port.",
  ),
  dataDir: set("GATEPOST_DATA_DIR", "./data", text, "Database, cached lists, keys."),
  publicUrl: may(
    "GATEPOST_PUBLIC_URL",
    baseUrl,
    "Base of links in answers, such as `upgrade_url`; unset: `http://HOST:PORT`.",
  ),
  dnsServers: may(
    "GATEPOST_DNS_SERVERS",
    parseDnsServers,
    "DNS servers to ask: comma-separated `ip` or `ip:port` (`[v6]:port`); `off`: none, so that format, lists and rules decide alone.",
    "the system's resolvers",
  ),
  cacheMb: set(
    "GATEPOST_CACHE_MB",
    "128",
    whole(8, 65_536),
    "Memory of all caches of a process together, in MiB.",
  ),
  dnsCanaries: may(
    "GATEPOST_DNS_CANARIES",
    parseCanaries,
    "Names that must exist, comma-separated, or `off`: when DNS finds none of them, its answers are not trusted.",
    "built in",
  ),
  trustProxy: may(
    "GATEPOST_TRUST_PROXY",
    readTrustedProxies,
    "Proxies whose `X-Forwarded-For` is trusted: IP addresses or CIDR ranges, comma-separated.",
  ),
  signInHeader: may(
    "GATEPOST_SIGN_IN_HEADER",
    headerName,
    "Header of [trusted proxies](operations/sign-in.md#behind-a-proxy-that-knows-the-person) with the verified email address of who signs in.",
  ),
  secretKey: may(
    "GATEPOST_SECRET_KEY",
    secretKey,
    "32 bytes in base64: encrypts webhook secrets and keys the stored hashes of addresses; required with `DATABASE_URL`. Keep it apart from the database's back-up.",
    "made in the data directory",
  ),
  signup: may(
    "GATEPOST_SIGNUP",
    oneOf("open", "closed"),
    "Who may create accounts in the dashboard: `open` or `closed`; unset: switched on the page *Accounts*, `open` at first.",
  ),
  listHours: set(
    "GATEPOST_LIST_HOURS",
    "24",
    hours(0.25, 720),
    "How many hours the dashboard keeps a list after its upload or last check, from 0.25 to 720.",
  ),
  implicitMx: set(
    "GATEPOST_IMPLICIT_MX",
    "false",
    flag,
    "Count an address record alone as a mail server (RFC 5321 section 5.1).",
  ),
  tiersFile: may(
    "GATEPOST_TIERS_FILE",
    text,
    "JSON file that overrides numbers of the plans; a mistake in it stops the start.",
  ),
  syncBudgetMs: set(
    "GATEPOST_SYNC_BUDGET_MS",
    "10000",
    whole(1, 600_000),
    "How long a bulk request of up to 100 entries may run before it is queued, in milliseconds.",
  ),
  rdapBootstrapUrl: set(
    "GATEPOST_RDAP_BOOTSTRAP_URL",
    "https://data.iana.org/rdap/dns.json",
    url,
    "URL of the RDAP bootstrap file (RFC 9224).",
  ),
  outboundAllow: may(
    "GATEPOST_OUTBOUND_ALLOW",
    (given) => new AddressRanges(given.split(",").map((part) => part.trim())),
    "Non-public IP addresses or CIDR ranges that RDAP and list fetches may reach; webhooks never may.",
  ),
  listsRefresh: set(
    "GATEPOST_LISTS_REFRESH",
    "daily",
    oneOf("daily", "off"),
    "`daily` or `off`: fetch feeds and learn mail servers from DNS.",
  ),
  listsMirror: may(
    "GATEPOST_LISTS_MIRROR",
    baseUrl,
    "Base URL of a mirror that serves each feed as `<id>`.",
  ),
  httpsProxy: may("HTTPS_PROXY", proxy, "Proxy for feeds with an https URL; also in lower case."),
  httpProxy: may("HTTP_PROXY", proxy, "Proxy for feeds with an http URL; also in lower case."),
  noProxy: may(
    "NO_PROXY",
    hosts,
    "Hosts and host suffixes, comma-separated, to fetch without a proxy; also in lower case.",
  ),
  metricsToken: may(
    "GATEPOST_METRICS_TOKEN",
    text,
    "Bearer token for `/metrics`; unset: loopback peers without forwarding headers only.",
  ),
  logLevel: set(
    "LOG_LEVEL",
    "info",
    oneOf("info", "debug", "warn", "error", "silent"),
    "The least severe level that is logged: debug, info, warn, error or silent.",
  ),
  maxConnectionsPerAddress: set(
    "GATEPOST_MAX_CONNECTIONS_PER_ADDRESS",
    "256",
    whole(1, 1_000_000),
    "Largest number of connections of one IPv4 address or IPv6 /64; not for trusted proxies.",
  ),
  allowedHosts: may(
    "GATEPOST_ALLOWED_HOSTS",
    hosts,
    "Host names that `/account/*` and `/metrics` answer to, comma-separated, beside that of the public URL and loopback names, and the dashboard's pages too. Unset, without `GATEPOST_PUBLIC_URL`: any, unless `HOST` is a loopback address.",
    "from the public URL and loopback",
  ),
  compatHosts: may(
    "GATEPOST_COMPAT_HOSTS",
    compatHosts,
    "Host names that serve another service's shape at their root: `host=service`, comma-separated; services as in `docs/migrate.md`.",
  ),
  compatOptimistic: set(
    "GATEPOST_COMPAT_OPTIMISTIC",
    "false",
    flag,
    "In other services' shapes, say that a mailbox is deliverable when its domain takes mail and nothing was found; if false, unknown.",
  ),
  apiKey: may(
    "GATEPOST_API_KEY",
    apiKey,
    "API key that `gatepost mcp --server` sends to the server.",
  ),
} as const satisfies Readonly<Record<string, Setting<unknown>>>;

/** Settings of earlier versions, and what to do now. */
const REMOVED: ReadonlyMap<string, string> = new Map([
  ["REDIS_URL", "PostgreSQL alone (DATABASE_URL) is shared by several processes."],
  ["GATEPOST_SITE_TITLE", "the front page has a fixed headline."],
  ["GATEPOST_SITE_TEXT", "the front page has a fixed text."],
  ["GATEPOST_LOG_ADDRESSES", "the log never holds checked addresses in clear."],
  [
    "GATEPOST_MAX_CONNECTIONS",
    "the server holds 10,000 connections, and closes the longest idle one for a further one.",
  ],
  ["GATEPOST_WHOIS", "the age of a domain comes from RDAP alone."],
  ["GATEPOST_CENSUS_NAMES", "there is no census of mail servers any more."],
]);

type Settings = typeof SETTINGS;

export type Config = {
  readonly [Name in keyof Settings]: ReturnType<Settings[Name]["read"]>;
};

/** Reads all settings; throws one Error that names every mistake, one a line. Blank counts as unset. */
export function readConfig(environment: Environment): Config {
  const mistakes: string[] = [];
  const given = (name: string): string | undefined => environment[name]?.trim() || undefined;
  const entries = Object.entries(SETTINGS).map(([key, { name, read }]) => {
    // The proxy variables are as often written in lower case; no other setting is.
    const also = name.endsWith("_PROXY") ? given(name.toLowerCase()) : undefined;
    try {
      return [key, read(given(name) ?? also)];
    } catch (fault) {
      mistakes.push(`${name}: ${fault instanceof Error ? fault.message : "is bad"}.`);
      return [key, undefined];
    }
  });
  if (given("DATABASE_URL") !== undefined && given("GATEPOST_SECRET_KEY") === undefined) {
    mistakes.push(
      "GATEPOST_SECRET_KEY: required with DATABASE_URL: all processes must have the same one.",
    );
  }
  if (
    given("GATEPOST_SIGN_IN_HEADER") !== undefined &&
    given("GATEPOST_TRUST_PROXY") === undefined
  ) {
    mistakes.push(
      "GATEPOST_SIGN_IN_HEADER: needs GATEPOST_TRUST_PROXY: only those peers are believed.",
    );
  }
  if (mistakes.length > 0) throw new Error(mistakes.join("\n"));
  const config = Object.fromEntries(entries) as Config;
  return { ...config, dataDir: resolve(config.dataDir) };
}

const KNOWN: readonly string[] = Object.values(SETTINGS).map(({ name }) => name);

/** What Kubernetes sets in containers of a service called "gatepost": GATEPOST_PORT=tcp://192.0.2.1:80 and more. */
const SERVICE_LINK = /_(?:SERVICE_(?:HOST|PORT)|PORT_\d+_(?:TCP|UDP))[_=]|_PORT=(?:tcp|udp):/;

/** Settings of other programs that the documents name: of the clients, the proxy's files and the release. */
const OF_OTHERS: ReadonlySet<string> = new Set([
  "GATEPOST_URL",
  "GATEPOST_KEY",
  "GATEPOST_TOKEN_SECRET",
  "GATEPOST_WEBHOOK_SECRET",
  "GATEPOST_SITE",
  "GATEPOST_UPSTREAM",
  "GATEPOST_BUGS",
]);

export function unknownSettings(environment: Environment): readonly string[] {
  return Object.entries(environment)
    .filter(([name, value = ""]) => !OF_OTHERS.has(name) && !SERVICE_LINK.test(`${name}=${value}`))
    .map(([name]) => name)
    .filter((name) => REMOVED.has(name) || (name.startsWith("GATEPOST_") && !KNOWN.includes(name)))
    .sort()
    .map((name) => {
      const removed = REMOVED.get(name);
      if (removed !== undefined) return `Removed setting ${name} (ignored). Unset it: ${removed}`;
      return `Unknown setting ${name} (ignored). ${hint(name)}`;
    });
}

function hint(name: string): string {
  const meant = KNOWN.find(
    (known) => bare(name) === bare(known) || isOneEdit(bare(name), bare(known)),
  );
  return meant === undefined
    ? "docs/configuration.md lists all settings."
    : `Did you mean ${meant}?`;
}

const bare = (name: string): string => name.replace(/^GATEPOST_/, "").replaceAll("_", "");

const ANY_ADDRESS: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

export const guessesPublicUrl = ({ publicUrl, host }: Config): boolean =>
  publicUrl === undefined && ANY_ADDRESS.has(host);

export function publicUrlOf({ publicUrl, host, port }: Config): string {
  const known = ANY_ADDRESS.has(host) ? "localhost" : host;
  const name = known.includes(":") ? `[${known}]` : known;
  return publicUrl ?? `http://${name}:${String(port)}`;
}
