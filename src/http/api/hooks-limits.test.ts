import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { until } from "../../../test/time/until.ts";
import { hookWorld } from "../../../test/policy/hook-world.ts";
import { RECORDED } from "../../../test/policy/recorded-payloads.ts";

test("an unknown hook is 404, a payload over 1 MiB 413 with its own sentence", async (t) => {
  const world = await hookWorld(t);
  const hook = await world.hook("zitadel");
  assert.equal((await world.post("0".repeat(32), "{}", {}))[0], 404);
  const payload = (octets: number) => JSON.stringify({ a: "x".repeat(octets - 8) });
  const large = payload(1_048_576);
  assert.deepEqual(await world.post(hook.id, large, world.signed(hook, large)), [200, ""]);
  assert.deepEqual(await world.post(hook.id, payload(1_048_577), {}), [
    413,
    '{"error":"The payload of a hook has at most 1,048,576 octets."}',
  ]);
});

test("no room for a call lets the person in and is shown; the others are answered", async (t) => {
  const world = await hookWorld(t);
  const hook = await world.hook("kratos");
  const share = world.shares.of("small_bodies");
  const held = share.take("bucket:127.0.0.1", 4_194_304); // as many unfinished calls would
  assert.deepEqual(await world.post(hook.id, RECORDED.kratos, {}), [204, ""]);
  held.release();
  const [row] = await world.list(world.accountId);
  assert.match(row?.last_failure?.why ?? "", /^You have too many requests under way/);
  share.take("bucket:192.0.2.9", 4_194_304);
  assert.equal((await world.post(hook.id, RECORDED.kratos, {}))[0], 401);
});

test("4 MiB of unfinished calls from the system's own address let no listed address in", async (t) => {
  const world = await hookWorld(t);
  const hook = await world.hook("kratos");
  const server = createServer(world.app.serve).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const path = `/hooks/${hook.id}`;
  const headers = { "content-type": "application/json", "content-length": 60_000 };
  const unfinished = Array.from({ length: 100 }, () => {
    const call = request({ port, method: "POST", path, headers }).once("error", () => undefined);
    call.write("{");
    return call;
  });
  await until(() => world.shares.of("small_bodies").figures().reclaimed > 20);
  for (const isChunked of [false, true]) {
    const body = RECORDED.kratos.replace("SUB", "jo@bad.example");
    const answer = await fetch(`http://127.0.0.1:${String(port)}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...world.signed(hook, body) },
      ...(isChunked ? { body: new Blob([body]).stream(), duplex: "half" } : { body }),
    } as RequestInit);
    assert.equal(answer.status, 400);
  }
  for (const call of unfinished) call.destroy();
  server.close().closeAllConnections();
  const { reclaimed } = world.shares.of("small_bodies").figures();
  await until(async () => {
    const [row] = await world.list(world.accountId);
    return Object.values(row?.calls ?? {}).reduce((all, count) => all + count) === reclaimed + 2;
  });
});
