import { strict as assert } from "node:assert";
import { test } from "node:test";
import { manualClock } from "../../../test/time/manual-clock.ts";
import type { Account } from "../accounts-store.ts";
import type { AccountOrder } from "../accounts.ts";
import { SetUp, SET_UP_LIFE_MS } from "./set-up.ts";

const WHO = { email: "ops@gatepost.example", password: "correct horse battery" };
const VISITOR = { clientAddress: "192.0.2.1", userAgent: "" };

function world(admins = 0) {
  const state = { admins };
  const clock = manualClock();
  const made: AccountOrder[] = [];
  const setUp = new SetUp({
    accounts: {
      create: (order) => {
        made.push(order);
        return Promise.resolve({ kind: "created", account: { id: "a1" } as Account });
      },
    },
    directory: {
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
    ids: { bytes: (count) => new Uint8Array(count).fill(7) },
    clock,
  });
  return { setUp, clock, made, state };
}

const isRefused = (work: Promise<unknown>, message: RegExp) =>
  assert.rejects(work, { code: "set_up_link_invalid", status: 403, message });

test("the link makes one administrator on the Pro plan, once", async () => {
  const { setUp, made } = world();
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
  const { setUp, clock, made } = world();
  await isRefused(setUp.finish("", WHO, VISITOR), /no link is open/);
  const token = (await setUp.begin()) ?? "";
  await isRefused(setUp.finish(`${token}x`, WHO, VISITOR), /not the one that the service printed/);
  clock.advance(SET_UP_LIFE_MS);
  await isRefused(setUp.finish(token, WHO, VISITOR), /older than 30 minutes/);
  assert.deepEqual(made, []);
});

test("a bad password keeps the link usable", async () => {
  const { setUp } = world();
  const token = (await setUp.begin()) ?? "";
  await assert.rejects(setUp.finish(token, { ...WHO, password: "short" }, VISITOR));
  await setUp.finish(token, WHO, VISITOR);
});

test("with an administrator there is no link; other accounts do not end it", async () => {
  assert.equal(await world(1).setUp.begin(), undefined);
  const { setUp, state } = world();
  const token = (await setUp.begin()) ?? "";
  assert.equal(await setUp.isOpen(), true);
  state.admins = 1; // made by the command line
  assert.equal(await setUp.isOpen(), false);
  await isRefused(setUp.finish(token, WHO, VISITOR), /has an administrator already/);
});
