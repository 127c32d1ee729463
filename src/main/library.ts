import { memoryRegistrationCache } from "../adapters/memory/registration-cache.ts";
import type { FullResult } from "../core/validate/result.ts";
import type { Log } from "../ports/process/log.ts";
import { openChecker } from "./parts/checker.ts";
import { systemMachine } from "./process/machine.ts";
import { readConfig } from "./settings/config.ts";
import { readWanted, sortFeatures } from "../service/check/features.ts";

export type { FullResult } from "../core/validate/result.ts";
export { verifySignature } from "../service/webhooks/verify.ts";

export interface ValidatorOptions {
  /** DNS servers as `ip` or `ip:port`; the system's resolvers unless given. */
  readonly dnsServers?: readonly string[];
  /** Count an address record alone as a mail server (RFC 5321 section 5.1). */
  readonly implicitMx?: boolean;
  /** Where the registries' address book is kept between runs; "./data" unless given. */
  readonly dataDir?: string;
}

export interface Validator {
  /**
   * Checks an address (it holds an "@") or a domain; never rejects because of what the text or DNS says.
   * `features` names premium checks ("spf", "dkim"), or is ["all"].
   */
  validate(entry: string, features?: readonly string[]): Promise<FullResult>;
  /** Leaves no socket and no timer, so that the process may end. */
  close(): Promise<void>;
}

/** Gatepost inside a program of yours: no server, no database, no limits except DNS. */
export function createValidator(options: ValidatorOptions = {}): Promise<Validator> {
  const { dnsServers = [], implicitMx = false, dataDir = "" } = options;
  const config = readConfig({
    GATEPOST_DNS_SERVERS: dnsServers.join(","),
    GATEPOST_IMPLICIT_MX: String(implicitMx),
    GATEPOST_DATA_DIR: dataDir,
  });
  const { clock, ids } = systemMachine;
  const process = { config, machine: systemMachine, clock, ids, log: NO_LOG };
  const checker = openChecker(process, { registrations: memoryRegistrationCache() });
  return Promise.resolve({
    async validate(entry, features = []) {
      const asked = readWanted(features);
      const { permitted } = sortFeatures(asked, { premium: true });
      const spamTrap = permitted.length > 0;
      const checked = await checker.check(entry, "either", { features: permitted, spamTrap });
      return checked.result;
    },
    close: () => Promise.resolve(checker.close()),
  });
}

const NO_LOG: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };
