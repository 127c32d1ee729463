import assert from "node:assert/strict";
import { test } from "node:test";
import { verifySignature } from "../../src/main/library.ts";
import { readPocket } from "../lists/read-pocket.ts";
import { CLIENT_CASES } from "./cases.ts";
import { type RunningWorld, startClientWorld } from "./client-world.ts";
import { tokenTable } from "./token-cases.ts";

const { decide, pocket, tokens, webhooks } = CLIENT_CASES;

test("the service decides as the table says, and every fault exists", async (t) => {
  const world: RunningWorld = await startClientWorld();
  t.after(() => world.close());
  for (const { name, at, email, client, ask, expect } of decide) {
    if (at !== undefined) assert.ok(at in world.faults, name);
    if (at !== undefined || expect.source !== "service") continue;
    const answer = await fetch(`${world.service}/api/decide`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(client?.key === undefined && { "x-api-key": world.key }),
      },
      body: JSON.stringify({ email, ...ask }),
    });
    const { decision, reason } = (await answer.json()) as Record<string, unknown>;
    assert.deepEqual([decision, reason], [expect.decision, expect.reason], name);
  }
});

test("the tables of tokens, webhooks and pocket lists agree with the reference", () => {
  const names = ({ cases }: ReturnType<typeof tokenTable>): unknown =>
    cases.map(({ name, fault }) => [name, fault]);
  assert.deepEqual(names(tokens), names(tokenTable()));
  for (const { name, body, signature, secret, valid } of webhooks) {
    const octets = Buffer.from(body, "base64");
    assert.equal(verifySignature(octets, signature ?? undefined, secret), valid, name);
  }
  const list = readPocket(Buffer.from(pocket.file, "base64"));
  const domainOf = (email: string): string =>
    email.slice(email.lastIndexOf("@") + 1).replace(/\.$/, "");
  for (const email of pocket.listed) assert.ok(list.has(domainOf(email)), email);
  for (const email of pocket.not_listed) assert.ok(!list.has(domainOf(email)), email);
});
