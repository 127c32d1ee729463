import { setTimeout as pause } from "node:timers/promises";
import { testWith } from "../process/require-tool.ts";
import { missingServices } from "../scaled/scaled-world.ts";
import { oneRound, type People } from "./rounds.ts";
import { killOne, ROUNDS, spareAll, survive } from "./survive.ts";

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
  `a PostgreSQL killed ${String(ROUNDS / 2)} times beside servers and workers costs only answers`,
  async (t) => t.diagnostic(await survive("postgresql", ROUNDS / 2, killDatabase)),
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
