import { strict as assert } from "node:assert";
import { test, type TestContext } from "node:test";
import { createShares } from "../../base/shares.ts";
import { packFile } from "../../bulk/lists/list-store.ts";
import type { ListOrder, ListSource } from "../../bulk/lists/list-view.ts";
import type { FileOrder } from "../../http/api/read-file.ts";
import { threadTexts } from "./reading-thread.ts";

function world(t: TestContext) {
  const texts = threadTexts(createShares());
  t.after(texts.close);
  return texts;
}
const fileOf = (text: string, name = "list.csv"): FileOrder => ({
  chunks: [new Uint8Array(Buffer.from(text))],
  options: { name, entriesMax: null },
});

const names = (count: number): string =>
  Array.from({ length: count }, (_, at) => `u${String(at)}@b.example\n`).join("");

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

for (const addresses of [1, 12, 50]) {
  test(`a stranger's file is read third at the latest beside ${String(addresses)} addresses whose files take long`, async (t) => {
    const { readFile } = world(t);
    const order: string[] = [];
    const read = (owner: string, text: string): Promise<unknown> =>
      readFile(fileOf(text), owner).then(() => order.push(owner));
    // Named small, and slow: what it costs is known afterwards.
    const slow = '{"a":[[1]]}\n'.repeat(2_000);
    const first = read("0", names(60_000));
    const others = Array.from({ length: 2 * addresses }, (_, at) =>
      read(String(at % addresses), slow),
    );
    await first;
    await read("stranger", names(500));
    assert.ok(order.indexOf("stranger") <= 3, order.join(" "));
    await Promise.all(others);
    assert.equal(order.length, 2 * addresses + 2);
  });
}

test("a file whose client has left is not read, and one that is read for it is given up", async (t) => {
  const { readFile } = world(t);
  const left = new AbortController();
  const read = readFile(fileOf(names(700_000)), "a", left.signal);
  const waiting = readFile(fileOf(names(500)), "a", left.signal);
  const dropped = [read, waiting].map((one) => assert.rejects(one, { message: "left" }));
  await new Promise((resolve) => setTimeout(resolve, 50));
  left.abort(new Error("left"));
  await Promise.all(dropped);
  const { entries } = await readFile(fileOf("a@b.example\n"), "b");
  assert.equal("unique" in entries.split && entries.split.unique, 1);
});

test("threads take their heaps from one budget, and wait for it", async (t) => {
  const shares = createShares();
  const { readFile, split, lists, close } = threadTexts(shares);
  t.after(close);
  const [order, source] = await listOf(names(60_000));
  const large = names(100_000);
  let most = 0;
  const look = setInterval(() => {
    most = Math.max(most, shares.of("reading").used);
  }, 5);
  t.after(() => clearInterval(look));
  const work = [
    readFile(fileOf(large), "a"),
    split({ text: large, owner: "b", entriesMax: null }),
    lists.facts({ ...order, octets: large.length }, source),
  ];
  await Promise.all(work);
  assert.ok(most >= 288 && most <= 480, String(most));
  assert.equal(shares.of("reading").waiting, 0);
});
