import { strict as assert } from "node:assert";
import { test } from "node:test";
import { keptLog } from "../../test/kept-log.ts";
import { literalDatasets } from "../../test/literal-datasets.ts";
import { mailWorld, type WorldDomain } from "../../test/mail-world.ts";
import { manualClock } from "../../test/manual-clock.ts";
import { zoneLookup } from "../../test/zone-lookup.ts";
import { DAY_MS } from "../core/calendar.ts";
import { parseDomain } from "../core/domain.ts";
import { domainVerdict } from "../core/domain-verdict.ts";
import { findMailHosts } from "../core/mail-hosts.ts";
import type { LearningRound } from "../ports/learning-store.ts";
import {
  createMailServerLearner,
  type LearnedServers,
  STEP_MS,
  STEP_NAMES,
} from "./mail-server-learner.ts";

const { domains, zone } = mailWorld();

/** A learner on the synthetic world whose clock the test turns. */
function openLearner(names: readonly WorldDomain[]) {
  const clock = manualClock();
  const lookup = zoneLookup(zone);
  let kept: LearningRound | undefined;
  let servers: LearnedServers | undefined;
  const make = () =>
    createMailServerLearner({
      names: () => names.map(({ name, listed }) => ({ name, listed })),
      lookup,
      store: {
        read: () => Promise.resolve(kept),
        save: (round) => Promise.resolve(void (kept = structuredClone(round))),
      },
      clock,
      log: keptLog(),
      learned: (found) => (servers = found),
    });
  const step = async (): Promise<void> => {
    clock.advance(STEP_MS);
    for (let turns = 0; turns < 12; turns += 1) await new Promise(setImmediate);
  };
  return { make, step, clock, lookup, servers: () => servers, kept: () => kept };
}

test("a world of 7,500 domains: unlisted names on dedicated servers are caught, nobody else is", async (t) => {
  assert.ok(domains.length >= 5_000);
  const listed = domains.filter((each) => each.listed);
  const world = openLearner(listed);
  const learner = world.make();
  t.after(() => learner.stop());
  const lookup = zoneLookup(zone);
  // Own traffic of before: one in thirty of the honest domains was checked.
  for (const [index, { name, disposable }] of domains.entries()) {
    if (disposable || index % 31 !== 0) continue;
    learner.observe(name, await findMailHosts(name, lookup, false));
  }
  learner.start();
  for (let steps = 0; steps < 1_000 && world.servers() === undefined; steps += 1)
    await world.step();
  const tally = await judged(world.servers() ?? []);
  const recall = tally.caught / (tally.caught + tally.missed);
  const precision = tally.caught / (tally.caught + tally.accused);
  t.diagnostic(JSON.stringify({ ...tally, recall, precision }));
  // What is missed lies on servers with fewer than twenty listed names.
  assert.ok(recall > 0.9, String(recall));
  assert.deepEqual([precision, tally.accused, tally.cleared], [1, 0, 5_000]);
});

/** Verdicts on the names that no list holds; those that lists hold are found without DNS and prove nothing. */
async function judged(servers: LearnedServers) {
  const datasets = literalDatasets({ mailServers: Object.fromEntries(servers) });
  const lookup = zoneLookup(zone);
  const tally = { caught: 0, missed: 0, beyond: 0, accused: 0, cleared: 0 };
  for (const { name, disposable, dedicated } of domains.filter(({ listed }) => !listed)) {
    const parsed = parseDomain(name);
    assert.ok(parsed.ok);
    const mail = await findMailHosts(name, lookup, false);
    const isCalled = domainVerdict(parsed.value, mail, datasets).disposable;
    if (!disposable) tally[isCalled ? "accused" : "cleared"] += 1;
    else if (isCalled) tally.caught += 1;
    else tally[dedicated ? "missed" : "beyond"] += 1;
  }
  return tally;
}

test("names are asked ten a second, and a stopped round goes on where it was", async () => {
  const names = domains.filter(({ listed }) => listed).slice(0, 620);
  const world = openLearner(names);
  const first = world.make();
  first.start();
  await world.step(); // begins the round
  await world.step();
  const asked = (): number => world.lookup.asked.filter((each) => each.startsWith("mx ")).length;
  assert.equal(asked(), STEP_NAMES);
  for (let steps = 0; steps < 54; steps += 1) await world.step();
  await first.stop();
  assert.deepEqual([asked(), world.kept()?.isOver, world.servers()], [550, false, undefined]);
  const second = world.make();
  second.start();
  for (let steps = 0; steps < 40 && world.servers() === undefined; steps += 1) await world.step();
  await second.stop();
  assert.equal(
    asked(),
    550 + (620 - 500),
    "at most what was asked since the last note is asked again",
  );
  assert.equal(world.kept()?.isOver, true);
});

test("a round that is over rests for a day", async () => {
  const world = openLearner(domains.filter(({ listed }) => listed).slice(0, 20));
  const learner = world.make();
  learner.start();
  for (let steps = 0; steps < 6; steps += 1) await world.step();
  const asked = world.lookup.asked.length;
  for (let steps = 0; steps < 5; steps += 1) {
    world.clock.advance(600_000);
    await world.step();
  }
  assert.equal(world.lookup.asked.length, asked);
  world.clock.advance(DAY_MS);
  for (let steps = 0; steps < 5; steps += 1) await world.step();
  await learner.stop();
  assert.ok(world.lookup.asked.length > asked);
});
