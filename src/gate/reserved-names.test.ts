import { strict as assert } from "node:assert";
import { test } from "node:test";
import { inject } from "../../test/http/inject.ts";
import { type GateWorld, gateWorld } from "../../test/policy/gate-world.ts";
import type { Account } from "../accounts/accounts-store.ts";
import { parsePolicy } from "../core/policy/parse-policy.ts";
import { isReservedName } from "../core/reserved-name.ts";

const RESERVED = ["__proto__", "constructor", "prototype", "toString", "__defineGetter__"];

const asked = async ({ app }: GateWorld, more: object): Promise<boolean> => {
  const payload = { email: "jo@good.example", ...more };
  const { statusCode } = await inject(app, { method: "POST", url: "/api/decide", payload });
  return statusCode === 200;
};

const parses = (rule: object, more: object = {}): boolean =>
  parsePolicy(
    { rules: [{ when: { role: true }, then: "reject", ...rule }], ...more },
    { hasDomainAge: true },
  ).ok;

const members = (name: string, value: unknown): object => Object.fromEntries([[name, value]]);

/** Whether a thing gets the name. */
type Door = (name: string, world: GateWorld, account: Account) => boolean | Promise<boolean>;

const page = { origins: ["https://shop.example"] };

const isTaken = (saving: Promise<unknown>): Promise<boolean> =>
  saving.then(
    () => true,
    () => false,
  );

const DOORS: Readonly<Record<string, Door>> = {
  "a policy": (name, { policies }, account) =>
    isTaken(policies.save({ account, author: "jo" }, name, {}, "live")),
  "a policy that is asked for": (policy, world) => asked(world, { policy }),
  "a key": (name, { store }, { id }) => isTaken(store.keys.create(id, name)),
  "a key's new name": async (name, { store }, { id }) =>
    isTaken(store.keys.rename((await store.keys.list(id))[0]?.id ?? "", name)),
  "a page's form": (form, { store }, { id }) =>
    isTaken(store.keys.create(id, "page", { ...page, form })),
  "a page's policy": (policy, { store }, { id }) =>
    isTaken(store.keys.create(id, "page", { ...page, policy })),
  "a decision's form": (form, world) => asked(world, { form }),
  "a fact of the caller": (name, world) => asked(world, { facts: members(name, 1) }),
  "a condition": (name) => parses({ when: members(name, true) }),
  "a condition on a fact of the caller": (name) => parses({ when: members(`caller.${name}`, 1) }),
  "a reason": (reason) => parses({ reason }),
  "the reason of the rest": (reason) => parses({}, { else_reason: reason }),
  "a member of a policy": (name) => parses({}, members(name, 1)),
  "a member of a rule": (name) => parses(members(name, 1)),
  "a message's language": (name) => parses({ message: members(name, "x") }),
};

/** Names that the doors take, where they take any name. */
const FREE = new Set([
  "a policy",
  "a key",
  "a key's new name",
  "a page's form",
  "a decision's form",
  "a fact of the caller",
  "a condition on a fact of the caller",
  "a reason",
  "the reason of the rest",
]);

for (const [what, door] of Object.entries(DOORS)) {
  test(`${what} never has a name that means something to JavaScript`, async (t) => {
    const world = await gateWorld(t);
    const { id } = await world.account("jo@shop.example");
    const account = (await world.store.accounts.find(id)) ?? assert.fail();
    for (const name of RESERVED) assert.equal(await door(name, world, account), false, name);
    assert.equal(await door("builder", world, account), FREE.has(what), "an ordinary name");
  });
}

test("reserved are the names of JavaScript alone", () => {
  for (const name of RESERVED) assert.equal(isReservedName(name), true, name);
  for (const name of ["", "default", "_proto_", "proto", "constructors", "to_string", "Key 1"]) {
    assert.equal(isReservedName(name), false, name);
  }
});

test("a stored policy with a reserved reason decides on, and that is said once", async (t) => {
  const world = await gateWorld(t);
  const { app, log, policies, store } = world;
  const { id, apiKey } = await world.account("ada@shop.example");
  const account = (await store.accounts.find(id)) ?? assert.fail();
  await policies.save({ account, author: "ada" }, "shop", {}, "live");
  const rules = [{ when: { format: true }, then: "reject", reason: "constructor" }];
  const document = JSON.stringify({ rules });
  await store.sql.db.updateTable("policy_versions").set({ document }).execute();
  for (const policy of ["shop", "shop"]) {
    const payload = { email: "jo@good.example", policy };
    const headers = { "x-api-key": apiKey };
    const answer = await inject(app, { method: "POST", url: "/api/decide", payload, headers });
    const { decision, reason } = answer.json<Readonly<Record<string, string>>>();
    assert.deepEqual([decision, reason], ["reject", "format"]);
  }
  const said = log.events.filter((event) => event.startsWith("policies."));
  assert.deepEqual(said, ["policies.parts_ignored"]);
  assert.match(log.text(), /"parts":\["rules\[0\]\.reason"\]/);
  const { mistakes } = await policies.show(id, "shop");
  assert.deepEqual(mistakes, ['rules[0].reason: "constructor" is a reserved name']);
});
