import assert from "node:assert/strict";
import { test } from "node:test";
import { hookWorld } from "../../../test/policy/hook-world.ts";
import type { HookSystem } from "../../core/policy/outcomes.ts";
import type { HookService as Service } from "../../gate/hooks.ts";

const MISTAKES: readonly [name: string, order: Parameters<Service["create"]>[1], words: RegExp][] =
  [
    ["a policy that is not there", { system: "kratos", policy: "strcit" }, /no policy "strcit"/],
    ["a policy's name that is none", { system: "kratos", policy: "../x" }, /no policy/],
    ["no public keys", { system: "neon" }, /give the URL of its public keys/],
    [
      "public keys where a secret signs",
      { system: "kratos", jwksUrl: "https://keys.example/" },
      /leave out/,
    ],
    ["http", { system: "neon", jwksUrl: "http://keys.example/" }, /must begin with https/],
    ["a password in the URL", { system: "neon", jwksUrl: "https://a:b@keys.example/" }, /password/],
    [
      "a name without public addresses",
      { system: "neon", jwksUrl: "https://inside.example.com/" },
      /not public/,
    ],
    [
      "a special-use name",
      { system: "fusionauth", jwksUrl: "https://auth.internal/" },
      /not public/,
    ],
    ["another system", { system: "clerk" }, /is not one of/],
  ];

for (const [name, order, words] of MISTAKES) {
  test(`a hook is not made with ${name}`, async (t) => {
    const world = await hookWorld(t);
    const making = world.service.create(world.accountId, order);
    await assert.rejects(making, ({ message }: Error) => words.test(message));
    assert.deepEqual(await world.list(world.accountId), []);
  });
}

test("a policy that a hook uses cannot be removed, and the words name the hook", async (t) => {
  const world = await hookWorld(t);
  await world.policy("strict", { rules: [], else: "reject" });
  const hook = await world.hook("kratos", "accept", "strict");
  const message = `Policy "strict" is used by hook ${hook.id} (kratos). Remove what uses it first.`;
  await assert.rejects(world.policies.remove(world.accountId, "strict"), { message });
  await world.service.remove(hook);
  await world.policies.remove(world.accountId, "strict");
});

const octets = (count: number): string => Buffer.alloc(count, 7).toString("base64");

const SECRETS: readonly [name: string, system: HookSystem, secret: string, isTaken: boolean][] = [
  ["no base64", "standard", "whsec_!!!!", false],
  ["23 octets", "standard", `whsec_${octets(23)}`, false],
  ["24 octets", "standard", `whsec_${octets(24)}`, true],
  ["64 octets", "supabase", `v1,whsec_${octets(64)}`, true],
  ["65 octets", "supabase", `v1,whsec_${octets(65)}`, false],
  ["base64 without padding", "standard", `whsec_${octets(32).replaceAll("=", "")}`, false],
  ["URL-safe base64", "standard", `whsec_${Buffer.alloc(33, 255).toString("base64url")}`, false],
  ["bits behind the end", "standard", `whsec_${octets(31).replace(/w==$/, "x==")}`, false],
  ["an asymmetric secret", "supabase", `v1a,whpk_${octets(32)}`, false],
  ["ZITADEL's signing key", "zitadel", "!signing-key!", true],
  ["Neon has none", "neon", "anything-long", false],
];

for (const [name, system, secret, isTaken] of SECRETS) {
  test(`${system}: a secret of ${name} is ${isTaken ? "taken" : "refused"}`, async (t) => {
    const world = await hookWorld(t);
    const hook = await world.hook(system);
    const taken = await world.service.setSecret(hook, secret).then(
      () => true,
      () => false,
    );
    assert.equal(taken, isTaken);
  });
}
