import { editDistanceOne } from "../../core/policy/conditions.ts";
import { SETTINGS } from "./config.ts";

const KNOWN: readonly string[] = Object.values(SETTINGS).map(({ name }) => name);

/** What Kubernetes sets in containers of a service called "gatepost": GATEPOST_PORT=tcp://192.0.2.1:80 and more. */
const SERVICE_LINK = /_(?:SERVICE_(?:HOST|PORT)|PORT_\d+_(?:TCP|UDP))[_=]|_PORT=(?:tcp|udp):/;

/** Settings of earlier versions, and what to do now. */
const REMOVED: ReadonlyMap<string, string> = new Map([
  ["REDIS_URL", "Unset it: PostgreSQL alone (DATABASE_URL) is shared by several processes."],
  ["GATEPOST_SITE_TITLE", "Unset it: the front page has a fixed headline."],
  ["GATEPOST_SITE_TEXT", "Unset it: the front page has a fixed text."],
  ["GATEPOST_LOG_ADDRESSES", "Unset it: the log never holds checked addresses in clear."],
  [
    "GATEPOST_MAX_CONNECTIONS",
    "Unset it: the server holds 10,000 connections, and closes the longest idle one for a further one.",
  ],
  ["GATEPOST_WHOIS", "Unset it: the age of a domain comes from RDAP alone."],
  ["GATEPOST_CENSUS_NAMES", "Unset it: there is no census of mail servers any more."],
]);

/** One warning for each variable that looks like a setting but is not one. */
export function unknownSettings(
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  return Object.entries(environment)
    .filter(([name, value = ""]) => !SERVICE_LINK.test(`${name}=${value}`))
    .map(([name]) => name)
    .filter((name) => REMOVED.has(name) || (name.startsWith("GATEPOST_") && !KNOWN.includes(name)))
    .sort()
    .map((name) => {
      const removed = REMOVED.get(name);
      if (removed !== undefined) return `Removed setting ${name} (ignored). ${removed}`;
      return `Unknown setting ${name} (ignored). ${hint(name)}`;
    });
}

function hint(name: string): string {
  const meant = KNOWN.find((known) => isNear(bare(name), bare(known)));
  return meant === undefined
    ? "docs/configuration.md lists all settings."
    : `Did you mean ${meant}?`;
}

const isNear = (name: string, known: string): boolean =>
  name === known || editDistanceOne(name, known);

/** A name without prefix and underscores, which users most often get wrong. */
const bare = (name: string): string => name.replace(/^GATEPOST_/, "").replaceAll("_", "");
