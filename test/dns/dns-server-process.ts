import { once } from "node:events";
import { type DnsServerOptions, startDnsServer } from "./dns-server.ts";
import type { ServedZone } from "./dns-zone.ts";

interface Order {
  readonly zone: ServedZone;
  readonly options: DnsServerOptions;
}

// Serves until the parent ends it or exits.
process.on("disconnect", () => process.exit());
const [{ zone, options }] = (await once(process, "message")) as [Order];
const { port } = await startDnsServer(zone, options);
process.send?.({ port });
