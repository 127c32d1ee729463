/**
 * `npm run bench:neighbours [-- word...] [--attackers 1,50] [--rounds 2] [--seconds 5]`: what one caller, or fifty, can
 * take from another. Two real servers with the shipped limits: on one a victim is alone, the other is attacked. Its
 * single checks and its lists of 2,000 are timed on both in turns, so that other load affects both. Attackers are
 * anonymous or have the keys of ordinary plans, and share a line of 1 Gbit/s. Words select attacks by name, "" all of
 * them; without, one of each row is run. Linux only; "slow webhooks" needs root for a network namespace.
 */
import { fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { AttackOrder, AttackReport } from "../test/neighbours/attackers-process.ts";
import { type Attack, ATTACKS } from "../test/neighbours/attacks.ts";
import type { Outside } from "../test/neighbours/outside.ts";
import { slowRegistries } from "../test/neighbours/slow-registries.ts";
import { slowWebhooks } from "../test/neighbours/slow-webhooks.ts";
import { makeNamespace, removeNamespace } from "../test/process/public-namespace.ts";
import { startWatched, type WatchedService } from "../test/neighbours/watched-service.ts";
import type { Watched } from "../test/neighbours/watch.ts";
import { startNameServer } from "../test/dns/numbered-names.ts";
import { type Seen, Victim } from "./neighbours/victim.ts";

const CHECK_FACTOR = 2;
const CHECK_MORE_MS = 20;
const BULK_FACTOR = 3;
const RSS_MAX_MB = 512;
const STALL_MAX_MS = 50;

/** Between two stretches. */
const SETTLE_MS = 1_000;

/** One name in ten, those that end in 7, is never answered. */
const WEATHER = { delayMs: 5, lossShare: 0, deadEvery: 10 };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    attackers: { type: "string", default: "50" },
    rounds: { type: "string", default: "1" },
    seconds: { type: "string", default: "1.5" },
    inside: { type: "boolean", default: false },
  },
});
const stretchMs = Number(values.seconds) * 1_000;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

const together = (parts: readonly Seen[]): Seen => ({
  checksMs: parts.flatMap(({ checksMs }) => checksMs),
  bulksMs: parts.flatMap(({ bulksMs }) => bulksMs),
  failed: parts.flatMap(({ failed }) => failed),
});

interface Measured {
  readonly alone: Seen;
  readonly beside: Seen;
  readonly watchedAlone: Watched;
  readonly watched: Watched;
  readonly answers: AttackReport;
  readonly survived: boolean;
}

const worst = (parts: readonly Watched[]): Watched => ({
  stallMs: Math.max(...parts.map(({ stallMs }) => stallMs)),
  cpuMs: Math.max(...parts.map(({ cpuMs }) => cpuMs)),
  waitedMs: Math.max(...parts.map(({ waitedMs }) => waitedMs)),
  busy: Math.max(...parts.map(({ busy }) => busy)),
  kept: Math.max(...parts.map(({ kept }) => kept)),
  peakRss: Math.max(...parts.map(({ peakRss }) => peakRss)),
});

async function tell(child: ReturnType<typeof fork>, order: AttackOrder): Promise<AttackReport> {
  const answer = once(child, "message");
  child.send(order);
  const [report] = (await answer) as [AttackReport];
  return report;
}

/** By attack what there must be beside the service. */
const OUTSIDES: Readonly<Record<string, () => Promise<Outside>>> = {
  "slow registries": slowRegistries,
  "slow webhooks": slowWebhooks,
};

async function measure(attack: Attack, attackers: number, dns: string): Promise<Measured> {
  const outside = await OUTSIDES[attack.name]?.();
  const quiet = await startWatched({ dns, keys: 0, outside });
  const service = await startWatched({ dns, keys: attackers, outside });
  const child = fork(new URL("../test/neighbours/attackers-process.js", import.meta.url));
  const alone = new Victim(quiet.port, quiet.victimKey, outside);
  const beside = new Victim(service.port, service.victimKey, outside);
  try {
    return await takeTurns({ quiet, service, child, alone, beside }, attack, attackers);
  } finally {
    for (const victim of [alone, beside]) victim.close();
    child.kill();
    await Promise.all([quiet.stop(), service.stop()]);
    outside?.stop();
  }
}

interface Stage {
  /** Nobody attacks it. */
  readonly quiet: WatchedService;
  readonly service: WatchedService;
  readonly child: ReturnType<typeof fork>;
  readonly alone: Victim;
  readonly beside: Victim;
}

