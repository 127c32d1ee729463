import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createDnsLookup, type DnsLookup } from "../../adapters/dns/lookup.ts";
import type { Profile } from "../../adapters/dns/patience.ts";
import { createResolver } from "../../adapters/dns/resolver.ts";
import type { ServerAddress } from "../../adapters/dns/transport/server-address.ts";
import { readResolvConf, windowMaxFor } from "../../adapters/dns/transport/system-resolvers.ts";
import { loadBundledDatasets } from "../../adapters/lists/load/load-lists.ts";
import { createOutbound } from "../../adapters/outbound/outbound.ts";
import { createBootstrapCopy } from "../../adapters/rdap/bootstrap-copy.ts";
import { createRegistration } from "../../adapters/rdap/registration.ts";
import { WHOIS_SERVERS } from "../../adapters/rdap/whois-servers.ts";
import { systemClock } from "../../adapters/system/clock.ts";
import { systemIds } from "../../adapters/system/ids.ts";
import type { Datasets } from "../../core/evidence/datasets.ts";
import type { Lookup } from "../../core/mail/lookup.ts";
import type { Log } from "../../ports/process/log.ts";
import type { RegistrationCache } from "../../ports/evidence/registration-cache.ts";
import { createSingleCheck, type SingleCheck } from "../../service/check/single-check.ts";
import type { Config } from "../settings/config.ts";
import { rdapFolder } from "./tidy-up.ts";

/** Everything that judging one entry needs, without a database. */
export interface Checker {
  readonly datasets: () => Datasets;
  readonly dns: DnsLookup;
  readonly lookup: Lookup;
  readonly check: SingleCheck;
  /** Leaves no socket and no timer. */
  readonly close: () => void;
}

type CheckerConfig = Pick<
  Config,
  "dnsServers" | "dataDir" | "rdapBootstrapUrl" | "outboundAllow" | "whois" | "implicitMx"
>;

interface CheckerParts {
  readonly log: Log;
  readonly registrations: RegistrationCache;
  /** What is known of names; the bundled packages unless given. */
  readonly datasets?: () => Datasets;
}

function bundledDatasets(): () => Datasets {
  const bundled = loadBundledDatasets();
  return () => bundled;
}

export function openChecker(
  config: CheckerConfig,
  { log, registrations, datasets = bundledDatasets() }: CheckerParts,
): Checker {
  const dns = openDns(config, "interactive");
  const lookup: Lookup = {
    mx: dns.mx,
    addresses: dns.addresses,
    txt: dns.txt,
    registration: registrationFrom(config, dns, { log, registrations }),
  };
  const { implicitMx } = config;
  const check = createSingleCheck({ lookup, datasets, clock: systemClock, implicitMx });
  return { datasets, dns, lookup, check, close: () => dns.close() };
}

/** A DNS client with its own sockets and cache. */
export function openDns(
  config: Pick<Config, "dnsServers">,
  profile: Profile,
  windowAtMost?: number,
): DnsLookup {
  const servers = config.dnsServers ?? systemServers();
  const windowMax = windowAtMost ?? windowMaxFor(servers);
  const random = (count: number): Uint8Array => systemIds.bytes(count);
  const resolver = createResolver({ servers, profile, clock: systemClock, random, windowMax });
  return createDnsLookup(resolver, { clock: systemClock });
}

function systemServers(): readonly ServerAddress[] {
  try {
    return readResolvConf(readFileSync("/etc/resolv.conf", "utf8"));
  } catch {
    return readResolvConf(""); // no such file: resolv.conf(5) says what then
  }
}

/** How long one question to a registry may take: what is left of the premium budget is less anyway. */
const REGISTRY_TIMEOUT_MS = 3_500;

function registrationFrom(
  config: CheckerConfig,
  dns: DnsLookup,
  { log, registrations }: { readonly log: Log; readonly registrations: RegistrationCache },
): Lookup["registration"] {
  const outbound = createOutbound({
    addresses: dns.addresses,
    clock: systemClock,
    allowed: config.outboundAllow ?? [],
  });
  const bootstrap = createBootstrapCopy({
    url: config.rdapBootstrapUrl,
    path: join(rdapFolder(config.dataDir), "dns.json"),
    outbound,
    clock: systemClock,
    ids: systemIds,
    log,
  });
  return createRegistration({
    bootstrap,
    outbound,
    cache: registrations,
    clock: systemClock,
    log,
    whoisServers: config.whois ? WHOIS_SERVERS : [],
    timeoutMs: REGISTRY_TIMEOUT_MS,
  });
}
