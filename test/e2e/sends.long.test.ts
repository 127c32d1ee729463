// Questions before messages against the real program: on one server and on two, with a kill in the middle.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { test } from "node:test";
import { mailZone, missingServices, openScaledWorld } from "../scaled/scaled-world.ts";
import { startService } from "./service-process.ts";
import { createAccount, startServiceWorld } from "./service-world.ts";

const ZONE = mailZone(["gmail.com", "secretname.example"], 0);

/** What a kill may lose, and how late another server may see it. */
const LATE_MS = 1_000;

const spelled = (at: number): string =>
  `${at % 2 === 0 ? "secret.local" : "secretlocal"}+${String(at)}@gmail.com`;

async function maySend(url: string, email: string, key: string): Promise<string> {
  const reply = await fetch(`${url}/api/decide`, {
    method: "POST",
    body: new URLSearchParams({ email, for: "send" }),
    headers: { "x-api-key": key },
  });
  const { decision, reason } = (await reply.json()) as { decision: string; reason: string };
  return `${decision} ${reason}`;
}

type Ask = (at: number) => Promise<string>;

async function all(count: number, ask: Ask): Promise<Readonly<Record<string, number>>> {
  const said: Record<string, number> = {};
  for (let at = 0; at < count; at += 1) {
    const one = await ask(at);
    said[one] = (said[one] ?? 0) + 1;
  }
  return said;
}

/** The replays of public reports whose time need not be moved; `kill` ends a server and starts another. */
async function replay(first: Ask, second: Ask, kill: () => Promise<void>): Promise<void> {
  assert.equal(await first(0), "accept ok");
  await pause(LATE_MS);
  assert.equal(await second(1), "accept ok");
  await pause(LATE_MS);
  await kill();
  assert.equal(await second(2), "accept ok");
  await pause(LATE_MS);
  assert.deepEqual(await all(50, first), { "reject too_often": 50 });
  assert.deepEqual(await all(47, second), { "reject too_often": 47 });
}

async function launch(first: Ask, second: Ask): Promise<void> {
  assert.deepEqual(await all(20, (at) => first(at)), { "accept ok": 20 });
  await pause(LATE_MS);
  // The mailbox of the replay before was the first of 30.
  assert.deepEqual(await all(9, (at) => second(20 + at)), { "accept ok": 9 });
  await pause(LATE_MS);
  assert.deepEqual(await all(71, (at) => first(29 + at)), { "challenge wave": 71 });
  assert.deepEqual(await all(100, (at) => second(100 + at)), { "challenge wave": 100 });
}

const filesOf = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n");

test("messages are counted across a kill, and no file holds an address", async () => {
  let key = "";
  const { home, service, close } = await startServiceWorld({
    zone: ZONE,
    prepare: (made) => void ({ api_key: key } = createAccount(made, "jo@shop.example")),
  });
  let now = service;
  try {
    const ask: Ask = (at) => maySend(now.url, spelled(at), key);
    await replay(ask, ask, async () => {
      await now.stop("SIGKILL");
      now = await startService(home);
    });
    const person: Ask = (at) => maySend(now.url, `p${String(at)}@secretname.example`, key);
    await launch(person, person);
    await now.stop("SIGTERM");
    const text = filesOf(home.directory);
    assert.ok(text.length > 10_000);
    // The domain alone is counted for back-tests, of all accounts together.
    assert.ok(!/secret\.?local|@secretname|@gmail\.com/i.test(text));
  } finally {
    await now.stop("SIGKILL");
    await close();
  }
});

test(
  "two servers see each other's messages within a second, one of them killed",
  { skip: missingServices().length > 0 },
  async () => {
    const world = await openScaledWorld({ zone: ZONE });
    try {
      let one = await world.start({ command: "serve" });
      const two = await world.start({ command: "serve" });
      const { apiKey } = await world.account("pro");
      const ask =
        (url: () => string): Ask =>
        (at) =>
          maySend(url(), spelled(at), apiKey);
      await replay(
        ask(() => one.url),
        ask(() => two.url),
        async () => {
          await one.stop("SIGKILL");
          one = await world.start({ command: "serve" });
        },
      );
      const person =
        (url: () => string): Ask =>
        (at) =>
          maySend(url(), `p${String(at)}@secretname.example`, apiKey);
      await launch(
        person(() => one.url),
        person(() => two.url),
      );
      const waves = await world.sql.db.selectFrom("waves").selectAll().execute();
      assert.equal(waves.length, 1, "noted once");
      const told = [one, two].map((server) => server.text().split("gate.wave").length - 1);
      assert.equal(
        told.reduce((sum, count) => sum + count, 0),
        1,
        "one log event",
      );
    } finally {
      await world.close();
    }
  },
);
