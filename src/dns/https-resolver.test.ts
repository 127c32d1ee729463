import { strict as assert } from "node:assert";
import { test } from "node:test";
import { message, mxData, questionOctets, soaData, TYPE } from "../../test/dns/dns-message.ts";
import { manualClock } from "../../test/time/manual-clock.ts";
import type { MailExchange } from "../core/mail/lookup.ts";
import { type Fetch, HttpsResolver } from "./https-resolver.ts";
import { MX } from "./message/records.ts";
import type { Reply } from "./message/wire.ts";

const NAME = "good.example";
const question = questionOctets(NAME, TYPE.MX);
const owned = (data: Buffer, type: number) => ({ owner: NAME, type, ttlSeconds: 300, data });
const found = message({ question, answers: [owned(mxData("10 mx.example"), TYPE.MX)] });
const absent = message({ question, rcode: 3, authority: [owned(soaData(60), TYPE.SOA)] });

type Headers = Readonly<Record<string, string>>;
const http = (octets: Uint8Array, headers: Headers = {}, status = 200): Response =>
  new Response(Buffer.from(octets), {
    status,
    headers: { "content-type": "application/dns-message", ...headers },
  });

const FOUND: Reply<MailExchange> = {
  kind: "found",
  records: [{ preference: 10, host: "mx.example" }],
  ttlSeconds: 300,
};
const unknown = (why: string) => ({ kind: "unknown", why });
const broken = (): Response => {
  throw new TypeError("fetch failed");
};

/** What the server sends, one after the other (the last again), the reply, and how often it is asked. */
const cases: readonly (readonly [
  what: string,
  sent: readonly (() => Response)[],
  reply: unknown,
  asks: number,
])[] = [
  ["records", [() => http(found)], FOUND, 1],
  ["no such name", [() => http(absent)], { kind: "absent", why: "noName", ttlSeconds: 60 }, 1],
  [
    "an answer that an HTTP cache held",
    [() => http(found, { age: "100" })],
    { ...FOUND, ttlSeconds: 200 },
    1,
  ],
  [
    "an answer that a cache held for too long",
    [() => http(found, { age: "900" })],
    { ...FOUND, ttlSeconds: 0 },
    1,
  ],
  [
    "a type with a parameter",
    [() => http(found, { "content-type": "Application/DNS-Message; x=y" })],
    FOUND,
    1,
  ],
  ["another type", [() => http(found, { "content-type": "text/html" })], unknown("malformed"), 1],
  [
    "a fault of the server, then records",
    [() => http(found, {}, 502), () => http(found)],
    FOUND,
    2,
  ],
  ["a fault of the server, twice", [() => http(found, {}, 500)], unknown("servfail"), 2],
  ["a network fault, then records", [broken, () => http(found)], FOUND, 2],
  ["a network fault, twice", [broken], unknown("network"), 2],
  ["too many requests", [() => http(found, {}, 429)], unknown("refused"), 1],
  ["not found", [() => http(found, {}, 404)], unknown("malformed"), 1],
  [
    "an answer to another question",
    [() => http(message({ question: questionOctets("x.example", TYPE.MX) }))],
    unknown("malformed"),
    1,
  ],
  [
    "a truncated answer",
    [() => http(message({ question, truncated: true }))],
    unknown("malformed"),
    1,
  ],
  [
    "SERVFAIL in the message",
    [() => http(message({ question, rcode: 2 }))],
    unknown("servfail"),
    1,
  ],
  ["an empty body", [() => http(Buffer.alloc(0))], unknown("malformed"), 1],
  ["a body of 65,536 octets", [() => http(Buffer.alloc(65_536))], unknown("malformed"), 1],
];

const resolverOf = (fetch: Fetch, clock = manualClock()) =>
  new HttpsResolver({ url: "https://dns.example/q", fetch, clock });

const ask = (resolver: ReturnType<typeof resolverOf>, name = NAME): Promise<Reply<MailExchange>> =>
  new Promise((resolve) => resolver.ask({ name, kind: MX }, (reply) => resolve(reply)));

for (const [what, sent, reply, asks] of cases) {
  test(`DNS over HTTPS: ${what}`, async () => {
    let asked = 0;
    const resolver = resolverOf(async () => {
      const next = sent[asked] ?? sent.at(-1);
      asked += 1;
      return Promise.resolve(next?.() ?? assert.fail());
    });
    assert.deepEqual(await ask(resolver), reply);
    assert.equal(asked, asks);
  });
}

test("DNS over HTTPS asks with GET, id 0 and no redirects", async () => {
  const asked: unknown[] = [];
  const resolver = resolverOf((url, { headers, redirect }) => {
    asked.push(url, headers, redirect);
    return Promise.resolve(http(found));
  });
  await ask(resolver);
  const query = message({ question });
  query[2] = 1; // RD
  query[3] = 0;
  const url = `https://dns.example/q?dns=${query.toString("base64url")}`;
  assert.deepEqual(asked, [url, { Accept: "application/dns-message" }, "error"]);
});

test("DNS over HTTPS does not ask for a name that cannot be", async () => {
  const resolver = resolverOf(() => assert.fail("asked"));
  assert.deepEqual(await ask(resolver, "a..example"), {
    kind: "absent",
    why: "noName",
    ttlSeconds: undefined,
  });
});

/** Never answers; rejects when it is aborted, as `fetch` does. */
const silent: Fetch = (_, { signal }) =>
  new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("aborted")));
  });

test("DNS over HTTPS: 32 questions are under way at once, and all end after 4.9 s of silence", async () => {
  const clock = manualClock();
  let asked = 0;
  const resolver = resolverOf((url, options) => {
    asked += 1;
    return silent(url, options);
  }, clock);
  const replies = Array.from({ length: 40 }, () => ask(resolver));
  await new Promise(setImmediate);
  assert.equal(asked, 32);
  assert.deepEqual([resolver.stats().underWay, resolver.stats().unsettled], [32, 40]);
  clock.advance(4_900);
  assert.deepEqual(await Promise.all(replies), Array(40).fill(unknown("timeout")));
  assert.equal(asked, 32);
  assert.equal(resolver.stats().unknown.timeout, 40);
});

test("DNS over HTTPS: closing ends what is under way, and nothing is asked later", async () => {
  const resolver = resolverOf(silent);
  const open = ask(resolver);
  await new Promise(setImmediate);
  resolver.close();
  assert.deepEqual(await open, unknown("deadline"));
  assert.deepEqual(await ask(resolver), unknown("deadline"));
});
