import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { NS } from "../dns/message/records.ts";
import { encodeQuery } from "../dns/message/wire.ts";
import type { ServerAddress } from "../dns/transport/system-resolvers.ts";
import { TcpPipe } from "../dns/transport/tcp.ts";
import type { DnsTest } from "../http/account/shapes.ts";
import { measureResolver } from "./doctor/network.ts";
import type { Config } from "./settings/config.ts";
import { type DnsMachine, openDns, openTrust, serversOf, serverText } from "./checker.ts";

type Tested = DnsTest["resolvers"][number];

interface DnsTestParts {
  readonly config: Pick<Config, "dnsServers" | "dnsCanaries">;
  readonly machine: DnsMachine;
  readonly clock: Clock;
  readonly log: Log;
}

/** Asks each resolver now. Those who ask meanwhile get the same answer. */
export function createDnsTest(parts: DnsTestParts): () => Promise<DnsTest> {
  let running: Promise<DnsTest> | undefined;
  return () =>
    (running ??= Promise.all(serversOf(parts.config).map((server) => testOf(server, parts)))
      .then((resolvers) => ({ resolvers }))
      .finally(() => (running = undefined)));
}

async function testOf(server: ServerAddress, parts: DnsTestParts): Promise<Tested> {
  const { machine, clock, log } = parts;
  const { ids } = machine;
  const config = { ...parts.config, dnsServers: [server] };
  const trust = openTrust({ config, machine, log });
  const lookup = openDns(config, "interactive", { machine });
  try {
    const [found, tcp] = await Promise.all([
      measureResolver({ trust, lookup, clock, ids }),
      answersByTcp(server, clock),
    ]);
    const { medianMs, finding, isTruthful } = found;
    const isSilent = medianMs === undefined;
    const says = finding.state === "ok" ? "" : `${finding.says} ${finding.toDo ?? ""}`;
    return {
      server: serverText(server),
      median_ms: medianMs ?? null,
      tcp: isSilent ? null : tcp,
      truthful: isSilent ? null : isTruthful,
      says: says === "" && !tcp ? NO_TCP : says,
    };
  } finally {
    lookup.close();
    trust?.close();
  }
}

const NO_TCP = "It does not answer over TCP, which long answers need.";
const TCP_TIMEOUT_MS = 2_000;

function answersByTcp(server: ServerAddress, clock: Clock): Promise<boolean> {
  const tcp = new TcpPipe(server, clock);
  const packet = encodeQuery({ name: "", kind: NS }, { edns: false }) ?? new Uint8Array();
  return new Promise<boolean>((resolve) =>
    tcp.ask({ packet }, TCP_TIMEOUT_MS, (outcome) => resolve(typeof outcome !== "string")),
  ).finally(() => tcp.close());
}
