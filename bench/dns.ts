// Our DNS client compared with dnsperf, on the same names and in the same run: first without delay, then through
// a proxy with a round trip of 20 ms, then with lost datagrams and dead names as well.
// Quote the medians: the runs are interleaved, so that a busy machine slows both.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bareLoop } from "./dns/bare-loop.ts";
import {
  type DnsperfRun,
  median,
  openLookup,
  type OurRun,
  runAgain,
  runCares,
  runDnsperf,
  runMassdns,
  runOurs,
  startProxy,
} from "./dns/measure.ts";
import { hasDnsperf, startNameServer } from "./dns/name-server.ts";
import { dnsperfInput, isDead, nameOf } from "./dns/names.ts";
import { sized } from "./short.ts";

const SERVED = sized(200_000, 5_000);
const ASKED = sized(100_000, 5_000);
const PORT = 15_353;
const ROUNDS = sized(9, 1);
const DELAYED_ROUNDS = sized(3, 1);
const LOSE_EVERY = 100;

interface Round {
  /** Queries a second of a bare `node:dgram` loop; undefined if it did not run. */
  readonly bare: number | undefined;
  readonly ours: OurRun;
  readonly dnsperf: DnsperfRun;
  readonly secondPassSeconds: number;
  /** Live names that are unknown after the second pass. */
  readonly lostNames: number;
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);

interface Setting {
  readonly port: number;
  /** Open queries allowed to dnsperf. */
  readonly outstanding: number;
  /** Over a path that loses datagrams the bare loop would never end. */
  readonly withBare: boolean;
}

async function round(file: string, { port, outstanding, withBare }: Setting): Promise<Round> {
  const dnsperf = await runDnsperf(file, { port, outstanding });
  const lookup = openLookup(port);
  const names = Array.from({ length: ASKED }, (_, index) => nameOf(index));
  const ours = await runOurs(names, lookup);
  const dead = new Set(names.filter((_, index) => isDead(index)));
  const { unknown, seconds } = await runAgain(ours.unknown, lookup);
  lookup.close();
  const lostNames = unknown.filter((name) => !dead.has(name)).length;
  const bare = withBare ? await bareLoop(names, port) : undefined;
  return { ours, dnsperf, bare, secondPassSeconds: seconds, lostNames };
}

function report(title: string, rounds: readonly Round[]): void {
  const of = (figure: (one: Round) => number): number => median(rounds.map(figure));
  const ratio = of(({ ours, dnsperf }) => ours.perSecond / dnsperf.perSecond);
  say(`${title} (median of ${rounds.length} interleaved runs, ${ASKED} names)`);
  say(`  ratio to dnsperf        ${ratio.toFixed(2)}`);
  const bare = of((one) => (one.bare ?? NaN) / one.dnsperf.perSecond);
  if (!Number.isNaN(bare)) say(`  bare node:dgram loop    ${bare.toFixed(2)} of dnsperf`);
  say(`  ours                    ${of(({ ours }) => ours.perSecond).toFixed(0)} a second`);
  say(`  dnsperf                 ${of(({ dnsperf }) => dnsperf.perSecond).toFixed(0)} a second`);
  say(`  time, ours              ${of(({ ours }) => ours.seconds).toFixed(2)} s`);
  say(`  time, our second pass   ${of(({ secondPassSeconds }) => secondPassSeconds).toFixed(2)} s`);
  say(`  time, dnsperf           ${of(({ dnsperf }) => dnsperf.seconds).toFixed(2)} s`);
  say(`  CPU per lookup          ${of(({ ours }) => ours.cpuMicroseconds).toFixed(1)} us`);
  say(`  RSS                     ${of(({ ours }) => ours.rssMegabytes).toFixed(0)} MB`);
  say(`  unknown, first pass     ${of(({ ours }) => ours.unknown.length)}`);
  say(`  live, unknown after 2nd ${of(({ lostNames }) => lostNames)}`);
  say(
    `  retries, recovered      ${of(({ ours }) => ours.stats.retries)}, ${of(({ ours }) => ours.stats.recovered)}`,
  );
  say(`  window                  ${of(({ ours }) => ours.stats.window)}`);
}

