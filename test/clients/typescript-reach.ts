// Sign-ups through the TypeScript client while the service is killed, slow and lying: WORLD_FILE COUNT. Prints "half",
// then JSON.
import { readFileSync, writeSync } from "node:fs";
import {
  createGatepost,
  type Decision,
  type Gatepost,
} from "../../clients/typescript/src/index.ts";
import { givenTime } from "../time/given-time.ts";
import type { ClientWorld } from "./client-world.ts";
import type { Reach } from "./reach.ts";

const DEADLINE_MS = 250;
const LATE_MS = DEADLINE_MS + 50;
const AT_ONCE = 8;
/** Of 20 sign-ups, 16 go to the service, two to a silent one and two to one that lies. */
const TURNS = 20;
const SILENT = ["hang", "slow"];
const SILENT_TOO = [
  "drip",
  "endless_body",
  "endless_head",
  "endless_interim",
  "endless_trailers",
  "silent_connection",
];

const say = (value: unknown): void => void writeSync(1, `${JSON.stringify(value)}\n`);

function urlsOf({ service, faults }: ClientWorld): (at: number) => string {
  const lies = Object.keys(faults).filter((name) => ![...SILENT, ...SILENT_TOO].includes(name));
  return (at) => {
    const turn = at % TURNS;
    if (turn < TURNS - 4) return service;
    const round = Math.floor(at / TURNS);
    const name = turn < TURNS - 2 ? SILENT[turn % 2] : lies[(round * 2 + (turn % 2)) % lies.length];
    return faults[name ?? ""] ?? "";
  };
}

async function reach(world: ClientWorld, count: number): Promise<void> {
  const made = new Map<string, Gatepost>();
  const urlAt = urlsOf(world);
  const clientAt = (at: number): Gatepost => {
    const url = urlAt(at);
    const client =
      made.get(url) ?? createGatepost({ url, key: world.key, deadlineMs: DEADLINE_MS });
    made.set(url, client);
    return client;
  };
  const tally = { answered: 0, blocked_wrongly: 0, let_in_wrongly: 0, late: 0, worst_ms: 0 };
  const sources: Record<string, number> = {};
  const add = (decision: Decision, isListed: boolean, ms: number): void => {
    tally.answered += 1;
    sources[decision.source] = (sources[decision.source] ?? 0) + 1;
    const isBlocked = decision.decision === "reject" || decision.decision === "challenge";
    if (isBlocked && !isListed) tally.blocked_wrongly += 1;
    if (isListed && !isBlocked && decision.source === "service") tally.let_in_wrongly += 1;
    if (ms > LATE_MS) tally.late += 1;
    tally.worst_ms = Math.max(tally.worst_ms, ms);
  };
  // A machine that does not let this process run makes no answer late.
  const { nowMs } = givenTime();
  let started = 0;
  const work = async (): Promise<void> => {
    while (started < count) {
      const at = started;
      started += 1;
      if (started === Math.floor(count / 2)) say("half");
      const isListed = at % 3 === 0;
      const email = `jo${String(at)}@${isListed ? "mailinator.com" : "good.example"}`;
      const client = clientAt(at);
      const began = nowMs();
      add(await client.decide(email), isListed, nowMs() - began);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  say({ count, ...tally, sources } satisfies Reach);
}

const [worldFile = "", count] = process.argv.slice(2);
const world = JSON.parse(readFileSync(worldFile, "utf8")) as ClientWorld;
await reach(world, Number(count));
process.exit(); // connections to silent services are still open
