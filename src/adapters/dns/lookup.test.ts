import { strict as assert } from "node:assert";
import { test } from "node:test";
import { manualClock } from "../../../test/time/manual-clock.ts";
import type { Answer } from "../../core/mail/lookup.ts";
import { createDnsLookup } from "./lookup.ts";
import type { Reply } from "./message/reply.ts";
import type { Resolver } from "./resolver.ts";

const TYPES = new Map([
  [1, "A"],
  [2, "NS"],
  [15, "MX"],
  [16, "TXT"],
  [28, "AAAA"],
]);

type Replies = Readonly<Record<string, Reply<unknown>>>;

/** A lookup on a resolver that says what the literal says, "MX a.example" for a key; all else is SERVFAIL. */
function world(replies: Replies) {
  const clock = manualClock();
  const asked: string[] = [];
  const said = new Map(Object.entries(replies));
  let isClosed = false;
  const resolver: Resolver = {
    ask({ name, kind }, done) {
      const key = `${TYPES.get(kind.type)} ${name}`;
      asked.push(key);
      const reply = said.get(key) ?? { kind: "unknown", why: "servfail" };
      // The literal's records are of the type its key names.
      setImmediate(() => done(reply as Parameters<typeof done>[0], 0));
    },
    room: () => undefined,
    stats: () => assert.fail("not asked for"),
    close: () => void (isClosed = true),
  };
  const lookup = createDnsLookup(resolver, { clock });
  return { clock, asked, said, lookup, isClosed: () => isClosed };
}

const found = (records: readonly unknown[], ttlSeconds = 300): Reply<unknown> => ({
  kind: "found",
  records,
  ttlSeconds,
});
const alias = (target: string, ttlSeconds = 300): Reply<unknown> => ({
  kind: "alias",
  target,
  ttlSeconds,
});
const noName: Reply<unknown> = { kind: "absent", why: "noName", ttlSeconds: 60 };
const noData: Reply<unknown> = { kind: "absent", why: "noData", ttlSeconds: 90 };
const timeout: Reply<unknown> = { kind: "unknown", why: "timeout" };

/** An answer with seconds to live for an instant of its end. */
function told(answer: Answer<unknown>, nowMs: number): unknown {
  const { expiresAtMs = NaN, ...rest } = answer;
  return { ...rest, seconds: (expiresAtMs - nowMs) / 1_000 };
}

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

const host = { preference: 1, host: "mx.example" };
const hops = (count: number): Replies =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `MX c${index}.example`,
      alias(`c${index + 1}.example`),
    ]),
  );

const aliasCases: readonly (readonly [string, Replies, unknown])[] = [
  [
    "an alias is asked on, and its TTL counts",
    { "MX c0.example": alias("x.example", 40), "MX x.example": found([host]) },
    { kind: "found", records: [host], seconds: 40 },
  ],
  [
    "an alias to nothing is absent, no longer than the alias lives",
    { "MX c0.example": alias("x.example", 20), "MX x.example": noName },
    { kind: "absent", why: "noName", seconds: 20 },
  ],
  [
    "seven aliases are followed",
    { ...hops(7), "MX c7.example": found([host]) },
    { kind: "found", records: [host], seconds: 300 },
  ],
  [
    "eight are not",
    { ...hops(8), "MX c8.example": found([host]) },
    { kind: "unknown", why: "malformed", seconds: 5 },
  ],
  [
    "a loop is unknown",
    { "MX c0.example": alias("c1.example"), "MX c1.example": alias("c0.example") },
    { kind: "unknown", why: "malformed", seconds: 5 },
  ],
  [
    "an alias to the root is unknown",
    { "MX c0.example": alias("") },
    { kind: "unknown", why: "malformed", seconds: 5 },
  ],
  [
    "an alias to a name that cannot be asked for is unknown",
    { "MX c0.example": alias("a\\046.example") },
    { kind: "unknown", why: "malformed", seconds: 5 },
  ],
];

for (const [name, replies, want] of aliasCases) {
  test(`aliases: ${name}`, async () => {
    const { lookup, clock } = world(replies);
    assert.deepEqual(told(await lookup.mx("c0.example"), clock.nowMs()), want);
  });
}

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

test("MX lists are in order, and domains of one provider share one list", async () => {
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
  assert.equal(one.records, two.records);
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
