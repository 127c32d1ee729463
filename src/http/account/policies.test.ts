import { strict as assert } from "node:assert";
import { test } from "node:test";
import { accountKey, type OwnerKey } from "../../base/owner.ts";
import { NoRoom } from "../../base/shares.ts";
import type { Context } from "./route.ts";
import { policyRoutes } from "./gate.ts";

test("a back-test is for administrators, waits for its turn, and is refused with it", async () => {
  const document = { rules: [{ when: { role: true }, then: "challenge" }], else: "accept" };
  const owners: OwnerKey[] = [];
  const deps = {
    policies: { show: () => Promise.resolve({ live: 1, document }) },
    backTestPolicy: (owner: OwnerKey) => {
      owners.push(owner);
      return Promise.reject(new NoRoom("back_tests", "owner"));
    },
  };
  const route = policyRoutes.find(({ path }) => path === "policies/:id/back-test");
  const ask = async (isAdmin: boolean): Promise<unknown> => {
    const request = { account: { id: "a1", isAdmin }, body: {}, id: "default" };
    return await route?.handle({ ...deps, ...request } as unknown as Context);
  };
  await assert.rejects(ask(false), { code: "admins_only" }, "it reads what all accounts checked");
  await assert.rejects(ask(true), NoRoom);
  assert.deepEqual(owners, [accountKey("a1")]);
});
