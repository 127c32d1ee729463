import type { AppSettings } from "../../http/app/app.ts";
import { createHostCheck, type HostCheck } from "../../http/request/allowed-hosts.ts";
import type { Serving } from "../parts/serving.ts";
import type { Links } from "../settings/links.ts";
import type { ConnectionTerms } from "./connections.ts";

const ACCESS_LOG_LINES_PER_SECOND = 100;

type Parts = Pick<Serving, "config" | "shares"> & { readonly links: Links };

export const hostCheckOf = ({ config, links }: Omit<Parts, "shares">): HostCheck =>
  createHostCheck({
    allowed: config.allowedHosts,
    publicUrl: links.base,
    listensOn: config.host,
  });

export const connectionTerms = ({ shares, config }: Omit<Parts, "links">): ConnectionTerms => ({
  share: shares.of("connections"),
  trustedProxies: config.trustProxy ?? [],
});

export function settingsOf({ config, links }: Omit<Parts, "shares">): AppSettings {
  return {
    publicUrl: links.base,
    isHostAllowed: hostCheckOf({ config, links }),
    trustedProxies: config.trustProxy ?? [],
    logAddresses: config.logAddresses,
    accessLogLinesPerSecond: ACCESS_LOG_LINES_PER_SECOND,
    ...(config.metricsToken === undefined ? {} : { metricsToken: config.metricsToken }),
  };
}
