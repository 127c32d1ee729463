import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "../base/log.ts";
import { createShares, ONE_OWNER, type Shares } from "../base/shares.ts";
import { createBootstrapCopy } from "../check/rdap/bootstrap-copy.ts";
import { createRegistration } from "../check/rdap/registration.ts";
import type { RegistrationCache } from "../check/registration-cache.ts";
import {
  type BudgetedCheck,
  createBudgetedCheck,
  createSingleCheck,
  type SingleCheck,
} from "../check/single-check.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import type { Lookup } from "../core/mail/lookup.ts";
import type { Validation } from "../core/validate/validate.ts";
import type { Profile } from "../dns/flow/patience.ts";
import { SharedCap } from "../dns/flow/shared-cap.ts";
import { createDnsLookup, type DnsLookup, type LookupOptions } from "../dns/lookup.ts";
import {
  readResolvConf,
  type ServerAddress,
  underWayMaxFor,
} from "../dns/transport/system-resolvers.ts";
import { builtInCanaries, namedCanaries, Trust } from "../dns/trust/trust.ts";
import type { Machine, Process } from "./process.ts";
import type { Config } from "./settings/config.ts";

type DnsConfig = Pick<Config, "dnsServers"> & Partial<Pick<Config, "cacheMb">>;

const MIB = 1_048_576;

/** Parts of GATEPOST_CACHE_MB, in sixteenths. Finished answers take 4; learning and the bulk thread are both "bulk". */
const CACHE_SIXTEENTHS: Readonly<Record<Profile, number>> = {
  interactive: 4,
  bulk: 3,
  again: 1,
  probe: 0,
};

/** What of a machine DNS needs: the library has no more. */
export type DnsMachine = Pick<Machine, "clock" | "ids" | "openResolver">;

interface TrustProcess {
  readonly config: Pick<Config, "dnsServers" | "dnsCanaries">;
  readonly machine: DnsMachine;
  readonly log: Log;
  /** The process's unless given. */
  readonly cap?: SharedCap | undefined;
}

/** One cap for each set of servers, whatever the process opens to ask them. */
const caps = new WeakMap<DnsMachine, Map<string, SharedCap>>();

/** The process's cap for these servers. */
export function dnsCap(config: DnsConfig, machine: DnsMachine): SharedCap {
  const servers = serversOf(config);
  const key = JSON.stringify(servers);
  const ofMachine = caps.get(machine) ?? new Map<string, SharedCap>();
  const cap = ofMachine.get(key) ?? SharedCap.open(underWayMaxFor(servers));
  caps.set(machine, ofMachine.set(key, cap));
  return cap;
}

/** For the bulk thread: the cap of the thread that started it. */
export function joinDnsCap(config: DnsConfig, memory: SharedArrayBuffer): SharedCap {
  return SharedCap.join(underWayMaxFor(serversOf(config)), memory);
}

/** Watches whether the resolver tells the truth; undefined when the operator switched it off. */
export function openTrust({ config, machine, log, cap }: TrustProcess): Trust | undefined {
  const { dnsCanaries } = config;
  if (dnsCanaries?.length === 0) return undefined;
  const { clock } = machine;
  const servers = serversOf(config);
  const random = (count: number): Uint8Array => machine.ids.bytes(count);
  return new Trust({
    resolver: machine.openResolver({
      servers,
      profile: "probe",
      clock,
      random,
      cap: cap ?? dnsCap(config, machine),
    }),
    random,
    clock,
    log,
    servers: servers.map(textOf).join(", "),
    canaries: dnsCanaries === undefined ? builtInCanaries() : namedCanaries(dnsCanaries),
  });
}

const textOf = ({ host, port }: ServerAddress): string =>
  host.includes(":") ? `[${host}]:${String(port)}` : `${host}:${String(port)}`;

interface DnsOptions {
  /** The process's unless given. */
  readonly cap?: SharedCap | undefined;
  readonly machine: DnsMachine;
  readonly trust?: Trust | undefined;
  readonly questions?: LookupOptions["questions"];
}

/** A DNS client with its own sockets and cache. */
export function openDns(
  config: DnsConfig,
  profile: Profile,
  { machine, cap = dnsCap(config, machine), trust, questions }: DnsOptions,
): DnsLookup {
  const { clock, ids } = machine;
  const random = (count: number): Uint8Array => ids.bytes(count);
  const servers = serversOf(config);
  const resolver = machine.openResolver({ servers, profile, clock, random, cap });
  const { cacheMb } = config;
  const cacheOctets =
    cacheMb === undefined ? undefined : (cacheMb * MIB * CACHE_SIXTEENTHS[profile]) / 16;
  return createDnsLookup(resolver, { clock, trust, cacheOctets, questions });
}

