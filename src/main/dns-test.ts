import type { Clock } from "../base/clock.ts";
import type { Trouble } from "../base/health.ts";
import type { Ids } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import type { DnsLookup } from "../dns/lookup.ts";
import { NS } from "../dns/message/records.ts";
import { encodeQuery } from "../dns/message/wire.ts";
import type { ServerAddress } from "../dns/transport/system-resolvers.ts";
import { TcpPipe } from "../dns/transport/tcp.ts";
import type { Trust } from "../dns/trust/trust.ts";
import type { DnsTest } from "../http/account/route.ts";
import type { Config } from "./settings/config.ts";
import { dnsByTcp, dnsFilters, dnsInvents, dnsSilence } from "./health.ts";
import { type DnsMachine, openDns, openTrust, serversOf, serverText } from "./checker.ts";

/** Names that do not exist: each is asked once, so no cache answers. */
const QUESTIONS = 20;

/** Names that filters keep for such a test: Quad9's, Cloudflare's, and an advertiser's that most household filters hold. */
const FILTER_TESTS = ["isitblocked.org", "malware.testcategory.com", "doubleclick.net"] as const;

/** Below these a single check is slow, or often undecided. */
const SLOW_MS = 400;
const LOST_MAX = 1;

interface ResolverParts {
  readonly config: Pick<Config, "dnsServers">;
  readonly trust: Trust | undefined;
  readonly lookup: Pick<DnsLookup, "addresses" | "stats">;
  readonly clock: Clock;
  readonly ids: Ids;
}

interface MeasuredResolver {
  readonly found: string | Trouble;
  readonly medianMs?: number;
  /** Null: nothing was found, and names that exist were not asked. */
  readonly isTruthful: boolean | null;
}

export async function measureResolver(parts: ResolverParts): Promise<MeasuredResolver> {
  const lie = await parts.trust?.round();
  const answers = await Promise.all(Array.from({ length: QUESTIONS }, () => askInvented(parts)));
  const lost = answers.filter(({ kind }) => kind === "unknown").length;
  if (lost === QUESTIONS) {
    return { found: lie ?? dnsSilence(parts.config), isTruthful: null };
  }
  const times = answers.map(({ ms }) => ms).sort((a, b) => a - b);
  const medianMs = Math.round(times[QUESTIONS / 2] ?? 0);
  const invented = answers.some(({ kind }) => kind === "found") ? dnsInvents : undefined;
  const untrue = lie ?? invented;
  if (untrue !== undefined) return { found: untrue, medianMs, isTruthful: false };
  const isTruthful = parts.trust === undefined ? null : true;
  const tests = await Promise.all(
    FILTER_TESTS.map(async (name) => await parts.lookup.addresses(name)),
  );
  if (tests.some((answer) => answer.kind === "unknown" && answer.why === "filtered")) {
    return { found: dnsFilters(), medianMs, isTruthful };
  }
  if (parts.lookup.stats().tcpAlone > 0) {
    return { found: dnsByTcp(parts.config), medianMs, isTruthful };
  }
  const figures = `${String(QUESTIONS - lost)} of ${String(QUESTIONS)} answers, half of them within ${String(medianMs)} ms.`;
  if (lost <= LOST_MAX && medianMs <= SLOW_MS) {
    return { found: `It tells the truth: ${figures}`, medianMs, isTruthful };
  }
  const says = `It is slow or loses answers: ${figures}`;
  const toDo = "Use a resolver that is nearer, best one on this machine (GATEPOST_DNS_SERVERS).";
  return { found: { says, toDo, isWarning: true }, medianMs, isTruthful };
}

async function askInvented({ lookup, clock, ids }: ResolverParts) {
  const startMs = clock.monotonicMs();
  const { kind } = await lookup.addresses(`${ids.hex32()}.com`);
  return { kind, ms: clock.monotonicMs() - startMs };
}

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

async function testOf(
  server: ServerAddress,
  parts: DnsTestParts,
): Promise<DnsTest["resolvers"][number]> {
  const { machine, clock, log } = parts;
  const config = { ...parts.config, dnsServers: [server] };
  const trust = openTrust({ config, machine, log });
  const lookup = openDns(config, "interactive", { machine });
  try {
    const [{ medianMs, found, isTruthful }, tcp] = await Promise.all([
      measureResolver({ config, trust, lookup, clock, ids: machine.ids }),
      answersByTcp(server, clock),
    ]);
    const isSilent = medianMs === undefined;
    const says = typeof found === "string" ? "" : `${found.says} ${found.toDo}`;
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

function answersByTcp(server: ServerAddress, clock: Clock): Promise<boolean> {
  const tcp = new TcpPipe(server, clock);
  const packet = encodeQuery({ name: "", kind: NS }, { edns: false }) ?? new Uint8Array();
  return new Promise<boolean>((resolve) =>
    tcp.ask({ packet }, 2_000, (outcome) => resolve(typeof outcome !== "string")),
  ).finally(() => tcp.close());
}