async function main(): Promise<void> {
  if (!hasDnsperf()) {
    say("skipped: dnsperf is not installed (Debian: dnsperf)");
    return;
  }
  const directory = mkdtempSync(join(tmpdir(), "gatepost-bench-dns-"));
  const server = await startNameServer(directory, { count: SERVED, port: PORT });
  if (server === undefined)
    say("skipped: neither NSD nor Unbound is installed (Debian: nsd, unbound)");
  else {
    say(`name server: ${server.product}`);
    try {
      await measure(directory, server.port);
    } finally {
      await server.stop();
    }
  }
  rmSync(directory, { recursive: true });
}

/** DNS_PATHS: a part of the titles of the paths to measure, "" for all in some ten minutes; these in three unless given. */
const USUAL = ["no delay", "constant 5 ms", "lognormal 150 ms, sigma 1,"];
const isAsked = (title: string): boolean => {
  const asked = process.env["DNS_PATHS"];
  return asked === undefined ? USUAL.some((one) => title.includes(one)) : title.includes(asked);
};

async function measure(directory: string, port: number): Promise<void> {
  const file = join(directory, "questions");
  writeFileSync(file, dnsperfInput(Array.from({ length: ASKED }, (_, index) => nameOf(index))));
  const near = { port, outstanding: 100, withBare: true };
  if (isAsked("no delay")) {
    await round(file, near); // all warm up
    const rounds: Round[] = [];
    for (let count = 0; count < ROUNDS; count += 1) rounds.push(await round(file, near));
    report("no delay", rounds);
  }
  for (const path of PATHS) await measurePath(directory, path, port);
}

interface BenchPath {
  readonly roundTripMs: number;
  readonly sigma: number;
  readonly isLossy: boolean;
}

const PATHS: readonly BenchPath[] = [
  ...[5, 20, 50, 100, 150, 200, 300].map((roundTripMs) => ({
    roundTripMs,
    sigma: 0,
    isLossy: false,
  })),
  { roundTripMs: 20, sigma: 0, isLossy: true },
  ...[30, 80, 150, 250].flatMap((roundTripMs) =>
    [0.6, 1].map((sigma) => ({ roundTripMs, sigma, isLossy: true })),
  ),
];

/** Names asked on a path: some 5 to 10 s of them. */
const namesOf = ({ roundTripMs }: BenchPath): number =>
  Math.max(sized(20_000, 1_000), Math.min(ASKED, Math.round(6_000_000 / roundTripMs)));

/** c-ares is slow where names are dead: it gets fewer. */
const CARES_NAMES = 5_000;

async function measurePath(
  directory: string,
  path: BenchPath,
  upstreamPort: number,
): Promise<void> {
  const { roundTripMs, sigma, isLossy } = path;
  const title = `${sigma === 0 ? "constant" : "lognormal"} ${String(roundTripMs)} ms${sigma === 0 ? "" : `, sigma ${String(sigma)}`}${isLossy ? ", 2 % dead, 1 % loss each way" : ""}`;
  if (!isAsked(title)) return;
  const names = Array.from({ length: namesOf(path) }, (_, index) => nameOf(index));
  const file = join(directory, "path-questions");
  writeFileSync(file, dnsperfInput(names));
  const loseEvery = isLossy ? LOSE_EVERY : 0;
  const proxy = await startProxy({ upstreamPort, roundTripMs, sigma, loseEvery, hasDead: isLossy });
  const best: number[] = [];
  const ours: number[] = [];
  const cares: number[] = [];
  let lost = 0;
  for (let count = 0; count < DELAYED_ROUNDS; count += 1) {
    const dnsperf = await runDnsperf(file, { port: proxy.port, outstanding: 2_000 });
    const lookup = openLookup(proxy.port);
    const run = await runOurs(names, lookup);
    const again = await runAgain(run.unknown, lookup);
    lookup.close();
    const dead = names.filter((_, index) => isLossy && isDead(index)).length;
    lost += Math.max(0, again.unknown.length - dead);
    best.push(Math.max(dnsperf.perSecond, runMassdns(names, proxy.port) ?? 0));
    ours.push(run.perSecond);
    if (count === 0) cares.push(await runCares(names.slice(0, CARES_NAMES), proxy.port));
  }
  await proxy.stop();
  const ratio = median(ours.map((one, index) => one / (best[index] ?? NaN)));
  say(
    `${title}: ratio ${ratio.toFixed(2)}, ours ${median(ours).toFixed(0)}, best other ${median(best).toFixed(0)}, ` +
      `c-ares ${median(cares).toFixed(0)} a second; ${String(lost)} of ${String(names.length * DELAYED_ROUNDS)} live names unknown`,
  );
}

await main();
