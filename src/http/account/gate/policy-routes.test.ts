import { strict as assert } from "node:assert";
import { test } from "node:test";
import { accountKey, type OwnerKey } from "../../../base/owner.ts";
import { NoRoom } from "../../../base/shares.ts";
import type { SignedInRequest } from "../route.ts";
import { policyRoutes } from "./policy-routes.ts";

test("a back-test waits for its account's turn, and is refused with it", async () => {
  const document = { rules: [{ when: { role: true }, then: "challenge" }], else: "accept" };
  const owners: OwnerKey[] = [];
  const deps = {
    policies: { show: () => Promise.resolve({ live: 1, document }) },
    backTestPolicy: (owner: OwnerKey) => {
      owners.push(owner);
      return Promise.reject(new NoRoom("back_tests", "owner"));
    },
  } as unknown as Parameters<typeof policyRoutes>[0];
  const route = policyRoutes(deps).find(({ path }) => path === "policies/:id/back-test");
  const request = { account: { id: "a1", isAdmin: false }, body: {}, id: "default" };
  await assert.rejects(
    async () => await route?.handle(request as unknown as SignedInRequest & { session: never }),
    NoRoom,
  );
  assert.deepEqual(owners, [accountKey("a1")]);
});
