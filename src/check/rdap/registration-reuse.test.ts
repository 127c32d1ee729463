import { strict as assert } from "node:assert";
import type { RequestListener, ServerResponse } from "node:http";
import { test } from "node:test";
import { type RegistrationCache, memoryRegistrationCache } from "./registration.ts";
import { until } from "../../../test/time/until.ts";
import { httpPeer } from "../../../test/http/peer.ts";
import {
  DAY_MS,
  domainObject,
  found,
  kept,
  registry,
  serve,
  short,
  world,
} from "../../../test/rdap/registry-world.ts";

test("a date is reused for seven days and a missing one for an hour", async () => {
  let asked = 0;
  const { registration, clock } = await registry((request, response) => {
    asked += 1;
    if (request.url === "/domain/b.example") response.writeHead(404).end();
    else response.end(JSON.stringify(domainObject()));
  });
  const first = await registration("a.example");
  assert.equal(first.expiresAtMs, clock.nowMs() + 7 * DAY_MS);
  await registration("b.example");
  clock.advance(3_599_999);
  await registration("a.example");
  await registration("b.example");
  assert.equal(asked, 2);
  clock.advance(1);
  await registration("b.example");
  assert.equal(asked, 3);
  clock.advance(7 * DAY_MS - 3_600_000);
  assert.deepEqual(
    { ...(await registration("a.example")), expiresAtMs: 0 },
    { ...found("1997-09-15T04:00:00Z"), expiresAtMs: 0 },
  );
  assert.equal(asked, 4);
});

test("what nobody could say is not reused", async () => {
  let asked = 0;
  const { registration, clock } = await registry((_request, response) => {
    asked += 1;
    if (asked === 1) response.writeHead(500).end();
    else response.end(JSON.stringify(domainObject()));
  });
  assert.equal((await registration("a.example")).kind, "unknown");
  clock.advance(5_000);
  assert.equal((await registration("a.example")).kind, "found");
});

test("a cache that fails costs a question, not the answer", async () => {
  const broken: RegistrationCache = {
    read: () => Promise.reject(new Error("down")),
    save: () => Promise.reject(new Error("down")),
  };
  const listener: RequestListener = (_request, response) =>
    response.end(JSON.stringify(domainObject()));
  const { registration, log } = await registry(listener, { cache: broken });
  assert.equal((await registration("a.example")).kind, "found");
  assert.deepEqual(log.events, [
    "registrations.read_failed",
    "registrations.read_failed",
    "registrations.save_failed",
  ]);
});

test("nothing of an answer but the date is kept", async () => {
  const saved: unknown[] = [];
  const cache = memoryRegistrationCache();
  const spy: RegistrationCache = {
    ...cache,
    save: (...row) => (saved.push(row), cache.save(...row)),
  };
  const person = domainObject({
    entities: [{ vcardArray: ["vcard", [["fn", {}, "text", "Jo Doe"]]] }],
  });
  const listener: RequestListener = (_request, response) => response.end(JSON.stringify(person));
  const { registration, log, clock } = await registry(listener, { cache: spy });
  await registration("a.example");
  assert.deepEqual(saved, [
    [
      "a.example",
      {
        registeredAtMs: Date.parse("1997-09-15T04:00:00Z"),
        expiresAtMs: clock.nowMs() + 7 * DAY_MS,
      },
    ],
  ]);
  assert.doesNotMatch(log.text(), /Doe/);
});

const retries = [
  ["RFC 9110 section 10.2.3: seconds", "120", 120_000],
  ["RFC 9110 section 10.2.3: a date", "Fri, 20 Nov 2026 12:02:00 GMT", 120_000],
  ["RFC 7480 section 5.5: no header, a minute", undefined, 60_000],
  ["a day, cut to an hour", "86400", 3_600_000],
] as const;

for (const [name, header, waitMs] of retries) {
  test(`after a 429 the server is left alone: ${name}`, async () => {
    let asked = 0;
    const { registration, clock } = await registry((_request, response) => {
      asked += 1;
      response.writeHead(429, header === undefined ? {} : { "retry-after": header }).end();
    });
    await registration("a.example");
    clock.advance(waitMs - 1);
    assert.equal(short(await registration("b.example")), "unknown refused");
    assert.equal(asked, 1);
    clock.advance(1);
    await registration("b.example");
    assert.equal(asked, 2);
  });
}

test("at most two questions are with one server, twins are one, and the rest wait their turn", async () => {
  let asked = 0;
  let most = 0;
  const open: ServerResponse[] = [];
  const { registration } = await registry((_request, response) => {
    asked += 1;
    most = Math.max(most, open.push(response));
    // Two and two: a client that asked one at a time would wait for ever.
    if (open.length === 2) for (const each of open.splice(0)) each.writeHead(404).end();
  });
  const names = Array.from({ length: 20 }, (_, index) => `n${String(index % 10)}.example`);
  const answers = await Promise.all(names.map((name) => registration(name)));
  assert.deepEqual(new Set(answers.map(short)), new Set(["absent noName"]));
  assert.deepEqual([most, asked], [2, 10]);
});

test("fifty owners at a registry that never answers delay nobody who asks another", async () => {
  const silent = await kept(httpPeer(() => undefined));
  const good = await kept(httpPeer((_request, response) => response.writeHead(404).end()));
  const services = { slow: `${silent.url}/`, example: `${good.url}/` };
  const { registration } = await world({ bootstrap: serve(services), owners: "several" });
  const open = Array.from({ length: 50 }, (_, at) =>
    registration(`n${String(at)}.slow`, `a${String(at)}`),
  );
  await until(() => silent.connections() === 2);
  for (let at = 0; at < 20; at += 1) {
    assert.equal(short(await registration(`n${String(at)}.example`, "b")), "absent noName");
  }
  assert.equal(silent.connections(), 2);
  await silent.close();
  await Promise.all(open);
});

test("more than fifty waiting for one server are told at once that nobody could say", async () => {
  const { registration } = await registry(() => undefined, { timeoutMs: 300 });
  const names = Array.from({ length: 53 }, (_, index) => `n${String(index)}.example`);
  const pending = names.map((name) => registration(name));
  assert.equal(short(await (pending[52] ?? assert.fail())), "unknown refused");
  const answers = await Promise.all(pending);
  assert.deepEqual(new Set(answers.map(short)), new Set(["unknown timeout", "unknown refused"]));
});
