import { strict as assert } from "node:assert";
import { test } from "node:test";
import { Browser } from "../../../test/dashboard/dashboard-client.ts";
import { dashboardWorld } from "../../../test/dashboard/dashboard-world.ts";
import { until } from "../../../test/time/until.ts";
import type { ListState } from "./shapes.ts";

test("lists that wait say behind how many and, where no worker runs, that nothing is lost", async (t) => {
  const world = await dashboardWorld({
    zone: {
      "good.example": { mx: ["10 mx.good.example"] },
      "mx.good.example": { a: ["203.0.113.5"] },
    },
  });
  t.after(() => world.close());
  await world.worker.stop();
  const entries = Array.from({ length: 150 }, (_, at) => `u${String(at)}@good.example`).join("\n");
  const lists: (() => Promise<ListState>)[] = [];
  for (const name of ["ada", "bob"]) {
    const account = await world.addAccount(`${name}@lists.example`, { tier: "pro" });
    const browser = new Browser(world);
    browser.cookie = await world.cookieOf(account);
    const { id } = (await browser.upload("lists", "a.txt", entries)).json as ListState;
    assert.equal((await browser.post(`lists/${id}/check`)).status, 200);
    lists.push(async () => (await browser.get(`lists/${id}`)).json as ListState);
    await new Promise((resolve) => setTimeout(resolve, 2)); // accepted in another millisecond
  }
  const waiting = async () =>
    (await Promise.all(lists.map((list) => list()))).map((list) => list.waiting);
  const says = "Waiting for its turn.";
  assert.deepEqual(await waiting(), [
    { ahead: 0, says },
    { ahead: 1, says },
  ]);
  world.broken.push({ part: "lists", says: "", toDo: "", sinceMs: 0, stops: false });
  const lost = "Waiting: no worker runs. Nothing is lost.";
  assert.deepEqual(await waiting(), [
    { ahead: 0, says: lost },
    { ahead: 1, says: lost },
  ]);
  world.broken.splice(1);
  world.worker.start();
  for (const list of lists) {
    const state = await until(
      async () => {
        const now = await list();
        return now.state === "done" ? now : undefined;
      },
      { everyMs: 100 },
    );
    assert.equal(state.waiting, undefined);
  }
});
