import assert from "node:assert/strict";
import { test } from "node:test";
import { at, crowd, MINUTE_MS, person } from "../../../test/policy/crowd.ts";
import { counted } from "../../../test/policy/sender.ts";
import { DAY_MS } from "../../core/calendar.ts";

test("94 addresses with 120 sign-ups each over a day among 300 honest ones", async (t) => {
  const { clock, said } = await crowd(t);
  const FARM = 12;
  const farm = new Map<number, string[]>();
  const honest: string[] = [];
  for (let round = 0; round < 120; round += 1) {
    for (let one = 0; one < FARM; one += 1) {
      const email = `f${String(round * 100 + one)}@gmail.com`;
      const list = farm.get(one) ?? [];
      list.push(await said(email, at(`203.0.113.${String(one)}`)));
      farm.set(one, list);
    }
    if (round % 3 === 0) honest.push(await said(person(round), at(`198.51.100.${String(round)}`)));
    clock.advance(DAY_MS / 121);
  }
  for (const list of farm.values()) {
    assert.equal(list.length, 120);
    assert.ok(list.slice(100).every((one) => one === "review many"));
  }
  assert.ok(
    honest.every((one) => one === "accept ok"),
    JSON.stringify(counted(honest)),
  );
});

test("an inviter with 500 strangers: 100 go out in a day, and the answer says when the next may", async (t) => {
  const { clock, said, decide } = await crowd(t);
  const invite = { for: "invite", count_by: { inviter: "u_12" } };
  const all: string[] = [];
  for (let one = 0; one < 500; one += 1) {
    all.push(await said(person(one), { ...invite, confirmed: true }));
    clock.advance(MINUTE_MS);
  }
  assert.deepEqual(counted(all), { "accept ok": 100, "reject many": 400 });
  const { answer } = await decide(person(999), { ...invite, confirmed: true });
  assert.equal(answer.reason, "many");
  assert.equal(answer.retry_after, (1_440 - 500) * 60, "a day after the first");
  clock.advance((1_440 - 500) * MINUTE_MS);
  assert.equal(await said(person(999), { ...invite, confirmed: true }), "accept ok");
});
