import { strict as assert } from "node:assert";
import { test, type TestContext } from "node:test";
import { createShares } from "../../base/shares.ts";
import { Refusal } from "../../base/refusals.ts";
import { packFile } from "../../bulk/list-store.ts";
import type { CleanedRows, ListOrder, ListSource } from "../../bulk/list-view.ts";
import type { FileOrder } from "../../http/api/read-file.ts";
import { threadTexts, type ThreadTerms } from "./reading-thread.ts";

type Terms = Partial<Pick<ThreadTerms, "limitMs" | "heapMb">>;

function world(t: TestContext, terms: Terms = {}) {
  const texts = threadTexts(createShares(), terms);
  t.after(texts.close);
  return texts;
}

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

test("a file that takes its thread too long is refused by its name, and the next is read by another thread", async (t) => {
  const { readFile } = world(t, { limitMs: 300 });
  const refused = readFile(fileOf(names(700_000), "slow\n.csv"), "a");
  await assert.rejects(
    refused,
    refusedAs("slow.csv takes more than 10 s to read. Split it, or save it as .csv."),
  );
  const { entries } = await readFile(fileOf("a@b.example\n"), "b");
  assert.equal("unique" in entries.split && entries.split.unique, 1);
});

test("a file that fills the heap is refused, and the next is read", async (t) => {
  const { readFile } = world(t, { heapMb: 16 });
  const refused = readFile(fileOf(names(700_000)), "a");
  await assert.rejects(
    refused,
    refusedAs("list.csv takes too much memory to read. Split it, or save it as .csv."),
  );
  const { entries } = await readFile(fileOf("a@b.example\n"), "b");
  assert.equal("unique" in entries.split && entries.split.unique, 1);
});

test("whose work took long is behind others, although the next is small", async (t) => {
  const { readFile } = world(t);
  const order: string[] = [];
  const read = (owner: string, text: string): Promise<unknown> =>
    readFile(fileOf(text), owner).then(() => order.push(owner));
  await readFile(fileOf(names(300_000)), "a");
  const busy = read("c", names(50_000));
  await Promise.all([busy, read("a", "a@b.example\n"), read("b", names(2_000))]);
  assert.deepEqual(order, ["c", "b", "a"]);
});

async function listOf(text: string): Promise<readonly [ListOrder, ListSource]> {
  const parts = await packFile([new Uint8Array(Buffer.from(text))]);
  const source: ListSource = {
    part: (number) => Promise.resolve(parts[number]),
    results: () => Promise.resolve(undefined),
    fixes: () => Promise.resolve(new Set()),
  };
  const order = { owner: "a", list: "l", version: "1", options: {}, octets: 1, sessions: [] };
  return [order, source];
}

const ANY = { class: "", why: "", text: "", from: 0, count: 2 } as const;

test("a list is read, searched and written in its thread", async (t) => {
  const { lists } = world(t);
  const [order, source] = await listOf(names(30_000));
  const facts = await lists.facts(order, source);
  assert.deepEqual([facts.rows, facts.open], [30_000, 30_000]);
  const query = { ...ANY, text: "U2999" };
  const found = await lists.rows({ ...order, query }, source);
  assert.deepEqual(
    [found.total, found.rows.map(({ entry }) => entry)],
    [11, ["u2999@b.example", "u29990@b.example"]],
  );
  const [wanted, given] = [
    { stream: "s", classes: ["unchecked"] as const, columns: "all" as const },
    [],
  ] as const;
  const csv: CleanedRows[] = [...given];
  for (let number = 0; ; number += 1) {
    const piece = await lists.piece({ ...order, ...wanted, number }, source);
    if (piece === undefined) break;
    csv.push(piece);
  }
  assert.ok(csv.length > 2);
  assert.equal(csv.flat().length, 30_001);
  const second = await lists.piece({ ...order, ...wanted, stream: "again", number: 1 }, source);
  assert.deepEqual(second, csv[1], "a stream that was forgotten goes on where it was");
});

test("a store that fails is its list's fault, and the thread goes on", async (t) => {
  const { lists } = world(t);
  const [order, source] = await listOf(names(3));
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