async function takeTurns(
  { quiet, service, child, ...victims }: Stage,
  { name }: Attack,
  attackers: number,
): Promise<Measured> {
  const [alone, beside]: [Seen[], Seen[]] = [[], []];
  const [watchedAlone, watched]: [Watched[], Watched[]] = [[], []];
  let answers: AttackReport = [];
  const { port, keys } = service;
  const attacked = async (net: number): Promise<Seen> => {
    await tell(child, { kind: "start", attack: name, attackers, net, port, keys });
    const seen = await victims.beside.live(stretchMs);
    answers = await tell(child, { kind: "stop" });
    return seen;
  };
  // Not counted: Node compiles what checks, lists and this attack run.
  await victims.alone.live(stretchMs);
  await attacked(0);
  for (let round = 1; round <= Number(values.rounds) && service.isRunning(); round += 1) {
    await pause(SETTLE_MS);
    await quiet.watched();
    alone.push(await victims.alone.live(stretchMs));
    watchedAlone.push(await quiet.watched());
    await service.watched();
    beside.push(await attacked(round));
    if (service.isRunning()) watched.push(await service.watched());
  }
  return {
    alone: together(alone),
    beside: together(beside),
    watchedAlone: worst(watchedAlone),
    watched: worst(watched),
    answers,
    survived: service.isRunning(),
  };
}

const HEAD = [
  "attack",
  "x",
  "check p99",
  "beside",
  "bulk",
  "beside",
  "stall",
  "(CPU)",
  "waited",
  "busy",
  "alone",
  "RSS MB",
  "failed",
  "missed",
  "attackers' answers",
];
const WIDTHS = [18, 3, 9, 7, 7, 7, 6, 6, 6, 8, 8, 6, 6, 18, 0];

const row = (cells: readonly string[]): string =>
  cells.map((cell, at) => (at === 0 ? cell.padEnd(18) : cell.padStart(WIDTHS[at] ?? 0))).join(" ");

function report(attack: Attack, attackers: number, measured: Measured): void {
  const { alone, beside, watched, watchedAlone, survived } = measured;
  const check = quantile(alone.checksMs, 0.99);
  const checkBeside = quantile(beside.checksMs, 0.99);
  const bulk = quantile(alone.bulksMs, 0.5);
  const bulkBeside = quantile(beside.bulksMs, 0.5);
  const rssMb = watched.peakRss / 1_048_576;
  const missed = [
    ...(checkBeside <= CHECK_FACTOR * check + CHECK_MORE_MS ? [] : ["check"]),
    ...(bulkBeside <= BULK_FACTOR * bulk ? [] : ["bulk"]),
    ...(rssMb <= RSS_MAX_MB ? [] : ["RSS"]),
    // Wall time includes the disk's syncs and other programs; it is shown beside its value without attack.
    ...(watched.cpuMs <= STALL_MAX_MS ? [] : ["stall"]),
    ...(beside.failed.length === 0 ? [] : ["failed"]),
    ...(survived ? [] : ["DIED"]),
  ];
  if (missed.length > 0) process.exitCode = 1;
  const ms = (value: number): string => value.toFixed(0);
  say(
    row([
      attack.name,
      String(attackers),
      ms(check),
      ms(checkBeside),
      ms(bulk),
      ms(bulkBeside),
      ms(watched.stallMs),
      ms(watched.cpuMs),
      ms(watched.waitedMs),
      `${ms(watched.busy * 100)}+${ms(watched.kept * 100)}%`,
      `${ms(watchedAlone.stallMs)}/${ms(watchedAlone.waitedMs)}`,
      ms(rssMb),
      `${String(beside.failed.length)}/${String(alone.failed.length)}`,
      missed.join(" ") || "-",
      measured.answers.map(([status, count]) => `${String(status)}:${String(count)}`).join(" "),
    ]),
  );
}

// The processes that it started end with it; those that attack end when it goes.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => process.exit(1));
}

/** Receivers of webhooks must have public addresses, so that row runs in a network of its own. */
function reportInside(attackers: number): void {
  const name = `gatepost-bench-${String(process.pid)}`;
  if (!makeNamespace(name)) {
    say("slow webhooks: left out, because it needs permission to create a network namespace");
    return;
  }
  const program = fileURLToPath(import.meta.url);
  const options = ["rounds", "seconds"] as const;
  const given = options.flatMap((option) => [`--${option}`, values[option]]);
  const words = ["slow webhooks", "--inside", "--attackers", String(attackers), ...given];
  const command = ["netns", "exec", name, process.execPath, program, ...words];
  const { status } = spawnSync("ip", command, { stdio: "inherit" });
  removeNamespace(name);
  if (status !== 0) process.exitCode = 1;
}

const isFirstOfRow = ({ row }: Attack, at: number): boolean =>
  ATTACKS.findIndex((other) => other.row === row) === at;
const chosen = ATTACKS.filter((attack, at) =>
  positionals.length === 0
    ? isFirstOfRow(attack, at)
    : positionals.some((word) => attack.name.includes(word)),
);
const dns = await startNameServer(WEATHER);
const run = async (attack: Attack, attackers: number): Promise<void> => {
  if (attack.name === "slow webhooks" && !values.inside) reportInside(attackers);
  else report(attack, attackers, await measure(attack, attackers, dns.address));
};
if (!values.inside) {
  say("Milliseconds; p99 of single checks, median of lists of 2,000.");
  say(row(HEAD));
}
try {
  for (const attack of chosen) {
    for (const attackers of values.attackers.split(",").map(Number)) {
      await run(attack, attackers);
    }
  }
} finally {
  dns.stop();
}
