import { strict as assert } from "node:assert";
import { Readable } from "node:stream";
import { test } from "node:test";
import type { FastifyRequest } from "fastify";
import { Refusal } from "../../service/refusals.ts";
import { createBodyReader } from "./body.ts";

type Source = FastifyRequest["raw"];

/** What a request looks like to the reader. */
function source(chunks: readonly string[], headers: Source["headers"] = {}): Source {
  const type = { "content-type": "application/x-www-form-urlencoded" };
  const stream = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  return Object.assign(stream, {
    headers: { ...type, "transfer-encoding": "chunked", ...headers },
  }) as unknown as Source;
}

const refusedWith =
  (status: number) =>
  (error: unknown): boolean =>
    error instanceof Refusal && error.status === status;

test("bodies under way share one memory, and an answered request gives its part back", async () => {
  const reader = createBodyReader(100);
  const first = await reader.read(source(["a".repeat(60)]));
  await assert.rejects(reader.read(source(["b".repeat(60)])), refusedWith(503));
  const small = await reader.read(source(["c".repeat(40)]));
  first.release();
  small.release();
  const full = await reader.read(source(["d".repeat(50), "d".repeat(50)]));
  assert.deepEqual(full.body, { kind: "form", text: "d".repeat(100) });
});

test("giving back twice gives back once", async () => {
  const reader = createBodyReader(100);
  const { release } = await reader.read(source(["a".repeat(100)]));
  release();
  release();
  await assert.rejects(reader.read(source(["b".repeat(101)])), refusedWith(503));
});

const broken = [
  ["a body that is no JSON", source(["{".repeat(60)], { "content-type": "application/json" }), 400],
  ["a body over 6,100,000 octets", source(["a".repeat(6_100_001)]), 413],
] as const;

for (const [name, request, status] of broken) {
  test(`${name} holds no memory once it is refused`, async () => {
    const reader = createBodyReader(7_000_000);
    await assert.rejects(reader.read(request), refusedWith(status));
    const { release } = await reader.read(source(["a".repeat(6_100_000)]));
    release();
  });
}

test("a connection that breaks in the middle is a body cut short, and holds no memory", async () => {
  const reader = createBodyReader(100);
  const stalled = new Readable({ read: () => undefined });
  const { headers } = source([]);
  const reading = reader.read(Object.assign(stalled, { headers }) as unknown as Source);
  stalled.push("a".repeat(60));
  setImmediate(() => stalled.destroy(new Error("aborted")));
  await assert.rejects(reading, refusedWith(400));
  const { body } = await reader.read(source(["b".repeat(100)]));
  assert.equal(body.kind, "form");
});

const marked = [
  ["a form", {}, "email=a", { kind: "form", text: "email=a" }],
  ["JSON", { "content-type": "application/json" }, "{}", { kind: "json", value: {} }],
] as const;

for (const [name, headers, text, want] of marked) {
  test(`${name} may begin with a byte order mark`, async () => {
    const { body } = await createBodyReader().read(source([`\ufeff${text}`], headers));
    assert.deepEqual(body, want);
  });
}

const MULTIPART = { "content-type": 'Multipart/Form-Data ; boundary="x y"' };

test("multipart/form-data is a form of texts, and holds its memory until it is answered", async () => {
  const reader = createBodyReader(100);
  const text = '--x y\r\ncontent-disposition: form-data; name="email"\r\n\r\na@x\r\n--x y--\r\n';
  const { body, release } = await reader.read(source([text], MULTIPART));
  assert.deepEqual(body.kind === "parts" && [...body.parts.texts], [["email", ["a@x"]]]);
  await assert.rejects(reader.read(source(["b".repeat(60)])), refusedWith(503));
  release();
  (await reader.read(source(["b".repeat(100)]))).release();
});

test("a broken multipart body holds no memory once it is refused", async () => {
  const reader = createBodyReader(100);
  await assert.rejects(reader.read(source(["x".repeat(90)], MULTIPART)), refusedWith(400));
  (await reader.read(source(["b".repeat(100)]))).release();
});

test("chunked bodies of nothing are none, whatever they claim to be", async () => {
  for (const headers of [{}, JSON_HEADERS, MULTIPART]) {
    assert.deepEqual((await createBodyReader().read(source([], headers))).body, { kind: "none" });
  }
});

const JSON_HEADERS = { "content-type": "application/json" };
const members = (count: number): string =>
  Array.from({ length: count }, (_, index) => `"${String(index)}":1`).join(",");
const builds = [
  ["brackets inside a text do not count", `{"email":"${"[".repeat(1_000)}"}`, true],
  ["an escaped quote does not end a text", `{"email":"\\"${"[".repeat(1_000)}"}`, true],
  ["sixteen levels are read", `{"x":${"[".repeat(15)}${"]".repeat(15)}}`, true],
  ["seventeen levels are refused", `{"x":${"[".repeat(16)}${"]".repeat(16)}}`, false],
  ["six megabytes of brackets are refused unparsed", "[".repeat(6_000_000), false],
  ["colons inside a text do not count", `{"email":"${":".repeat(2_000)}"}`, true],
  ["999 members are read, for the object counts too", `{${members(999)}}`, true],
  ["a thousand members are refused", `{${members(1_000)}}`, false],
  ["megabytes of empty objects are refused unparsed", `{"x":[${"{},".repeat(2_000_000)}1]}`, false],
  ["an array of a million texts is read", `{"email":["a"${',"a"'.repeat(999_999)}]}`, true],
  ["a text without an end is refused", '{"email":"', false],
] as const;

for (const [name, text, isRead] of builds) {
  test(`JSON: ${name}`, async () => {
    const reading = createBodyReader(7_000_000).read(source([text], JSON_HEADERS));
    if (isRead) assert.equal((await reading).body.kind, "json");
    else await assert.rejects(reading, refusedWith(400));
  });
}
