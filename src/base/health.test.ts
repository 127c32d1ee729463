import assert from "node:assert/strict";
import { test } from "node:test";
import { recordingLog } from "../../test/http/http-app.ts";
import { manualClock } from "../../test/time/manual-clock.ts";
import {
  askedRarely,
  Health,
  type HealthPart,
  recently,
  type Trouble,
  type Watched,
} from "./health.ts";

const SILENT: Trouble = { says: "It is silent.", toDo: "Start it." };
const OLD: Trouble = { says: "It is old.", toDo: "Fetch it." };

function open(parts: Readonly<Partial<Record<HealthPart, Watched>>>) {
  const clock = manualClock();
  const log = recordingLog();
  const entries = Object.entries(parts) as [HealthPart, Watched][];
  return { clock, log, health: new Health({ clock, log, parts: new Map(entries) }) };
}

const failing = async (health: Health): Promise<readonly HealthPart[]> =>
  (await health.now()).filter(({ stops }) => stops).map(({ part }) => part);

const looks: readonly (readonly [
  what: string,
  look: Watched["look"],
  says: string[],
  stops: string[],
])[] = [
  ["is well", () => Promise.resolve(undefined), [], []],
  ["says that it is broken", () => Promise.resolve(SILENT), ["It is silent."], ["database"]],
  ["fails", () => Promise.reject(new Error("down")), ["It is silent."], ["database"]],
  ["is in doubt", () => Promise.resolve({ ...OLD, isWarning: true }), ["It is old."], []],
];

for (const [what, look, says, stops] of looks) {
  test(`health of a needed part that ${what}`, async () => {
    const { health } = open({ database: { look, silence: SILENT } });
    assert.deepEqual(
      (await health.now()).map((each) => each.says),
      says,
    );
    assert.deepEqual(await failing(health), stops);
  });
}

test("one cause is one line: what follows from a part that stops the service is not told", async () => {
  let isAway = true;
  const { health, log } = open({
    dns: { look: () => Promise.resolve(isAway ? SILENT : undefined), silence: SILENT },
    webhooks: { look: () => Promise.resolve(isAway ? OLD : undefined) },
    refusals: { look: () => Promise.resolve(OLD) },
  });
  const parts = async () => (await health.now()).map(({ part }) => part);
  assert.deepEqual(await parts(), ["dns", "refusals"]);
  assert.equal(log.lines.length, 2);
  isAway = false;
  assert.deepEqual(await parts(), ["refusals"]);
});

test("a look without an answer means silence after two seconds, for all that ask meanwhile", async () => {
  let asked = 0;
  const look = (): Promise<undefined> => {
    asked += 1;
    return new Promise(() => undefined);
  };
  const { health, clock } = open({ dns: { look, silence: SILENT } });
  const answers = [failing(health), failing(health)];
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
  clock.advance(2_000);
  assert.deepEqual(await Promise.all(answers), [["dns"], ["dns"]]);
  assert.equal(asked, 1);
});

test("a part that is not needed stays as it was known while nobody can say", async () => {
  let now: Trouble | undefined | "down" = OLD;
  const look = (): Promise<Trouble | undefined> =>
    now === "down" ? Promise.reject(new Error("down")) : Promise.resolve(now);
  const { health } = open({ feeds: { look } });
  assert.equal((await health.now()).length, 1);
  now = "down";
  assert.equal((await health.now()).length, 1);
  assert.deepEqual(await failing(health), []);
  now = undefined;
  assert.deepEqual(await health.now(), []);
  now = "down";
  assert.deepEqual(await health.now(), []);
});

test("the log says once what breaks and once that it is mended, and since when is kept", async () => {
  let now: Trouble | undefined = SILENT;
  const { health, clock, log } = open({ dns: { look: () => Promise.resolve(now), silence: OLD } });
  const sinceMs = clock.nowMs();
  await health.now();
  clock.advance(7_000);
  now = { says: "It lies.", toDo: "Change it." };
  assert.deepEqual(await health.now(), [
    { part: "dns", says: "It lies.", toDo: "Change it.", sinceMs, stops: true },
  ]);
  now = undefined;
  await health.now();
  await health.now();
  assert.deepEqual(
    log.lines.map(({ event, fields }) => [event, fields]),
    [
      ["health.broken", { part: "dns", says: "It is silent.", to_do: "Start it." }],
      ["health.mended", { part: "dns", seconds: 7 }],
    ],
  );
});

test("health is looked at every five seconds, although nobody asks", async () => {
  const { health, clock, log } = open({ dns: { look: () => Promise.resolve(SILENT) } });
  const end = health.start();
  clock.advance(5_000);
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
  assert.equal(log.lines.length, 1);
  await end();
});

test("a counter's last five minutes are what it grew by", () => {
  const clock = manualClock();
  const recent = recently(clock);
  assert.equal(recent(5), 5);
  for (let minute = 1; minute <= 5; minute += 1) {
    clock.advance(60_000);
    assert.equal(recent(5 + minute), 5 + minute);
  }
  clock.advance(60_000);
  assert.equal(recent(10), 4, "what came in the first minute is older");
  clock.advance(300_000);
  assert.equal(recent(10), 0);
});

test("a probe that writes is asked once a second at most", async () => {
  const clock = manualClock();
  let asked = 0;
  const probe = askedRarely(() => Promise.resolve((asked += 1) > 0), 1_000, clock);
  await Promise.all([probe(), probe()]);
  clock.advance(999);
  await probe();
  assert.equal(asked, 1);
  clock.advance(1);
  await probe();
  assert.equal(asked, 2);
});
