import { strict as assert } from "node:assert";
import { test } from "node:test";
import { found, host, noName, type Replies, told, world } from "../../test/dns/scripted-replies.ts";
import type { Reply } from "./message/wire.ts";

const noData: Reply<unknown> = { kind: "absent", why: "noData", ttlSeconds: 90 };
const timeout: Reply<unknown> = { kind: "unknown", why: "timeout" };

const addressCases: readonly (readonly [string, Replies, unknown])[] = [
  [
    "A that mail reaches is enough, for its own TTL",
    { "AAAA h.example": found(["2001:db8::1"], 60), "A h.example": found(["192.0.2.1"]) },
    { kind: "found", records: ["192.0.2.1"], seconds: 300 },
  ],
  [
    "A that mail does not reach is found together with AAAA, for the lesser TTL",
    { "AAAA h.example": found(["2001:db8::1"], 60), "A h.example": found(["10.0.0.1"]) },
    { kind: "found", records: ["10.0.0.1", "2001:db8::1"], seconds: 60 },
  ],
  [
    "A that mail does not reach is found alone, for its own TTL",
    { "A h.example": found(["10.0.0.1"]), "AAAA h.example": noData },
    { kind: "found", records: ["10.0.0.1"], seconds: 300 },
  ],
  [
    "AAAA alone is found",
    { "A h.example": noData, "AAAA h.example": found(["2001:db8::1"]) },
    { kind: "found", records: ["2001:db8::1"], seconds: 300 },
  ],
  [
    "one found beside one unknown is found, for the shortest time",
    { "A h.example": found(["10.0.0.1"]), "AAAA h.example": timeout },
    { kind: "found", records: ["10.0.0.1"], seconds: 30 },
  ],
  [
    "AAAA is found where A is refused",
    {
      "A h.example": { kind: "unknown", why: "refused" },
      "AAAA h.example": found(["2001:db8::1"]),
    },
    { kind: "found", records: ["2001:db8::1"], seconds: 30 },
  ],
  [
    "a server that is silent about A is not asked for AAAA",
    { "A h.example": timeout, "AAAA h.example": found(["2001:db8::1"]) },
    { kind: "unknown", why: "timeout", seconds: 5 },
  ],
  [
    "one absent beside one unknown is unknown",
    { "A h.example": noData, "AAAA h.example": timeout },
    { kind: "unknown", why: "timeout", seconds: 5 },
  ],
  [
    "both absent is absent, for the lesser TTL",
    { "A h.example": noData, "AAAA h.example": { ...noData, ttlSeconds: 30 } },
    { kind: "absent", why: "noData", seconds: 30 },
  ],
  [
    "no name for one is no name for both (RFC 8020)",
    { "A h.example": noName, "AAAA h.example": noData },
    { kind: "absent", why: "noName", seconds: 60 },
  ],
  [
    "both absent and one without a SOA lives for 5 s",
    { "A h.example": noData, "AAAA h.example": { ...noData, ttlSeconds: undefined } },
    { kind: "absent", why: "noData", seconds: 5 },
  ],
];

for (const [name, replies, want] of addressCases) {
  test(`addresses: ${name}`, async () => {
    const { lookup, clock } = world(replies);
    assert.deepEqual(told(await lookup.addresses("h.example"), clock.nowMs()), want);
  });
}

const bothCases: readonly (readonly [string, Replies, unknown])[] = [
  [
    "A and AAAA are found together, A first, for the lesser TTL",
    { "AAAA h.example": found(["2001:db8::1"], 60), "A h.example": found(["192.0.2.1"]) },
    { kind: "found", records: ["192.0.2.1", "2001:db8::1"], seconds: 60 },
  ],
  [
    "one found beside one unknown is found, for the shortest time",
    { "A h.example": found(["192.0.2.1"]), "AAAA h.example": timeout },
    { kind: "found", records: ["192.0.2.1"], seconds: 30 },
  ],
  [
    "both absent is absent, for the lesser TTL",
    { "A h.example": noData, "AAAA h.example": { ...noData, ttlSeconds: 30 } },
    { kind: "absent", why: "noData", seconds: 30 },
  ],
];

for (const [name, replies, want] of bothCases) {
  test(`every address: ${name}`, async () => {
    const { lookup, clock } = world(replies);
    assert.deepEqual(told(await lookup.everyAddress("h.example"), clock.nowMs()), want);
  });
}

