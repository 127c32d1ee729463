import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { inject } from "../../../test/http/inject.ts";
import { gateWorld } from "../../../test/policy/gate-world.ts";
import { manualClock } from "../../../test/time/manual-clock.ts";
import { createAudit } from "../../accounts/audit.ts";
import { systemIds } from "../../base/ids.ts";

const CHANGES = 1_203;

async function auditWorld(t: TestContext) {
  const world = await gateWorld(t);
  const owner = await world.account("jo@shop.example");
  const admin = await world.account("ada@shop.example", "pro", true);
  const clock = manualClock();
  const audit = createAudit(world.store.sql.db, systemIds, clock);
  const change = (detail: string) =>
    audit({
      action: "key.created",
      actorId: admin.id,
      accountId: owner.id,
      clientAddress: "192.0.2.1",
      detail,
    });
  const read = async (path: string, key: string | undefined = admin.apiKey) => {
    const headers = key === "" ? {} : { "x-api-key": key };
    return await inject(world.app, { method: "GET", url: `/api/audit${path}`, headers });
  };
  return { owner, clock, change, read };
}

test("a key of an administrator reads who changed what, newest first", async (t) => {
  const { clock, change, read } = await auditWorld(t);
  await change("first");
  clock.advance(1_000);
  await change("second");
  const reply = await read("?limit=1");
  assert.equal(reply.statusCode, 200);
  const { entries, next } = reply.json<{ entries: { id: string }[]; next: string }>();
  const { id, ...entry } = entries[0] ?? assert.fail();
  assert.deepEqual(entry, {
    at: new Date(clock.nowMs()).toISOString(),
    action: "key.created",
    actor: "ada@shop.example",
    subject: "jo@shop.example",
    detail: "second",
    client_address: "192.0.2.1",
  });
  const after = (await read(`?limit=1&after=${next}`)).json<{ entries: unknown[]; next: null }>();
  assert.deepEqual([after.entries.length, after.next], [1, null]);
  assert.notDeepEqual(after.entries, entries, id);
});

test("the same as CSV holds every entry, and no cell that a spreadsheet calculates", async (t) => {
  const { change, read } = await auditWorld(t);
  for (let index = 1; index < CHANGES; index += 1) await change(`change ${String(index)}`);
  await change("=1+1");
  const reply = await read("/csv");
  assert.equal(reply.headers["content-type"], "text/csv; charset=utf-8");
  const [head, ...lines] = reply.body.trimEnd().split("\r\n");
  assert.equal(head, "at,action,actor,subject,detail,client_address");
  assert.equal(lines.length, CHANGES);
  const details = new Set(lines.map((line) => line.split(",").at(-2)));
  assert.equal(details.size, CHANGES);
  assert.ok(details.has("'=1+1"));
});

const REFUSED = [
  ["no key", "", "", 401, "api_key_required"],
  ["an account's key", "", undefined, 403, "admins_only"],
  ["an account's key for CSV", "/csv", undefined, 403, "admins_only"],
] as const;

for (const [name, path, key, status, code] of REFUSED) {
  test(`the audit log is not read by ${name}`, async (t) => {
    const { owner, read } = await auditWorld(t);
    const reply = await read(path, key ?? owner.apiKey);
    assert.deepEqual([reply.statusCode, reply.headers["gatepost-error"]], [status, code]);
  });
}

const WRONG = [
  ["?limit=101", 400],
  ["?limit=0", 400],
  ["?after=1", 400],
  ["/xlsx", 404],
  ["/csv/csv", 404],
] as const;

for (const [path, status] of WRONG) {
  test(`/api/audit${path} is refused`, async (t) => {
    const { read } = await auditWorld(t);
    assert.equal((await read(path)).statusCode, status);
  });
}
