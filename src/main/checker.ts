import { join } from "node:path";
import type { Log } from "../base/log.ts";
import { createShares, ONE_OWNER, type Shares } from "../base/shares.ts";
import { createBootstrapCopy } from "../check/rdap/bootstrap-copy.ts";
import { createRegistration, type RegistrationCache } from "../check/rdap/registration.ts";
import {
  createCheckWithoutDns,
  createSingleCheck,
  type SingleCheck,
} from "../check/single-check.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import type { Lookup } from "../core/mail/lookup.ts";
import type { Validation } from "../core/validate/validate.ts";
import type { Profile } from "../dns/query.ts";
import { SharedCap } from "../dns/flow/window.ts";
import { noResolver } from "../dns/resolver.ts";
import { createDnsLookup, type DnsLookup } from "../dns/lookup.ts";
import {
  type ServerAddress,
  systemResolvers,
  underWayMaxFor,
} from "../dns/transport/system-resolvers.ts";
import { BUILT_IN_CANARIES, namedCanaries, Trust } from "../dns/trust/trust.ts";
import type { Machine, Process } from "./process.ts";
import type { Config } from "./settings/config.ts";

type DnsConfig = Pick<Config, "dnsServers"> & Partial<Pick<Config, "cacheMb">>;

export type DnsMachine = Pick<Machine, "clock" | "ids" | "openResolver">;

/** Parts of GATEPOST_CACHE_MB, in sixteenths. Finished answers take 4; learning and the bulk thread are both "bulk". */
const CACHE_SIXTEENTHS: Readonly<Record<Profile, number>> = {
  interactive: 4,
  bulk: 3,
  again: 1,
  probe: 0,
};

/** One cap for each set of servers, whatever the process opens to ask them. */
const caps = new WeakMap<DnsMachine, Map<string, SharedCap>>();

export function dnsCap(config: DnsConfig, machine: DnsMachine): SharedCap {
  const servers = serversOf(config);
  const key = JSON.stringify(servers);
  const ofMachine = caps.get(machine) ?? new Map<string, SharedCap>();
  const cap = ofMachine.get(key) ?? new SharedCap(underWayMaxFor(servers));
  caps.set(machine, ofMachine.set(key, cap));
  return cap;
}

export const joinDnsCap = (config: DnsConfig, memory: SharedArrayBuffer): SharedCap =>
  new SharedCap(underWayMaxFor(serversOf(config)), memory);

interface DnsOptions {
  readonly machine: DnsMachine;
  readonly closing?: Process["closing"];
  readonly cap?: SharedCap | undefined;
  readonly trust?: Trust | undefined;
}

export const isDnsOff = ({ dnsServers }: DnsConfig): boolean => dnsServers?.length === 0;

const resolverFor = (
  config: DnsConfig,
  profile: Profile,
  { machine, cap = dnsCap(config, machine) }: DnsOptions,
) =>
  isDnsOff(config)
    ? noResolver
    : machine.openResolver({
        servers: serversOf(config),
        profile,
        clock: machine.clock,
        random: (count) => machine.ids.bytes(count),
        cap,
      });

interface TrustProcess extends Omit<DnsOptions, "trust"> {
  readonly config: Pick<Config, "dnsServers" | "dnsCanaries">;
  readonly log: Log;
}

export function openTrust(process: TrustProcess): Trust | undefined {
  const { config, machine, log, closing } = process;
  const { dnsCanaries } = config;
  if (dnsCanaries?.length === 0 || isDnsOff(config)) return undefined;
  const trust = new Trust({
    resolver: resolverFor(config, "probe", process),
    random: (count) => machine.ids.bytes(count),
    clock: machine.clock,
    log,
    servers: serversOf(config).map(serverText).join(", "),
    canaries: dnsCanaries === undefined ? BUILT_IN_CANARIES : namedCanaries(dnsCanaries),
  });
  closing?.add(() => trust.close());
  return trust;
}

export const serverText = ({ host, port }: ServerAddress): string =>
  host.includes(":") ? `[${host}]:${String(port)}` : `${host}:${String(port)}`;

export function openDns(config: DnsConfig, profile: Profile, options: DnsOptions): DnsLookup {
  const { machine, trust } = options;
  const { cacheMb } = config;
  const cacheOctets =
    cacheMb === undefined ? undefined : (cacheMb * 1_048_576 * CACHE_SIXTEENTHS[profile]) / 16;
  const resolver = resolverFor(config, profile, options);
  const dns = createDnsLookup(resolver, { clock: machine.clock, trust, cacheOctets });
  options.closing?.add(() => dns.close());
  return dns;
}

export const serversOf = ({ dnsServers }: DnsConfig): readonly ServerAddress[] =>
  dnsServers ?? systemResolvers();

interface CheckerParts {
  readonly datasets: () => Datasets;
  readonly registrations: RegistrationCache;
  readonly trust: Trust | undefined;
  readonly shares?: Pick<Shares, "registry" | "of">;
  readonly seen?: (validation: Validation) => void;
}

export function openChecker(process: Process, parts: CheckerParts) {
  const { config, clock } = process;
  const { datasets, registrations, trust, shares, seen = () => undefined } = parts;
  const dns = openDns(config, "interactive", { ...process, trust });
  const { mx, addresses, txt, everyAddress } = dns;
  const registration = registrationFrom(process, everyAddress, { registrations, shares });
  const lookup: Lookup = { mx, addresses, txt, registration };
  const deps = { lookup, datasets, clock, implicitMx: config.implicitMx };
  const told =
    (check: SingleCheck): SingleCheck =>
    async (question) => {
      const validation = await check(question);
      seen(validation);
      return validation;
    };
  return {
    datasets,
    dns,
    lookup,
    check: told(createSingleCheck(deps)),
    /** What nobody asked for, the examples of the front page say: it is in no count. */
    uncounted: createSingleCheck(deps),
    /** By the clock of the process, for answers that somebody waits for. */
    budgeted: told(createSingleCheck(deps, clock)),
    withoutDns: createCheckWithoutDns(deps),
  };
}

export type Checker = ReturnType<typeof openChecker>;

/** How long one question to a registry may take: what is left of the premium budget is less anyway. */
const REGISTRY_TIMEOUT_MS = 3_500;

interface RegistryProcess extends Pick<Process, "clock" | "ids" | "log"> {
  readonly machine: Pick<Machine, "openOutbound">;
  readonly config: Pick<Config, "dataDir" | "rdapBootstrapUrl" | "outboundAllow">;
}

interface RegistryParts {
  readonly registrations: RegistrationCache;
  readonly shares?: Pick<Shares, "registry"> | undefined;
}

export function registrationFrom(
  { config, machine, clock, ids, log }: RegistryProcess,
  addresses: Lookup["addresses"],
  { registrations: cache, shares = createShares(undefined, ONE_OWNER) }: RegistryParts,
): Lookup["registration"] {
  const outbound = machine.openOutbound({ addresses, clock, allowed: config.outboundAllow });
  const bootstrap = createBootstrapCopy({
    url: config.rdapBootstrapUrl,
    path: join(rdapFolder(config.dataDir), "dns.json"),
    outbound,
    clock,
    ids,
    log,
  });
  const timeoutMs = REGISTRY_TIMEOUT_MS;
  return createRegistration({ bootstrap, outbound, cache, clock, log, shares, timeoutMs });
}

export const rdapFolder = (dataDir: string): string => join(dataDir, "rdap");
