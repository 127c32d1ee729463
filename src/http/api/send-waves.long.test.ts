import assert from "node:assert/strict";
import { test } from "node:test";
import { counted, sender } from "../../../test/policy/sender.ts";
import { DAY_MS } from "../../core/calendar.ts";

const HOUR_MS = 3_600_000;

/** `count` messages to strangers, with this long between them. */
async function strangers(
  { clock, said }: Awaited<ReturnType<typeof sender>>,
  { count, betweenMs, name = "p" }: { count: number; betweenMs: number; name?: string },
): Promise<readonly string[]> {
  const all: string[] = [];
  for (let at = 0; at < count; at += 1) {
    all.push(await said(`${name}${String(at)}@firm.example`));
    clock.advance(betweenMs);
  }
  return all;
}

test("a form against 200 strangers in an hour after a quiet fortnight: challenge from the 31st on", async (t) => {
  const world = await sender(t);
  for (let day = 0; day < 14; day += 1) {
    await strangers(world, { count: 3, betweenMs: HOUR_MS, name: `d${String(day)}x` });
    world.clock.advance(DAY_MS - 3 * HOUR_MS);
  }
  const all = await strangers(world, { count: 200, betweenMs: 17_000 });
  assert.deepEqual(counted(all.slice(0, 30)), { "accept ok": 30 });
  assert.deepEqual(counted(all.slice(30)), { "challenge wave": 170 });
  assert.equal(await world.said("d0x0@firm.example"), "accept ok", "known before");
  const waves = () => world.world.store.sql.db.selectFrom("waves").selectAll().execute();
  assert.deepEqual(
    (await waves()).map(({ messages, usual }) => [Number(messages), Number(usual)]),
    [[30, 0]],
  );
  await world.world.waves.look();
  world.clock.advance(2 * HOUR_MS);
  await world.world.waves.look();
  await world.world.waves.look();
  assert.deepEqual(await waves(), []);
  const events = world.world.log.events.filter((event) => event === "gate.wave");
  assert.equal(events.length, 2, "one begin, one end");
});

test("a newsletter's launch of 500 real people: challenged, none refused", async (t) => {
  const world = await sender(t);
  const all = await strangers(world, { count: 500, betweenMs: 5_000 });
  assert.deepEqual(counted(all), { "accept ok": 30, "challenge wave": 470 });
});

test("a quiet month: no wave, nobody held", async (t) => {
  const world = await sender(t);
  const all: string[] = [];
  for (let day = 0; day < 30; day += 1) {
    all.push(
      ...(await strangers(world, { count: 8, betweenMs: 3 * HOUR_MS, name: `d${String(day)}x` })),
    );
  }
  assert.deepEqual(counted(all), { "accept ok": 240 });
  assert.ok(!world.world.log.events.includes("gate.wave"));
});
