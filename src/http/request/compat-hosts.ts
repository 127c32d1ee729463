import { hostName } from "./allowed-hosts.ts";
import type { Target } from "./target.ts";

/** GATEPOST_COMPAT_HOSTS: host name, lower case and without a port -> the service whose shape it serves. */
export type CompatHosts = ReadonlyMap<string, string>;

/** Reads "kickbox.mail.example=kickbox, ..."; throws an Error with a sentence. */
export function readCompatHosts(text: string, services: readonly string[]): CompatHosts {
  const hosts = new Map<string, string>();
  for (const pair of text.split(",").map((piece) => piece.trim())) {
    if (pair === "") continue;
    const [host = "", service, ...more] = pair
      .toLowerCase()
      .split("=")
      .map((part) => part.trim());
    if (service === undefined || more.length > 0 || !HOST.test(host)) {
      throw new Error(`"${pair}" is not HOST=SERVICE, such as kickbox.mail.example=kickbox`);
    }
    if (!services.includes(service)) {
      throw new Error(`"${service}" is not one of ${services.join(", ")}`);
    }
    if (hosts.has(host)) throw new Error(`"${host}" is named twice`);
    hosts.set(host, service);
  }
  return hosts;
}

/** A host name or an IPv4 address. */
const HOST =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/;

/** The target below `/compat/{service}` where the request's Host serves a shape at its root. */
export function atCompatHost(target: Target, host: string | undefined, hosts: CompatHosts): Target {
  if (hosts.size === 0 || target.path.startsWith("/compat/")) return target;
  const service = hosts.get(hostName(host ?? ""));
  return service === undefined ? target : { ...target, path: `/compat/${service}${target.path}` };
}
