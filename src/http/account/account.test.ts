import { strict as assert } from "node:assert";
import { test } from "node:test";
import { withinOneDay } from "../../../test/time/within-one-day.ts";
import { insertRow } from "../../store/rows.ts";
import { WatchList } from "../../watch/watch-list.ts";
import { literalDatasets } from "../../../test/lists/literal-datasets.ts";
import { worldFor, ZONE, EMAIL } from "../../../test/dashboard/account-world.ts";

test("a key is shown once, listed by its ends, and revoked for good", async (t) => {
  const { world, signedIn } = await worldFor(t);
  await world.addAccount(EMAIL);
  const browser = await signedIn(EMAIL);
  const made = (await browser.post("keys", { name: " Sign-up form " })).json as {
    id: string;
    api_key: string;
  };
  const { text } = await browser.get("keys");
  assert.equal(text.includes(made.api_key), false);
  assert.ok(text.includes(made.api_key.slice(-4)));
  const asKey = { headers: { "x-api-key": made.api_key } };
  assert.equal((await browser.call("GET", "/api/domain/x.example", asKey)).status, 200);
  assert.equal((await browser.delete(`keys/${made.id}`)).status, 204);
  assert.equal((await browser.post("keys", { name: "two\nlines" })).status, 400);
});

test("traffic is counted until the account says no, which is on record", async (t) => {
  const { world, signedIn } = await worldFor(t);
  await world.addAccount(EMAIL);
  const browser = await signedIn(EMAIL);
  const isCounted = async (): Promise<boolean> =>
    ((await browser.get("session")).json as { account: { counts_traffic: boolean } }).account
      .counts_traffic;
  assert.equal(await isCounted(), true);
  assert.equal((await browser.post("traffic", { state: "off" })).status, 204);
  assert.equal(await isCounted(), false);
  assert.equal((await browser.post("traffic", { state: true })).status, 400);
  assert.equal((await browser.post("traffic", { state: "on" })).status, 204);
  assert.equal(await isCounted(), true);
  const { entries } = (await browser.get("activity")).json as { entries: { detail: string }[] };
  assert.deepEqual(
    entries.slice(0, 2).map(({ detail }) => detail),
    ["on", "off"],
  );
});

test("a webhook is saved with a reason when refused, its secret told once, and its log kept", async (t) => {
  const { world, signedIn } = await worldFor(t);
  await world.addAccount(EMAIL);
  const browser = await signedIn(EMAIL);
  const inside = await browser.post("webhook", {
    url: "https://intranet.test.internal/",
    events: [],
  });
  assert.equal(inside.status, 422);
  assert.match((inside.json as { error: string }).error, /\w/);
  const url = "https://hooks.example/in";
  const saved = await browser.post("webhook", { url, events: ["bulk.completed"] });
  const { secret } = saved.json as { secret: string };
  assert.match(secret, /^[0-9a-f]{64}$/);
  const again = await browser.post("webhook", { url, events: [] });
  assert.deepEqual(again.json, { secret: null }, "the same address keeps its secret");
  assert.equal((await browser.get("webhook")).text.includes(secret), false);
  const pong = (await browser.post("webhook/ping")).json as { status: number };
  assert.equal(pong.status, 200);
  const log = (await browser.get("webhook/deliveries")).json as { deliveries: { event: string }[] };
  assert.deepEqual(
    log.deliveries.map(({ event }) => event),
    ["test.ping"],
  );
  assert.equal((await browser.delete("webhook")).status, 204);
  assert.equal((await browser.post("webhook/ping")).status, 404);
});

test("checks and lists count in the charts as the API's requests do, refused ones too", (t) =>
  withinOneDay(async () => {
    const { world, signedIn } = await worldFor(t, { zone: ZONE });
    const id = await world.addAccount(EMAIL, { tier: "pro" });
    const browser = await signedIn(EMAIL);
    await browser.post("check", { entry: "ann@good.example", features: ["spf"] });
    await browser.upload("lists", "a.txt", "good.example");
    await browser.upload("lists", "a.txt", "");
    await browser.post("check", { entry: "", features: [] });
    await browser.get("keys");
    await world.countRequests();
    const today = Math.floor(Date.now() / 86_400_000);
    const [day] = await world.usage.days(`account:${id}`, today, today);
    assert.deepEqual(
      [day?.requests, day?.refusals],
      [3, 1],
      "a call without an entry does not count as a request",
    );
  }));

test("usage has a row for every day asked, today last", (t) =>
  withinOneDay(async () => {
    const { world, signedIn } = await worldFor(t);
    const id = await world.addAccount(EMAIL);
    const today = Math.floor(Date.now() / 86_400_000);
    await world.usage.add([{ owner: `account:${id}`, day: today, units: 7, requests: 3 }]);
    const browser = await signedIn(EMAIL);
    const { days } = (await browser.get("usage?days=7")).json as {
      days: { units: number }[];
    };
    assert.deepEqual(
      days.map(({ units }) => units),
      [0, 0, 0, 0, 0, 0, 7],
    );
    for (const text of ["0", "401", "-1", "many", "1e9"]) {
      const odd = (await browser.get(`usage?days=${text}`)).json as { days: unknown[] };
      assert.equal(odd.days.length, 30, text);
    }
  }));

test("an account sees how many domains it has watched and what changed, and ends its own alone", async (t) => {
  const { world, signedIn } = await worldFor(t);
  const { db } = world.store.sql;
  const datasets = () => literalDatasets();
  const list = new WatchList({ db, datasets, clock: { nowMs: () => 0 }, random: () => 0 });
  for (const email of [EMAIL, "bob@gatepost.example"]) {
    const id = await world.addAccount(email);
    await list.add(id, ["a.example", "b.example"], null);
    const event = { account_id: id, kind: "domain.dead", told_ms: null } as const;
    await insertRow(db, "watch_events", { ...event, domain: "a.example", at_ms: 1_000 });
    await insertRow(db, "watch_events", { ...event, domain: "b.example", at_ms: 2_000 });
  }
  const [ann, bob] = [await signedIn(EMAIL), await signedIn("bob@gatepost.example")];
  const seen = {
    domains: 2,
    changes: [
      { domain: "b.example", kind: "domain.dead", at: "1970-01-01T00:00:02.000Z" },
      { domain: "a.example", kind: "domain.dead", at: "1970-01-01T00:00:01.000Z" },
    ],
  };
  assert.deepEqual((await ann.get("watch")).json, seen);
  assert.equal((await ann.delete("watch")).status, 204);
  assert.deepEqual((await ann.get("watch")).json, { domains: 0, changes: [] });
  assert.deepEqual((await bob.get("watch")).json, seen);
});
