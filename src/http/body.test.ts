import { strict as assert } from "node:assert";
import { PassThrough, Readable } from "node:stream";
import { test } from "node:test";
import type { IncomingMessage } from "node:http";
import { createShares, NoRoom } from "../base/shares.ts";
import { manualClock } from "../../test/time/manual-clock.ts";
import { Refusal } from "../base/refusals.ts";
import { BodyReader } from "./body.ts";

type Source = IncomingMessage;

/** What a request looks like to the reader. */
function source(chunks: readonly string[], headers: Source["headers"] = {}): Source {
  const type = { "content-type": "application/x-www-form-urlencoded" };
  const stream = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  return Object.assign(stream, {
    headers: { ...type, "transfer-encoding": "chunked", ...headers },
    socket: new PassThrough(),
  }) as unknown as Source;
}

const refusedWith =
  (status: number) =>
  (error: unknown): boolean =>
    error instanceof Refusal && error.status === status;

const OWNER = { owner: "account:a", wanted: new Set(["email"]) };
const FORM = { kind: "form", fields: new Map([["email", ["a"]]]), text: "email=a" };

/** A reader whose shares a test can look into. */
function world() {
  const shares = createShares();
  const clock = manualClock();
  const used = (name: "small_bodies" | "large_bodies"): number => shares.of(name).used;
  return { reader: new BodyReader({ shares, clock }), shares, clock, used };
}

const readBody = (request: Source) => world().reader.read(request, OWNER);

const noRoom =
  (why: string) =>
  (error: unknown): boolean =>
    error instanceof NoRoom && error.why === why;

const MEGABYTE = 1_000_000;
const large = (megabytes: number): Source => source(Array(megabytes).fill("a".repeat(MEGABYTE)));

test("an owner over its share of memory is refused, another is not, and an answered request gives it back", async () => {
  const { reader, used } = world();
  const first = await reader.read(large(6), OWNER);
  const second = await reader.read(large(6), OWNER);
  await assert.rejects(reader.read(large(1), OWNER), noRoom("owner"));
  (await reader.read(large(6), { owner: "account:b" })).release();
  first.release();
  first.release();
  second.release();
  assert.equal(used("large_bodies"), 0);
  (await reader.read(large(6), OWNER)).release();
});

