import { join } from "node:path";
import type { Validation } from "../../core/validate/validate.ts";
import type { DnsLookup } from "../../dns/lookup.ts";
import type { Trust } from "../../dns/trust/trust.ts";
import { createBootstrapCopy } from "../../check/rdap/bootstrap-copy.ts";
import { createRegistration } from "../../check/rdap/registration.ts";
import type { Datasets } from "../../core/evidence/datasets.ts";
import type { Lookup } from "../../core/mail/lookup.ts";
import type { RegistrationCache } from "../../check/registration-cache.ts";
import {
  type BudgetedCheck,
  createBudgetedCheck,
  createSingleCheck,
  type SingleCheck,
} from "../../check/single-check.ts";
import type { Process } from "../process/open-process.ts";
import { createShares, ONE_OWNER, type Shares } from "../../base/shares.ts";
import type { Config } from "../settings/config.ts";
import { openDns, openTrust } from "./dns.ts";
import { rdapFolder } from "./tidy-up.ts";

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
