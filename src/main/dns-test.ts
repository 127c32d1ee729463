import { connect } from "node:net";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { ServerAddress } from "../dns/transport/system-resolvers.ts";
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
      answersByTcp(server),
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

/** A question for the name servers of the root (RFC 1035, 4.2.2): two octets of length, then the message. */
const QUESTION = Buffer.from(
  "0011 4750 0100 0001 0000 0000 0000 00 0002 0001".replaceAll(" ", ""),
  "hex",
);

function answersByTcp({ host, port }: ServerAddress): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (isAnswered: boolean): void => {
      socket.destroy();
      resolve(isAnswered);
    };
    let received = Buffer.alloc(0);
    socket.setTimeout(TCP_TIMEOUT_MS, () => end(false));
    socket.on("error", () => end(false)).on("end", () => end(false));
    socket.on("connect", () => socket.write(QUESTION));
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (received.length >= 6) end(received.readUInt16BE(2) === QUESTION.readUInt16BE(2));
    });
  });
}
