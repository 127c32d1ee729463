import assert from "node:assert/strict";
import { type Ground, openGround } from "./ground.ts";
import { anyKill, earlyKill, type Place } from "./places.ts";
import { cutPower } from "./power-cut.ts";
import { until } from "../time/until.ts";
import { oneRound, People, revive } from "./rounds.ts";

/** KILL_ROUNDS=500 by hand. */
export const ROUNDS = Number(process.env["KILL_ROUNDS"] ?? 8);
const SEED = Number(process.env["KILL_SEED"] ?? Date.now() % 1_000_000);

export function spareAll({ places }: Ground): void {
  for (const place of places) place.strike = { kind: "none" };
}

/** Lets people use the service, strikes it in every round, and checks what they were promised after each. */
export async function survive(
  kind: Ground["kind"],
  rounds: number,
  strike: (people: People) => Promise<void>,
  lostMax = rounds,
): Promise<string> {
  const ground = await openGround(kind);
  try {
    const people = await People.open(ground, SEED);
    const { front, written } = people;
    await revive(ground.places);
    await written.signIn();
    for (let round = 0; round < rounds && front.wrong.length === 0; round += 1) {
      await strike(people);
      if (front.storeFails) await databaseIsBack(ground);
      front.storeFails = false;
      // A bulk thread takes its order when it starts: at rest nobody dies.
      if (round === rounds - 1) spareAll(ground);
      await revive(ground.places);
      await people.check();
    }
    const logs = (): string => `KILL_SEED=${String(SEED)}\n${ground.places.map(logOf).join("\n")}`;
    if (front.wrong.length === 0) {
      await people.rest().catch((error: unknown) => {
        throw new Error(`${String(error)}\n${logs()}`);
      });
    }
    assert.deepEqual(front.wrong, [], logs());
    // A webhook has one attempt: one that is under way at a strike may be lost, and no other.
    assert.ok(people.untold() <= lostMax, `${String(people.untold())} webhooks are lost`);
    for (const place of ground.places) assert.equal(await place.stop("SIGTERM"), 0);
    assert.ok(strike !== killOne || hasFallen(ground), "nobody died at a statement");
    return people.summary();
  } finally {
    await ground.close();
  }
}

/** A server on a busy machine finds its sessions some seconds after PostgreSQL is there. */
async function databaseIsBack({ places }: Ground): Promise<void> {
  for (const { running } of places.filter(({ command }) => command === "serve")) {
    if (running === undefined) continue;
    await until(async () => !/database/.test(await (await fetch(`${running.url}/readyz`)).text()));
  }
}

const logOf = ({ command, running, lastLines }: Place): string =>
  `${command}: ${lastLines}\n${running?.log() ?? "is not there"}`;

const hasFallen = ({ places }: Ground): boolean => places.some(({ fell }) => fell > 0);

/** One process dies, the first at a statement. A machine that fails takes what was not synced with it. */
export async function killOne(people: People): Promise<void> {
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
