import { strict as assert } from "node:assert";
import { test } from "node:test";
import { createShares, NoRoom } from "../../base/shares.ts";
import { type FileOrder, readFile as readHere } from "../../http/api/read-file.ts";
import { decodeBody, type DecodeOrder } from "../../http/decode.ts";
import { Refusal } from "../../base/refusals.ts";
import { threadTexts } from "./reading-thread.ts";

const A = "a";

/** Lines of names of nine labels of one Chinese character each. */
const chinese = (lines: number): string =>
  Array.from({ length: lines }, (_, line) =>
    Array.from({ length: 9 }, (_label, at) => String.fromCodePoint(0x4e00 + line + at * 997)).join(
      ".",
    ),
  ).join("\n");

const plain = (lines: number): string =>
  Array.from({ length: lines }, (_, line) => `user${String(line)}@example.com`).join("\n");

/** To start a thread takes longer than most of the work here. */
const { split, decode, readFile, close } = threadTexts(createShares());
test.after(close);

function world() {
  const order: string[] = [];
  const run = async (name: string, text: string, entriesMax: number | null = null) => {
    const owner = name.slice(0, 1);
    const batch = await split({ text, owner, entriesMax });
    order.push(name);
    return batch;
  };
  return { run, order };
}

test("owner B's large text is split before owner A's second", async () => {
  const { run, order } = world();
  await Promise.all([
    run("a1", plain(20_000)),
    run("a2", plain(20_000)),
    run("a3", plain(20_000)),
    run("b1", plain(5_000)),
  ]);
  assert.ok(order.indexOf("b1") < order.indexOf("a2"));
});

test("a text of up to 64 KiB waits for no other", async () => {
  const { run, order } = world();
  const large = [run("a1", plain(60_000)), run("b1", plain(60_000)), run("c1", plain(60_000))];
  const small = await run("a2", plain(2_000));
  assert.equal("unique" in small && small.unique, 2_000);
  assert.deepEqual(order, ["a2"]);
  await Promise.all(large);
});

test("a text of far too many spellings is refused by their count, and one of a few too many by its entries", async () => {
  const { run } = world();
  assert.deepEqual(await run("a", chinese(50_000), 10_000), { kind: "too_many", count: 50_000 });
  assert.deepEqual(await run("a", plain(10_001), 10_000), { kind: "too_many", count: 10_001 });
  assert.deepEqual(await run("a", chinese(20_000), 10_000), { kind: "too_many", count: 20_000 });
});

test("spellings in other cases are not counted twice where the limit allows them", async () => {
  const { run } = world();
  const text = `${plain(6_000)}\n${plain(6_000).toUpperCase()}`;
  const batch = await run("a", text, 10_000);
  assert.equal("unique" in batch && batch.unique, 6_000);
});

test("an owner with too many texts waiting is refused, another is served", async () => {
  const { run } = world();
  const outcomes = Array.from({ length: 20 }, (_, at) =>
    run(`a${String(at)}`, plain(5_000)).then(
      () => "split",
      (why: unknown) => (why instanceof NoRoom ? why.why : "fault"),
    ),
  );
  assert.equal("unique" in (await run("b", plain(5_000))), true);
  const seen = await Promise.all(outcomes);
  assert.equal(seen.filter((outcome) => outcome === "owner").length, 3);
});

const WANTED = new Set(["email", "features"]);

/** Two chunks, each of its own memory, as those of a large body are: they are given to the thread. */
const owned = (octets: Buffer): Uint8Array[] => [
  new Uint8Array(octets.subarray(0, 70_000)),
  new Uint8Array(octets.subarray(70_000)),
];

const orderOf = (kind: DecodeOrder["kind"], text: string, type = ""): DecodeOrder => ({
  kind,
  type,
  wanted: WANTED,
  chunks: owned(Buffer.from(text)),
});

const MULTIPART = "multipart/form-data; boundary=x";
const PART = `--x\r\ncontent-disposition: form-data; name="email"\r\n\r\n${plain(9_000)}\r\n--x--\r\n`;
const ITEMS = JSON.stringify(plain(9_000).split("\n"));

const bodies: readonly (readonly [name: string, order: () => DecodeOrder])[] = [
  ["a form", () => orderOf("form", `email=${plain(9_000)}&features=role`)],
  ["JSON", () => orderOf("json", `{"email":${ITEMS},"features":"role","x":[1,2]}`)],
  ["multipart/form-data", () => orderOf("parts", PART, MULTIPART)],
];

for (const [name, order] of bodies) {
  test(`${name} is read in the thread as it is read here`, async () => {
    const body = await decode(order(), A);
    assert.notEqual(body.kind, "none");
    assert.deepEqual(body, await decodeBody(order()));
  });
}

test("a body that cannot be read is refused in the thread's words", async () => {
  const refused = decode(orderOf("json", `{"email":${ITEMS}`), A);
  await assert.rejects(refused, (why) => why instanceof Refusal && why.code === "invalid_json");
});

test("of large JSON, members that nobody asked for stay in the thread", async () => {
  const numbers = `[${"1,".repeat(50_000)}1]`;
  const body = await decode(
    orderOf("json", `{"email":${numbers},"x":${numbers},"features":"role"}`),
    A,
  );
  assert.deepEqual(body.kind === "json" && body.value, { email: [null], features: "role" });
});

test("a file is read in the thread as it is read here, and refused in the same words", async () => {
  const table = Buffer.from(`email,name\n${plain(9_000).replaceAll("\n", ",x\n")},x\n`);
  const order = (column?: string): FileOrder => ({
    chunks: owned(table),
    options: { name: "list.csv", entriesMax: null, ...(column === undefined ? {} : { column }) },
  });
  assert.deepEqual(await readFile(order(), A), await readHere(order()));
  const missing = readFile(order("mail"), A);
  await assert.rejects(missing, (why) => why instanceof Refusal && why.status === 400);
});
