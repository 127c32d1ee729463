import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createDnsLookup } from "../../src/dns/lookup.ts";
import { createResolver } from "../../src/dns/resolver.ts";
import { SharedCap } from "../../src/dns/flow/window.ts";
import { systemClock } from "../../src/base/clock.ts";
import { ZONE, zoneFile } from "./names.ts";

export interface NameServer {
  readonly product: string;
  readonly port: number;
  stop(): Promise<void>;
}

const NSD = "/usr/sbin/nsd";
const UNBOUND = "/usr/sbin/unbound";
const START_MAX_MS = 60_000;

/** Starts NSD, or Unbound, with `count` names in `directory`; undefined if neither is installed. */
export async function startNameServer(
  directory: string,
  { count, port }: { readonly count: number; readonly port: number },
): Promise<NameServer | undefined> {
  const command = existsSync(NSD) ? nsd(directory, port) : unbound(directory, port);
  if (command === undefined) return undefined;
  writeFileSync(join(directory, "zone"), zoneFile(count));
  const [program, ...args] = command;
  const child = spawn(program, args, { stdio: "ignore" });
  await untilItAnswers(port, child);
  return { product: program, port, stop: () => stopped(child) };
}

type Command = readonly [program: string, ...args: string[]];

function nsd(directory: string, port: number): Command {
  const config = join(directory, "nsd.conf");
  const server = [
    `ip-address: 127.0.0.1`,
    `port: ${port}`,
    `username: ""`,
    `database: ""`,
    `zonelistfile: "${join(directory, "zone.list")}"`,
    `xfrdfile: "${join(directory, "xfrd.state")}"`,
    `xfrdir: "${directory}"`,
    `pidfile: ""`,
    `zonesdir: "${directory}"`,
    `server-count: 1`,
    `rrl-ratelimit: 0`,
  ];
  const zone = [`name: ${ZONE}`, `zonefile: zone`];
  const remote = ["control-enable: no"];
  writeFileSync(
    config,
    [...block("server", server), ...block("remote-control", remote), ...block("zone", zone)].join(
      "\n",
    ),
  );
  return [NSD, "-d", "-c", config];
}

function unbound(directory: string, port: number): Command | undefined {
  if (!existsSync(UNBOUND)) return undefined;
  const config = join(directory, "unbound.conf");
  const server = [
    `interface: 127.0.0.1@${port}`,
    `chroot: ""`,
    `username: ""`,
    `directory: "${directory}"`,
    `pidfile: ""`,
    `use-syslog: no`,
    `num-threads: 1`,
    `do-not-query-localhost: no`,
  ];
  const zone = [`name: ${ZONE}`, `zonefile: zone`, `for-downstream: yes`, `for-upstream: no`];
  writeFileSync(config, [...block("server", server), ...block("auth-zone", zone)].join("\n"));
  return [UNBOUND, "-d", "-c", config];
}

const block = (name: string, lines: readonly string[]): readonly string[] => [
  `${name}:`,
  ...lines.map((line) => `  ${line}`),
  "",
];

async function untilItAnswers(port: number, child: ChildProcess): Promise<void> {
  const clock = systemClock;
  const giveUpMs = clock.monotonicMs() + START_MAX_MS;
  while (clock.monotonicMs() < giveUpMs && child.exitCode === null) {
    const servers = [{ host: "127.0.0.1", port }];
    const options = { servers, clock, random: randomBytes, cap: new SharedCap(10) } as const;
    const lookup = createDnsLookup(createResolver({ ...options, profile: "interactive" }), {
      clock,
    });
    const isUp = await lookup.probe();
    lookup.close();
    if (isUp) return;
    await sleep(100);
  }
  child.kill();
  throw new Error("the name server does not answer");
}

function stopped(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill();
  });
}

export const hasDnsperf = (): boolean => spawnSync("dnsperf", ["-h"]).error === undefined;
