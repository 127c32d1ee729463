import { strict as assert } from "node:assert";
import { test } from "node:test";
import { manualClock } from "../../../test/time/manual-clock.ts";
import { openMigrated } from "../../../test/process/migrated-database.ts";
import type { Account } from "../accounts-store.ts";
import type { AccountOrder } from "../accounts.ts";
import { SetUp, SET_UP_LIFE_MS } from "./set-up.ts";

const WHO = { email: "ops@gatepost.example", password: "correct horse battery" };
const VISITOR = { clientAddress: "192.0.2.1", userAgent: "" };

/** Servers on one database: `other` has the same secret key. */
async function world(admins = 0) {
  const state = { admins };
  const { db } = await openMigrated(":memory:", 0);
  const clock = manualClock();
  const made: AccountOrder[] = [];
  let links = 0;
  const server = (): SetUp =>
    new SetUp({
      db,
      secretKey: new Uint8Array(32).fill(7),
      accounts: {
        create: (order) => {
          made.push(order);
          return Promise.resolve({ kind: "created", account: { id: "a1" } as Account });
        },
        search: (sought) =>
          Promise.resolve({
            accounts: [],
            total: sought.state === "admin" ? state.admins + made.length : 1,
          }),
      },
      logins: {
        start: (account) =>
          Promise.resolve({ token: "t", session: { id: "s", accountId: account.id } } as never),
      },
      audit: () => Promise.resolve(),
      ids: { hex32: () => String((links += 1)).padStart(32, "0") },
      clock,
    });
  return { setUp: server(), other: server(), clock, made, state };
}

const isRefused = (work: Promise<unknown>, message: RegExp) =>
  assert.rejects(work, { code: "set_up_link_invalid", status: 403, message });

test("the link makes one administrator on the Pro plan, once", async () => {
  const { setUp, made } = await world();
  const token = (await setUp.begin()) ?? "";
  assert.match(token, /^[\w-]{32}$/);
  assert.equal(await setUp.isOpen(), true);
  await setUp.finish(token, WHO, VISITOR);
  assert.deepEqual(
    made.map(({ email, tier, isAdmin }) => [email, tier, isAdmin]),
    [[WHO.email, "pro", true]],
  );
  assert.equal(await setUp.isOpen(), false);
  await isRefused(setUp.finish(token, WHO, VISITOR), /has an administrator already/);
});

test("a wrong token and a link of 30 minutes ago make nothing", async () => {
  const { setUp, clock, made } = await world();
  await isRefused(setUp.finish("", WHO, VISITOR), /no link is open/);
  const token = (await setUp.begin()) ?? "";
  await isRefused(setUp.finish(`${token}x`, WHO, VISITOR), /not the one that the service printed/);
  clock.advance(SET_UP_LIFE_MS);
  await isRefused(setUp.finish(token, WHO, VISITOR), /older than 30 minutes/);
  assert.deepEqual(made, []);
});

test("a bad password keeps the link usable", async () => {
  const { setUp } = await world();
  const token = (await setUp.begin()) ?? "";
  await assert.rejects(setUp.finish(token, { ...WHO, password: "short" }, VISITOR));
  await setUp.finish(token, WHO, VISITOR);
});

test("with an administrator there is no link; other accounts do not end it", async () => {
  assert.equal(await (await world(1)).setUp.begin(), undefined);
  const { setUp, state } = await world();
  const token = (await setUp.begin()) ?? "";
  assert.equal(await setUp.isOpen(), true);
  state.admins = 1; // made by the command line
  assert.equal(await setUp.isOpen(), false);
  await isRefused(setUp.finish(token, WHO, VISITOR), /has an administrator already/);
});

test("every server of an installation prints the one link, and it works once at any of them", async () => {
  const { setUp, other, made } = await world();
  const token = (await setUp.begin()) ?? "";
  assert.equal(await other.begin(), token);
  const outcomes = await Promise.allSettled([
    setUp.finish(token, WHO, VISITOR),
    other.finish(token, { ...WHO, email: "mallory@gatepost.example" }, VISITOR),
  ]);
  assert.deepEqual(outcomes.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  assert.equal(made.length, 1);
});

test("a start that finds a link past its middle prints a new one, and the old one ends", async () => {
  const { setUp, other, clock } = await world();
  const old = (await setUp.begin()) ?? "";
  clock.advance(SET_UP_LIFE_MS / 2);
  assert.equal(await other.begin(), old);
  clock.advance(1);
  const fresh = (await other.begin()) ?? "";
  assert.notEqual(fresh, old);
  await isRefused(setUp.finish(old, WHO, VISITOR), /not the one that the service printed/);
  await setUp.finish(fresh, WHO, VISITOR);
});
