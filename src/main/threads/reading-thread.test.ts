import { strict as assert } from "node:assert";
import { test, type TestContext } from "node:test";
import { leastOf, TURN_MAX_MS } from "../../../test/time/longest-turn.ts";
import { createShares } from "../../base/shares.ts";
import { Refusal } from "../../base/refusals.ts";
import { packFile } from "../../bulk/lists/list-store.ts";
import type { CleanedPiece } from "../../bulk/lists/list-reader.ts";
import type { ListOrder, ListSource } from "../../bulk/lists/list-view.ts";
import type { FileOrder } from "../../http/api/read-file.ts";
import { threadTexts, type ThreadTerms } from "./reading-thread.ts";

type Terms = Partial<Pick<ThreadTerms, "limitMs" | "heapMb">>;

function world(t: TestContext, terms: Terms = {}) {
  const texts = threadTexts(createShares(), terms);
  t.after(texts.close);
  return texts;
}

/** One for the tests that end no thread: to start one takes longer than most of the work here. */
const { readFile, lists, close } = threadTexts(createShares());
test.after(close);

const fileOf = (text: string, name = "list.csv"): FileOrder => ({
  chunks: [new Uint8Array(Buffer.from(text))],
  options: { name, entriesMax: null },
});

const names = (count: number): string =>
  Array.from({ length: count }, (_, at) => `u${String(at)}@b.example\n`).join("");

const refusedAs =
  (message: string) =>
  (why: unknown): boolean =>
    why instanceof Refusal && why.status === 400 && why.message === message;

/** Takes a second or more to read. */
const LARGE = names(500_000);

test("a file that takes its thread too long is refused by its name, and the next is read by another thread", async (t) => {
  const { readFile } = world(t, { limitMs: 600 });
  const refused = readFile(fileOf(LARGE, "slow\n.csv"), "a");
  await assert.rejects(
    refused,
    refusedAs("slow.csv takes more than 10 s to read. Split it, or save it as .csv."),
  );
  const { entries } = await readFile(fileOf(names(500)), "b");
  assert.equal("unique" in entries.split && entries.split.unique, 500);
});

test("a file that fills the heap is refused, and the next is read", async (t) => {
  const { readFile } = world(t, { heapMb: 16 });
  const refused = readFile(fileOf(LARGE), "a");
  await assert.rejects(
    refused,
    refusedAs("list.csv takes too much memory to read. Split it, or save it as .csv."),
  );
  const { entries } = await readFile(fileOf(names(500)), "b");
  assert.equal("unique" in entries.split && entries.split.unique, 500);
});

test("whose work took long is behind others, although the next is small", async () => {
  const order: string[] = [];
  const read = (owner: string, text: string): Promise<unknown> =>
    readFile(fileOf(text), owner).then(() => order.push(owner));
  await readFile(fileOf(names(50_000)), "a");
  const busy = read("c", names(10_000));
  await Promise.all([busy, read("a", names(500)), read("b", names(2_000))]);
  assert.deepEqual(order, ["c", "b", "a"]);
});

const TINY: readonly (readonly [name: string, text: string])[] = [
  [
    "a.jsonl",
    `{${Array.from({ length: 300 }, (_, at) => `"a${String(at)}":1,`).join("")}"b":1}\n${"{}\n".repeat(400)}`,
  ],
  ["a.csv", `email\n${"a,".repeat(2_000)}`],
  ["a.csv", `${"a,".repeat(1_000)}\n${"b\n".repeat(1_000)}`],
  ["a.csv", `email\n"${'""'.repeat(2_000)}"`],
  ["a.json", "[".repeat(4_096)],
  ["a.vcf", "BEGIN:VCARD\n".repeat(340)],
  ["a.txt", "<".repeat(4_096)],
  ["a.txt", `a${" ".repeat(4_000)}b`],
  ["a.txt", "a@".repeat(2_000)],
];

test("a file of some lines waits for no other, and takes less than 50 ms whatever is in it", async (t) => {
  const shares = createShares();
  const place = await shares.of("files").wait("busy");
  const { readFile, close } = threadTexts(shares);
  t.after(close);
  for (const [name, text] of TINY) {
    const least = await leastOf(async () => {
      const before = process.cpuUsage().user;
      await readFile(fileOf(text, name), "a").catch(() => undefined);
      return (process.cpuUsage().user - before) / 1_000;
    });
    assert.ok(least <= TURN_MAX_MS, `${name}: ${least.toFixed(1)} ms`);
  }
  place.release();
});

async function listOf(list: string, text: string): Promise<readonly [ListOrder, ListSource]> {
  const parts = await packFile([new Uint8Array(Buffer.from(text))]);
  const source: ListSource = {
    part: (number) => Promise.resolve(parts[number]),
    results: () => Promise.resolve(undefined),
    fixes: () => Promise.resolve(new Set()),
  };
  const order = { owner: "a", list, version: "1", options: {}, octets: 1, sessions: [] };
  return [order, source];
}

const ANY = { class: "", why: "", text: "", from: 0, count: 2 } as const;

test("a list is read, searched and written in its thread", async () => {
  const [order, source] = await listOf("long", names(12_000));
  const facts = await lists.facts(order, source);
  assert.deepEqual([facts.rows, facts.open], [12_000, 12_000]);
  const query = { ...ANY, text: "U1199" };
  const found = await lists.rows({ ...order, query }, source);
  assert.deepEqual(
    [found.total, found.rows.map(({ entry }) => entry)],
    [11, ["u1199@b.example", "u11990@b.example"]],
  );
  const [wanted, given] = [
    { stream: "s", classes: ["unchecked"], columns: "all", form: "rows" } as const,
    [],
  ] as const;
  const csv: CleanedPiece[] = [...given];
  for (let number = 0; ; number += 1) {
    const piece = await lists.piece({ ...order, ...wanted, number }, source);
    if (piece === undefined) break;
    csv.push(piece);
  }
  assert.ok(csv.length > 2);
  assert.equal(
    csv.reduce((sum, { length }) => sum + length, 0),
    12_001,
  );
  const second = await lists.piece({ ...order, ...wanted, stream: "again", number: 1 }, source);
  assert.deepEqual(second, csv[1], "a stream that was forgotten goes on where it was");
});

test("a store that fails is its list's fault, and the thread goes on", async () => {
  const [order, source] = await listOf("broken", names(3));
  const broken = { ...source, part: () => Promise.reject(new Error("the store is away")) };
  await assert.rejects(lists.facts(order, broken), { message: "the store is away" });
  assert.equal((await lists.facts(order, source)).rows, 3);
});

test("who closes while a file is read is told", async () => {
  const { readFile, close } = threadTexts(createShares());
  const reading = readFile(fileOf(names(100_000)), "a");
  const told = assert.rejects(reading, { message: "the reading thread was closed" });
  await new Promise((resolve) => setImmediate(resolve));
  await close();
  await told;
});