test("addresses: one question where A is enough, two where it is not", async () => {
  const { lookup, asked } = world({
    "A dual.example": found(["192.0.2.1"]),
    "A private.example": found(["192.168.0.1"]),
    "AAAA private.example": noData,
  });
  await lookup.addresses("dual.example");
  await lookup.addresses("private.example");
  assert.deepEqual(asked, ["A dual.example", "A private.example", "AAAA private.example"]);
});

test("what is known comes at once, without a promise, for every type", async () => {
  const { lookup, asked } = world({
    "MX a.example": found([host]),
    "A a.example": noData,
    "AAAA a.example": noData,
    "TXT a.example": timeout,
  });
  const asks = [
    () => lookup.mx("a.example"),
    () => lookup.addresses("a.example"),
    () => lookup.txt("a.example"),
  ];
  for (const ask of asks) {
    const first = ask();
    assert.ok(first instanceof Promise);
    assert.equal(ask(), ask() instanceof Promise ? first : undefined, "joins the one under way");
    assert.equal(ask(), first);
    const answer = await first;
    assert.equal(ask(), answer);
  }
  assert.deepEqual(asked, ["MX a.example", "A a.example", "AAAA a.example", "TXT a.example"]);
});

test("a question under way is asked once however many want it", async () => {
  const { lookup, asked } = world({ "MX a.example": found([host]) });
  const answers = await Promise.all(
    Array.from({ length: 100 }, async () => lookup.mx("a.example")),
  );
  assert.equal(asked.length, 1);
  assert.ok(answers.every((answer) => answer === answers[0]));
});

test("a second pass asks again what is unknown and nothing else", async () => {
  const { lookup, asked, said } = world({ "MX live.example": found([host]) });
  await lookup.mx("lost.example");
  await lookup.mx("live.example");
  said.set("MX lost.example", found([host]));
  assert.equal((await lookup.mx("lost.example")).kind, "unknown");
  assert.equal((await lookup.again.mx("lost.example")).kind, "found");
  assert.equal((await lookup.again.mx("live.example")).kind, "found");
  assert.deepEqual(asked, ["MX lost.example", "MX live.example", "MX lost.example"]);
});

test("a name that many want is asked for again before it ends, and nobody waits for that", async () => {
  const { lookup, asked, clock } = world({ "MX hot.example": found([host], 100) });
  await lookup.mx("hot.example");
  for (let count = 0; count < 3; count += 1) void lookup.mx("hot.example");
  clock.advance(95_000);
  assert.equal(lookup.mx("hot.example") instanceof Promise, false);
  assert.equal(asked.length, 2);
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(95_000);
  assert.equal(lookup.mx("hot.example") instanceof Promise, false, "the new answer lives on");
});

test("MX lists are in order, however the server turns them around", async () => {
  const [a, b] = [
    { preference: 10, host: "a.example" },
    { preference: 10, host: "b.example" },
  ];
  const first = { preference: 5, host: "z.example" };
  const { lookup } = world({
    "MX one.example": found([b, first, a]),
    "MX two.example": found([{ ...a }, { ...b }, { ...first }]),
  });
  const one = await lookup.mx("one.example");
  const two = await lookup.mx("two.example");
  assert.ok(one.kind === "found" && two.kind === "found");
  assert.deepEqual(one.records, [first, a, b]);
  assert.deepEqual(two.records, one.records);
});

const probeCases: readonly (readonly [string, Reply<unknown>, boolean])[] = [
  ["root servers", found(["a.root-servers.net"]), true],
  ["a refusal", { kind: "unknown", why: "refused" }, true],
  ["SERVFAIL", { kind: "unknown", why: "servfail" }, true],
  ["NXDOMAIN", noName, true],
  ["silence", timeout, false],
  ["garbage", { kind: "unknown", why: "malformed" }, false],
  ["nobody there", { kind: "unknown", why: "network" }, false],
];

for (const [name, reply, isReady] of probeCases) {
  test(`the probe takes ${name} for ${isReady ? "life" : "no life"}`, async () => {
    const { lookup, asked } = world({ "NS ": reply });
    assert.deepEqual(await Promise.all([lookup.probe(), lookup.probe()]), [isReady, isReady]);
    assert.equal(asked.length, 1, "probes at the same time are one");
    await lookup.probe();
    assert.equal(asked.length, 2);
  });
}

test("closing the lookup closes the resolver", () => {
  const { lookup, isClosed } = world({});
  lookup.close();
  assert.equal(isClosed(), true);
});
