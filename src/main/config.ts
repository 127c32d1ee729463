import { resolve } from "node:path";
import { parseDnsServers } from "../adapters/dns/system-resolvers.ts";
import { type AddressRange, parseRanges } from "../adapters/outbound/public-address.ts";
import { readTrustedProxies } from "../http/client-address.ts";

/** One setting: how its text is read, and the words `docs/configuration.md` is held against. */
interface Setting<Value> {
  readonly name: string;
  /** As the documentation shows it. */
  readonly shownDefault: string;
  readonly meaning: string;
  /** `undefined` when unset or blank. Throws an Error with a sentence for a bad value. */
  readonly read: (text: string | undefined) => Value;
}

type Environment = Readonly<Record<string, string | undefined>>;

function text(name: string, shownDefault: string, meaning: string): Setting<string> {
  return { name, shownDefault, meaning, read: (given) => given ?? shownDefault };
}

function optional(name: string, meaning: string): Setting<string | undefined> {
  return { name, shownDefault: "none", meaning, read: (given) => given };
}

interface Range {
  readonly min: number;
  readonly max: number;
}

function whole(
  name: string,
  standard: number,
  { min, max }: Range,
  meaning: string,
): Setting<number> {
  const read = (given: string | undefined): number => {
    if (given === undefined) return standard;
    const value = Number(given);
    if (/^\d+$/.test(given) && value >= min && value <= max) return value;
    throw new Error(`must be a whole number from ${String(min)} to ${String(max)}, not "${given}"`);
  };
  return { name, shownDefault: String(standard), meaning, read };
}

function choice<const Word extends string>(
  name: string,
  words: readonly [Word, ...Word[]],
  meaning: string,
): Setting<Word> {
  const read = (given: string | undefined): Word => {
    if (given === undefined) return words[0];
    const word = words.find((known) => known === given);
    if (word !== undefined) return word;
    throw new Error(`must be ${words.join(" or ")}, not "${given}"`);
  };
  return { name, shownDefault: words[0], meaning, read };
}

function flag(name: string, meaning: string): Setting<boolean> {
  const read = (given: string | undefined): boolean => {
    if (given === undefined || /^(false|0|no|off)$/i.test(given)) return false;
    if (/^(true|1|yes|on)$/i.test(given)) return true;
    throw new Error(`must be true or false, not "${given}"`);
  };
  return { name, shownDefault: "false", meaning, read };
}

/** A setting that another floor knows how to read; `parse` throws an Error with a sentence. */
function parsed<Value>(
  [name, shownDefault, meaning]: readonly [name: string, shownDefault: string, meaning: string],
  parse: (text: string) => Value,
): Setting<Value | undefined> {
  const read = (given: string | undefined): Value | undefined =>
    given === undefined ? undefined : parse(given);
  return { name, shownDefault, meaning, read };
}

function readRanges(text: string): readonly AddressRange[] {
  const parsed = parseRanges(text.split(",").map((part) => part.trim()));
  if (parsed.ok) return parsed.ranges;
  throw new Error(`holds what is no address or CIDR: ${parsed.wrong.join(", ")}`);
}

function readBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const known = url?.protocol === "https:" || url?.protocol === "http:";
  if (url !== undefined && known && url.username === "") return url.href.replace(/\/+$/, "");
  throw new Error("must be an http or https URL without a user name");
}

/** The value may hold a password, and is never repeated. */
function readProxy(text: string): URL {
  const href = text.includes("://") ? text : `http://${text}`;
  const url = URL.canParse(href) ? new URL(href) : undefined;
  if (url?.protocol === "http:") return url;
  throw new Error("must be the http URL of a proxy");
}

const readHosts = (text: string): readonly string[] =>
  text.split(/[\s,]+/).filter((host) => host !== "");

function secretKey(
  name: string,
  shownDefault: string,
  meaning: string,
): Setting<Buffer | undefined> {
  const read = (given: string | undefined): Buffer | undefined => {
    if (given === undefined) return undefined;
    const key = Buffer.from(given, "base64");
    if (key.length === 32) return key;
    throw new Error("must be 32 bytes in base64"); // never the value: it is a secret
  };
  return { name, shownDefault, meaning, read };
}

