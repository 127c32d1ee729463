import type { DnsLookup } from "../../../src/dns/lookup.ts";
import { createResolver } from "../../../src/dns/resolver.ts";
import { parseDnsServers } from "../../../src/dns/transport/system-resolvers.ts";
import { noRules } from "../../../src/lists/shared-datasets.ts";
import { attachDatasets, type PackedDatasets } from "../../../src/lists/shared-datasets.ts";
import { memoryRegistrationCache } from "../../../src/check/rdap/registration.ts";
import { createOutbound } from "../../../src/outbound/outbound.ts";
import { systemClock as clock } from "../../../src/base/clock.ts";
import { systemIds as ids } from "../../../src/base/ids.ts";
import type { Datasets } from "../../../src/core/evidence/datasets.ts";
import type { Log } from "../../../src/base/log.ts";
import { openDns, openTrust, registrationFrom } from "../../../src/main/checker.ts";
import { type Dns, lookupOf, requireDns } from "./core.ts";
import { freshLists, type ReadFresh } from "./fresh-lists.ts";
import {
  CHECK_OPTIONS,
  type CheckOptions,
  refuseUnknown,
  type Validator,
  validatorOf,
} from "./validator.ts";

export { checkSyntax, dnsOverHttps, readLists } from "./core.ts";
export type { CoreOptions, Dns, DnsOverHttpsOptions, Lists, Syntax } from "./core.ts";
export type { CheckOptions, FeatureName, Reason, Result, Validator } from "./core.ts";
export {
  type RawBody,
  verifySignature,
  verifySignature as verifyWebhook,
} from "../../../src/webhooks/verify.ts";

export interface ValidatorOptions extends CheckOptions {
  /** DNS servers as `ip` or `ip:port`, one or several; the system's resolvers unless given. */
  readonly dnsServers?: string | readonly string[];
  /** Asked in place of DNS servers, such as `dnsOverHttps({ url })`. */
  readonly dns?: Dns;
  /** Names that must exist: while DNS denies all of them, it is not believed. Built in unless given; `[]` switches this off. */
  readonly dnsCanaries?: readonly string[];
  /** Where the registries' address book for `domain_age` is kept between runs; "./data" unless given. */
  readonly dataDir?: string;
  /**
   * Fresh lists: the URL of a file of lists (`/feeds/disposable.lists` of a Gatepost server), or such a file. Those of the
   * package unless given, and while these cannot be read.
   */
  readonly lists?: string;
  /** API key for the server that `lists` names. */
  readonly listsKey?: string;
  /** How often `lists` is read again, in minutes, 1 to 10,080; 60 unless given. */
  readonly listsEveryMinutes?: number;
  /** Is given a sentence when `lists` cannot be read. */
  readonly onWarning?: (text: string) => void;
}

const OPTIONS = {
  ...CHECK_OPTIONS,
  dnsServers: true,
  dns: true,
  dnsCanaries: true,
  dataDir: true,
  lists: true,
  listsKey: true,
  listsEveryMinutes: true,
  onWarning: true,
} as const;

const machine = {
  clock,
  ids,
  openResolver: createResolver,
  openOutbound: createOutbound,
};

const NO_LOG: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Gatepost inside a program of yours, with a DNS client of its own. `bundled`: the lists that come with the package. */
export async function openValidator(
  options: ValidatorOptions,
  bundled: () => PackedDatasets,
): Promise<Validator> {
  refuseUnknown(options, OPTIONS);
  if (options.dns !== undefined) requireDns(options.dns);
  const lists = new LiveLists(options, bundled);
  const network = openNetwork(options);
  const validator = validatorOf({
    ...options,
    lookup: network.lookup,
    datasets: () => lists.datasets,
    clock,
    refreshLists: () => lists.refresh(),
    close() {
      lists.close();
      network.close();
    },
  });
  await lists.start();
  return validator;
}

function openNetwork(options: ValidatorOptions) {
  const { dnsServers = [], dnsCanaries, dataDir = "./data" } = options;
  const config = {
    dnsServers: dnsServers.length === 0 ? undefined : readServers(dnsServers),
    dnsCanaries,
    dataDir,
    rdapBootstrapUrl: "https://data.iana.org/rdap/dns.json",
    outboundAllow: undefined,
  };
  const process = { config, machine, clock, ids, log: NO_LOG };
  const trust = options.dns === undefined ? openTrust(process) : undefined;
  const { dns, addresses } = dnsOf(options, () =>
    openDns(config, "interactive", { machine, trust }),
  );
  const registrations = memoryRegistrationCache();
  return {
    lookup: lookupOf(dns, registrationFrom(process, addresses, { registrations })),
    close() {
      dns.close();
      trust?.close();
    },
  };
}

function dnsOf({ dns }: ValidatorOptions, open: () => DnsLookup) {
  if (dns !== undefined) return { dns, addresses: (host: string) => dns.addresses(host) };
  const own = open();
  return { dns: own, addresses: own.everyAddress };
}

function readServers(servers: string | readonly string[]): ReturnType<typeof parseDnsServers> {
  try {
    return parseDnsServers(typeof servers === "string" ? servers : servers.join(","));
  } catch (cause) {
    throw new TypeError(`dnsServers: ${messageOf(cause)}`, { cause });
  }
}

class LiveLists {
  datasets: Datasets;
  readonly #read: ReadFresh | undefined;
  readonly #everyMs: number;
  readonly #warn: (text: string) => void;
  #cancel: (() => void) | undefined;
  #isClosed = false;

  constructor(options: ValidatorOptions, bundled: () => PackedDatasets) {
    const { lists, listsKey, listsEveryMinutes = 60, onWarning } = options;
    if (!(listsEveryMinutes >= 1 && listsEveryMinutes <= 10_080)) {
      const value = String(listsEveryMinutes);
      throw new RangeError(`listsEveryMinutes: ${value} is not a number from 1 to 10080`);
    }
    this.datasets = attachDatasets(bundled(), noRules);
    this.#read = lists === undefined ? undefined : freshLists(lists, listsKey);
    this.#everyMs = listsEveryMinutes * 60_000;
    this.#warn = onWarning ?? (() => undefined);
  }

  /** Never rejects: those of the package serve until fresh ones can be read. */
  async start(): Promise<void> {
    if (this.#read === undefined) return;
    await this.refresh().catch((error: unknown) => this.#warn(messageOf(error)));
    if (!this.#isClosed) this.#cancel = clock.after(this.#everyMs, () => void this.start());
  }

  async refresh(): Promise<void> {
    const packed = await this.#read?.();
    if (packed !== undefined) this.datasets = attachDatasets(packed, noRules);
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
  }
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
