import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { hasTool, testWith } from "../process/require-tool.ts";
import { missingServices } from "../scaled/scaled-world.ts";
import { type Ground, openGround } from "./ground.ts";
import { anyKill, earlyKill } from "./places.ts";
import { cutPower } from "./power-cut.ts";
import { oneRound, People, revive } from "./rounds.ts";

/** KILL_ROUNDS=500 by hand. */
const ROUNDS = Number(process.env["KILL_ROUNDS"] ?? 12);
const SEED = Number(process.env["KILL_SEED"] ?? Date.now() % 1_000_000);

function spareAll({ places }: Ground): void {
  for (const place of places) place.strike = { kind: "none" };
}

/** Lets people use the service, strikes it in every round, and checks what they were promised after each. */
async function survive(
  kind: Ground["kind"],
  rounds: number,
  strike: (people: People) => Promise<void>,
): Promise<string> {
  const ground = await openGround(kind);
  try {
    const people = await People.open(ground, SEED);
    const { front, written } = people;
    await revive(ground.places);
    await written.signIn();
    for (let round = 0; round < rounds && front.wrong.length === 0; round += 1) {
      await strike(people);
      front.storeFails = false;
      // A bulk thread takes its order when it starts: at rest nobody dies.
      if (round === rounds - 1) spareAll(ground);
      await revive(ground.places);
      await people.check();
    }
    if (front.wrong.length === 0) await people.rest();
    const lines = ground.places.map(({ command, lastLines }) => `${command}: ${lastLines}`);
    assert.deepEqual(front.wrong, [], `KILL_SEED=${String(SEED)}\n${lines.join("\n")}`);
    // A webhook has one attempt: one that is under way at a strike may be lost, and no other. A disk refuses up to 40
    // writes in a row, so more than one attempt may fall among them.
    const lostMax = strike === failDisk ? 4 * rounds : rounds;
    assert.ok(people.untold() <= lostMax, `${String(people.untold())} webhooks are lost`);
    for (const place of ground.places) assert.equal(await place.stop("SIGTERM"), 0);
    assert.ok(strike !== killOne || hasFallen(ground), "nobody died at a statement");
    return people.summary();
  } finally {
    await ground.close();
  }
}

const hasFallen = ({ places }: Ground): boolean => places.some(({ fell }) => fell > 0);

/** One process dies, the first at a statement. A machine that fails takes what was not synced with it. */
async function killOne(people: People): Promise<void> {
  const { ground, chance } = people.front;
  spareAll(ground);
  chance.pick(ground.places).strike = hasFallen(ground)
    ? anyKill(chance, ground.kind === "sqlite")
    : earlyKill(chance);
  const died = await oneRound(people);
  const hasFailed = ground.kind === "sqlite" && died > 0 && chance.isTrue(0.5);
  if (hasFailed) cutPower(ground.dataDir, chance);
  people.died(died, !hasFailed);
}

test(`a server killed ${String(ROUNDS)} times, with its machine or alone, keeps its promises`, async (t) => {
  t.diagnostic(await survive("sqlite", ROUNDS, killOne));
});

testWith(
  ["postgresql"],
  missingServices(),
  `servers and workers on PostgreSQL killed ${String(ROUNDS)} times keep their promises`,
  async (t) => t.diagnostic(await survive("postgresql", ROUNDS, killOne)),
);

/** How long people go on after PostgreSQL is back. */
const BACK_MS = 700;

/** PostgreSQL dies, and servers and workers go on. */
async function killDatabase(people: People): Promise<void> {
  const { front } = people;
  const { ground, chance } = front;
  front.storeFails = true;
  spareAll(ground);
  await oneRound(people, async () => {
    await pause(chance.between(50, 700));
    await ground.killDatabase();
    await pause(BACK_MS);
  });
}

testWith(
  ["postgresql"],
  missingServices(),
  `a PostgreSQL killed ${String(ROUNDS)} times beside servers and workers costs only answers`,
  async (t) => t.diagnostic(await survive("postgresql", ROUNDS, killDatabase)),
);

/** Of one freeze; up to 20 s by hand. */
const FREEZE_MS = { least: 3_000, most: ROUNDS > 20 ? 20_000 : 6_000 };

/** A server or worker stands still, and PostgreSQL goes on. */
async function freezeOne(people: People): Promise<void> {
  const { front } = people;
  const { ground, chance } = front;
  // PostgreSQL ends the transaction of a process that stands still.
  front.storeFails = true;
  spareAll(ground);
  const forMs = chance.between(FREEZE_MS.least, FREEZE_MS.most);
  chance.pick(ground.places).strike = { kind: "freeze", afterMs: chance.between(0, 600), forMs };
  await oneRound(people);
}

testWith(
  ["postgresql"],
  missingServices(),
  "servers and workers that stand still lose nothing and call no live name dead",
  async (t) => t.diagnostic(await survive("postgresql", Math.ceil(ROUNDS / 6), freezeOne)),
);

const DISK_FAULTS = ["pwrite64:error=ENOSPC", "pwrite64:error=EIO", "fdatasync:error=EIO"];

/** The disk of a server refuses some of its writes or syncs, from inside of a commit on. */
async function failDisk(people: People): Promise<void> {
  const { front } = people;
  const { places } = front.ground;
  const fault = front.chance.pick(DISK_FAULTS);
  const first = 60 + front.chance.below(150);
  const last = first + front.chance.below(40);
  const inject = `inject=${fault}:when=${String(first)}..${String(last)}`;
  await Promise.all(places.map((place) => place.stop("SIGTERM")));
  const strace = ["strace", "-D", "-f", "-qq", "--seccomp-bpf", "-o", "/dev/null"];
  await revive(places, [...strace, "-e", "trace=pwrite64,fdatasync", "-e", inject]);
  front.storeFails = true;
  for (const place of places) place.strike = { kind: "moment", afterMs: 2_000 };
  people.died(await oneRound(people), false);
}

testWith(
  ["strace"],
  hasTool("strace") ? [] : ["strace"],
  "a server whose disk fails writes and syncs in the middle of commits keeps its promises",
  async (t) => t.diagnostic(await survive("sqlite", Math.ceil(ROUNDS / 4), failDisk)),
);