/** Every setting. Only this file reads the environment. */
export const SETTINGS = {
  host: text("HOST", "127.0.0.1", "Address to listen on."),
  port: whole("PORT", 8_080, { min: 0, max: 65_535 }, "Port to listen on; 0 picks a free one."),
  dataDir: text("GATEPOST_DATA_DIR", "./data", "Database, cached lists, keys."),
  publicUrl: optional(
    "GATEPOST_PUBLIC_URL",
    "Base of links in answers, such as the pricing page; unset: `http://HOST:PORT`.",
  ),
  dnsServers: parsed(
    [
      "GATEPOST_DNS_SERVERS",
      "the system's resolvers",
      "DNS servers to ask: comma-separated `ip` or `ip:port` (`[v6]:port`).",
    ],
    parseDnsServers,
  ),
  trustProxy: parsed(
    [
      "GATEPOST_TRUST_PROXY",
      "none",
      "Addresses or CIDRs, comma-separated, whose `X-Forwarded-For` is believed.",
    ],
    readTrustedProxies,
  ),
  secretKey: secretKey(
    "GATEPOST_SECRET_KEY",
    "made in the data directory",
    "32 bytes in base64: encrypts webhook secrets, keys stored hashes of addresses. Keep it apart from the database's back-up.",
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
    "JSON file that overrides numbers of the tier table; any mistake in it stops the start.",
  ),
  syncBudgetMs: whole(
    "GATEPOST_SYNC_BUDGET_MS",
    10_000,
    { min: 1, max: 600_000 },
    "How long a bulk request of up to 100 entries may run before it is queued, in milliseconds.",
  ),
  rdapBootstrapUrl: text(
    "GATEPOST_RDAP_BOOTSTRAP_URL",
    "https://data.iana.org/rdap/dns.json",
    "Where the RDAP bootstrap file (RFC 9224) is fetched.",
  ),
  outboundAllow: parsed(
    [
      "GATEPOST_OUTBOUND_ALLOW",
      "none",
      "Addresses or CIDRs outside the public range that RDAP, WHOIS and list fetches may reach; never webhooks.",
    ],
    readRanges,
  ),
  listsRefresh: choice(
    "GATEPOST_LISTS_REFRESH",
    ["daily", "off"],
    "`daily` or `off`: fetching list sources and learning mail servers from DNS.",
  ),
  listsMirror: parsed(
    ["GATEPOST_LISTS_MIRROR", "none", "Base URL that serves the list sources as `<id>`."],
    readBaseUrl,
  ),
  httpsProxy: parsed(
    ["HTTPS_PROXY", "none", "Proxy for list sources behind https; also in lower case."],
    readProxy,
  ),
  httpProxy: parsed(
    ["HTTP_PROXY", "none", "Proxy for list sources behind http; also in lower case."],
    readProxy,
  ),
  noProxy: parsed(
    [
      "NO_PROXY",
      "none",
      "Hosts and suffixes of hosts, comma-separated, that are fetched without a proxy; also in lower case.",
    ],
    readHosts,
  ),
  whois: flag(
    "GATEPOST_WHOIS",
    "Ask WHOIS (RFC 3912) for the age of domains whose registry has no RDAP.",
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
  logAddresses: flag(
    "GATEPOST_LOG_ADDRESSES",
    "Write checked addresses in clear to the access log; off, only their domain.",
  ),
  maxConnections: whole(
    "GATEPOST_MAX_CONNECTIONS",
    10_000,
    { min: 1, max: 1_000_000 },
    "Open connections at the most; beyond it new ones are closed.",
  ),
} as const satisfies Readonly<Record<string, Setting<unknown>>>;

type Settings = typeof SETTINGS;

/** Every setting's value, by its name in the code. */
export type Config = {
  readonly [Name in keyof Settings]: ReturnType<Settings[Name]["read"]>;
};

/** The environment cannot be used; `message` names every mistake, one a line. */
export class ConfigFault extends Error {
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
  if (mistakes.length > 0) throw new ConfigFault(mistakes);
  const config = Object.fromEntries(entries) as Config;
  return { ...config, dataDir: resolve(config.dataDir) };
}

/** The base of links, without a trailing slash. */
export function publicUrlOf(config: Pick<Config, "publicUrl" | "host" | "port">): string {
  const host = config.host.includes(":") ? `[${config.host}]` : config.host;
  const url = config.publicUrl ?? `http://${host}:${String(config.port)}`;
  return url.replace(/\/+$/, "");
}