/** Those that the operator named, else the system's. */
export function serversOf({ dnsServers }: DnsConfig): readonly ServerAddress[] {
  if (dnsServers !== undefined) return dnsServers;
  try {
    return readResolvConf(readFileSync("/etc/resolv.conf", "utf8"));
  } catch {
    return readResolvConf(""); // no such file: resolv.conf(5) gives the default
  }
}

/** Everything that checking one entry needs, without a database. */
export interface Checker {
  readonly datasets: () => Datasets;
  readonly dns: DnsLookup;
  /** Undefined: the operator switched the canaries off. */
  readonly trust: Trust | undefined;
  readonly lookup: Lookup;
  readonly check: SingleCheck;
  /** The same, with a budget of the caller's. */
  readonly budgeted: BudgetedCheck;
  /** Leaves no socket and no timer. */
  readonly close: () => void;
}

type CheckerConfig = Pick<
  Config,
  "dnsServers" | "dnsCanaries" | "dataDir" | "rdapBootstrapUrl" | "outboundAllow" | "implicitMx"
>;

/** What of a process the library has, too. */
interface RegistryProcess extends Pick<Process, "clock" | "ids" | "log"> {
  readonly machine: Pick<Process["machine"], "openOutbound">;
  readonly config: Pick<Config, "dataDir" | "rdapBootstrapUrl" | "outboundAllow">;
}

type CheckerProcess = Pick<Process, "machine" | "clock" | "ids" | "log"> & {
  readonly config: CheckerConfig;
};

interface CheckerParts {
  readonly shares?: Pick<Shares, "registry" | "of"> | undefined;
  readonly registrations: RegistrationCache;
  /** The process's; one of its own unless given. */
  readonly trust?: Trust | undefined;
  /** What is known of names. */
  readonly datasets: () => Datasets;
}

export function openChecker(
  process: CheckerProcess,
  { registrations, datasets, ...given }: CheckerParts,
): Checker {
  const { config, machine, clock } = process;
  const trust = "trust" in given ? given.trust : openTrust(process);
  const questions = given.shares?.of("questions");
  const dns = openDns(config, "interactive", { machine, trust, questions });
  const lookup: Lookup = {
    mx: dns.mx,
    addresses: dns.addresses,
    txt: dns.txt,
    registration: registrationFrom(process, dns.everyAddress, {
      registrations,
      shares: given.shares,
    }),
  };
  const { implicitMx } = config;
  const check = createSingleCheck({ lookup, datasets, clock, implicitMx });
  const budgeted = createBudgetedCheck({ lookup, datasets, clock, implicitMx });
  const close = (): void => {
    dns.close();
    if (!("trust" in given)) trust?.close();
  };
  return { datasets, dns, trust, lookup, check, budgeted, close };
}

/** How long one question to a registry may take: what is left of the premium budget is less anyway. */
const REGISTRY_TIMEOUT_MS = 3_500;

/** Asks registries; `addresses` are all of a host. */
export function registrationFrom(
  { config, machine, clock, ids, log }: RegistryProcess,
  addresses: Lookup["addresses"],
  {
    registrations,
    shares = createShares(undefined, ONE_OWNER),
  }: Pick<CheckerParts, "registrations" | "shares">,
): Lookup["registration"] {
  const outbound = machine.openOutbound({
    addresses,
    clock,
    allowed: config.outboundAllow ?? [],
  });
  const bootstrap = createBootstrapCopy({
    url: config.rdapBootstrapUrl,
    path: join(rdapFolder(config.dataDir), "dns.json"),
    outbound,
    clock,
    ids,
    log,
  });
  return createRegistration({
    bootstrap,
    outbound,
    cache: registrations,
    clock,
    log,
    shares,
    timeoutMs: REGISTRY_TIMEOUT_MS,
  });
}

/** The same checker; `seen` is called with each verdict. */
export function observed(checker: Checker, seen: (validation: Validation) => void): Checker {
  return {
    ...checker,
    async check(text, mode, asked) {
      const validation = await checker.check(text, mode, asked);
      seen(validation);
      return validation;
    },
    async budgeted(question) {
      const validation = await checker.budgeted(question);
      seen(validation);
      return validation;
    },
  };
}

/** The copy of the RDAP bootstrap file lies here. */
export const rdapFolder = (dataDir: string): string => join(dataDir, "rdap");