/** A body that stands still once `octets` of it are there. */
function stalled(octets: number, headers: Source["headers"] = {}): Source {
  const stream = new Readable({ read: () => undefined });
  stream.push(Buffer.alloc(octets, "a"));
  const type = { "content-type": "application/x-www-form-urlencoded" };
  const sent = { ...type, "transfer-encoding": "chunked", ...headers };
  const made = { headers: sent, socket: new PassThrough() };
  return Object.assign(stream, made) as unknown as Source;
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test("a large body whose client leaves while it waits for a thread is dropped at once", async () => {
  const shares = createShares();
  const texts = shares.of("texts");
  const busy = await texts.wait("account:b");
  const reader = new BodyReader({
    shares,
    clock: manualClock(),
    decodeLarge: async (_order, owner, left) => {
      await texts.wait(owner, 1, left === undefined ? {} : { signal: left });
      return { kind: "none" };
    },
  });
  const large = source(["email=", "a".repeat(200_000)]);
  const dropped = assert.rejects(reader.read(large, OWNER), refusedWith(400));
  while (texts.waiting === 0) await turn();
  large.socket.destroy();
  await dropped;
  assert.equal(texts.waiting, 0);
  assert.equal(shares.of("large_bodies").used, 0);
  assert.equal(shares.of("small_bodies").used, 0);
  busy.release();
});

test("owners that fill all memory lose unfinished bodies to an owner with less", async () => {
  const { reader } = world();
  const held: Promise<unknown>[] = [];
  for (const owner of ["account:b", "account:c", "account:d"]) {
    for (let n = 0; n < 2; n += 1) held.push(reader.read(stalled(5 * MEGABYTE), { owner }));
  }
  const outcomes = held.map((reading) => reading.then(() => "read", noRoom("owner")));
  await turn();
  (await reader.read(large(6), OWNER)).release();
  const cut = await Promise.race([...outcomes, turn().then(() => "none was cut")]);
  assert.equal(cut, true);
});

test("small bodies have room while large ones fill theirs", async () => {
  const { reader, used } = world();
  for (let n = 0; n < 2; n += 1)
    void reader.read(stalled(5 * MEGABYTE), OWNER).catch(() => undefined);
  await turn();
  assert.equal(used("large_bodies"), 10 * MEGABYTE);
  const { body } = await reader.read(source(["email=a"], { "content-length": "7" }), OWNER);
  assert.deepEqual(body, FORM);
});

/** `octets` every `everyMs`, for `lastsMs`. */
const senders = [
  ["4 KiB a second are taken for 14 minutes", 4_096, 1_000, 840_000, "taken"],
  ["4 KiB a second in bursts of 16 KiB are taken", 16_384, 4_000, 60_000, "taken"],
  ["1 KiB a second is cut", 1_024, 1_000, 60_000, "cut"],
  ["a body that stands still is cut", 0, 1_000, 60_000, "cut"],
] as const;

for (const [name, octets, everyMs, lastsMs, want] of senders) {
  test(`a body of ${name}`, async () => {
    const { reader, clock, used } = world();
    const body = stalled(100, { "content-length": "4000000" });
    const reading = reader.read(body, OWNER).then(
      ({ release }) => (release(), "taken"),
      (error: unknown) => (refusedWith(408)(error) ? "cut" : error),
    );
    for (let passed = 0; passed < lastsMs; passed += 1_000) {
      if (passed % everyMs === 0 && octets > 0) body.push(Buffer.alloc(octets, "a"));
      await turn();
      clock.advance(1_000);
    }
    body.push(null);
    assert.equal(await reading, want);
    assert.equal(used("large_bodies"), 0);
  });
}

const broken = [
  [
    "a body that is not JSON",
    source(["{".repeat(60)], { "content-type": "application/json" }),
    400,
  ],
  ["a body over 6,100,000 octets", source(["a".repeat(6_100_001)]), 413],
  [
    "a broken multipart body",
    source(["x".repeat(90)], { "content-type": "multipart/form-data; boundary=x" }),
    400,
  ],
] as const;

for (const [name, request, status] of broken) {
  test(`${name} holds no memory once it is refused`, async () => {
    const { reader, used } = world();
    await assert.rejects(reader.read(request, OWNER), refusedWith(status));
    assert.deepEqual([used("small_bodies"), used("large_bodies")], [0, 0]);
  });
}

test("a connection that breaks in the middle is a body cut short, and holds no memory", async () => {
  const { reader, used } = world();
  const body = stalled(60);
  const reading = reader.read(body, OWNER);
  setImmediate(() => body.destroy(new Error("aborted")));
  await assert.rejects(reading, refusedWith(400));
  assert.equal(used("small_bodies"), 0);
});

const marked = [
  ["a form", {}, "email=a", FORM],
  ["JSON", { "content-type": "application/json" }, "{}", { kind: "json", value: {} }],
] as const;

for (const [name, headers, text, want] of marked) {
  test(`${name} may begin with a byte order mark`, async () => {
    const { body } = await readBody(source([`\ufeff${text}`], headers));
    assert.deepEqual(body, want);
  });
}

const MULTIPART = { "content-type": 'Multipart/Form-Data ; boundary="x y"' };

test("multipart/form-data is a form of texts, and holds its memory until it is answered", async () => {
  const { reader, used } = world();
  const text = '--x y\r\ncontent-disposition: form-data; name="email"\r\n\r\na@x\r\n--x y--\r\n';
  const { body, release } = await reader.read(source([text], MULTIPART), OWNER);
  assert.deepEqual(body.kind === "parts" && [...body.fields], [["email", ["a@x"]]]);
  assert.equal(used("small_bodies"), text.length);
  release();
  assert.equal(used("small_bodies"), 0);
});

test("empty chunked bodies count as absent, with any media type", async () => {
  for (const headers of [{}, JSON_HEADERS, MULTIPART]) {
    assert.deepEqual((await readBody(source([], headers))).body, { kind: "none" });
  }
});

const tooMany = [
  ["750,000 pairs", "email=a&".repeat(750_000), {}],
  [
    "two million JSON items",
    `{"email":["a"${',"a"'.repeat(1_500_000)}]}`,
    { "content-type": "application/json" },
  ],
] as const;

for (const [name, text, headers] of tooMany) {
  test(`${name} are refused by their count`, async () => {
    const terms = { ...OWNER, wanted: new Set(["email"]) };
    await assert.rejects(world().reader.read(source([text], headers), terms), refusedWith(413));
  });
}

const JSON_HEADERS = { "content-type": "application/json" };
const members = (count: number): string =>
  Array.from({ length: count }, (_, index) => `"${String(index)}":1`).join(",");
const builds = [
  ["brackets inside a text do not count", `{"email":"${"[".repeat(1_000)}"}`, true],
  ["an escaped quote does not end a text", `{"email":"\\"${"[".repeat(1_000)}"}`, true],
  ["sixteen levels are read", `{"x":${"[".repeat(15)}${"]".repeat(15)}}`, true],
  ["seventeen levels are refused", `{"x":${"[".repeat(16)}${"]".repeat(16)}}`, false],
  ["six megabytes of brackets are refused unparsed", "[".repeat(6_000_000), false],
  ["colons inside a text do not count", `{"email":"${":".repeat(8_000)}"}`, true],
  ["3,999 members are read, because the object counts too", `{${members(3_999)}}`, true],
  ["4,000 members are refused", `{${members(4_000)}}`, false],
  ["megabytes of empty objects are refused unparsed", `{"x":[${"{},".repeat(2_000_000)}1]}`, false],
  ["an array of 249,000 texts is read", `{"email":["a"${',"a"'.repeat(248_999)}]}`, true],
  ["a text without an end is refused", '{"email":"', false],
] as const;

for (const [name, text, isRead] of builds) {
  test(`JSON: ${name}`, async () => {
    const reading = readBody(source([text], JSON_HEADERS));
    if (isRead) assert.equal((await reading).body.kind, "json");
    else await assert.rejects(reading, refusedWith(400));
  });
}
