import { sqlAccounts } from "../../accounts/accounts-store.ts";
import type { AppSettings } from "../../http/app/app.ts";
import type { CompatDeps } from "../../http/compat/compat-route.ts";
import { createHostCheck, type HostCheck } from "../../http/request/allowed-hosts.ts";
import { createUnitsLeft } from "../../accounts/admission/units-left.ts";
import type { CheckOne } from "../../check/check-one.ts";
import type { Serving } from "../parts/serving.ts";
import type { Links } from "../settings/links.ts";
import { DEFAULT_LIMITS, type ListenTerms } from "../../http/server.ts";

const ACCESS_LOG_LINES_PER_SECOND = 100;

type Parts = Pick<Serving, "config" | "shares"> & { readonly links: Links };

export const hostCheckOf = ({ config, links }: Omit<Parts, "shares">): HostCheck =>
  createHostCheck({
    allowed: config.allowedHosts,
    publicUrl: links.base,
    hasPublicUrl: config.publicUrl !== undefined,
    listensOn: config.host,
  });

export const listenTerms = ({ shares, config }: Omit<Parts, "links">): ListenTerms => ({
  limits: DEFAULT_LIMITS,
  share: shares.of("connections"),
  trustedProxies: config.trustProxy ?? [],
});

export function settingsOf({ config, links }: Omit<Parts, "shares">): AppSettings {
  return {
    publicUrl: links.base,
    isHostAllowed: hostCheckOf({ config, links }),
    trustedProxies: config.trustProxy ?? [],
    accessLogLinesPerSecond: ACCESS_LOG_LINES_PER_SECOND,
    ...(config.compatHosts === undefined ? {} : { compatHosts: config.compatHosts }),
    ...(config.metricsToken === undefined ? {} : { metricsToken: config.metricsToken }),
  };
}

type CompatParts = Pick<Serving, "backing" | "config" | "clock" | "tiers"> &
  Pick<CompatDeps, "admission">;

/** What other services' shapes are answered with. */
export function compatDepsOf(
  { backing, config, clock, tiers, admission }: CompatParts,
  checkOne: CheckOne,
): CompatDeps {
  const accounts = sqlAccounts(backing.store.sql.db);
  const unitsLeft = createUnitsLeft({ usage: backing.ledgers.usage, accounts, clock, tiers });
  return { checkOne, unitsLeft, admission, clock, isOptimistic: config.compatOptimistic };
}
