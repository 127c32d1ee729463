import { strict as assert } from "node:assert";
import { test } from "node:test";
import { Turns } from "./turns.ts";

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Begins pieces and notes when. */
function begins(turns: Turns, order: string[]) {
  return (name: string, amount = 1): void => {
    const begin = (): void => void order.push(name);
    if (turns.take(amount, () => name.slice(0, 1), begin)) begin();
  };
}

test("what one turn has no room for is begun in later ones, an owner after the other", async () => {
  const order: string[] = [];
  const begin = begins(new Turns(2), order);
  for (const name of ["a1", "a2", "a3", "a4", "a5", "b1", "b2", "c1"]) begin(name);
  assert.deepEqual(order, ["a1", "a2"]);
  await turn();
  assert.deepEqual(order.slice(2), ["a3", "b1"]);
  begin("d1");
  await turn();
  assert.deepEqual(order.slice(4), ["c1", "a4"]);
  await turn();
  assert.deepEqual(order.slice(6), ["b2", "d1"]);
  await turn();
  assert.deepEqual(order.slice(8), ["a5"]);
});

test("after a turn without work the next is begun at once", async () => {
  const order: string[] = [];
  const turns = new Turns(1);
  const begin = begins(turns, order);
  begin("a1");
  begin("a2");
  assert.equal(turns.waitingOf("a"), 1);
  await turn();
  await turn();
  assert.deepEqual([turns.waiting, turns.waitingOf("a"), turns.waitingOf("b")], [0, 0, 0]);
  begin("a3");
  assert.deepEqual(order, ["a1", "a2", "a3"]);
});

test("a piece that is larger than a turn is begun alone", async () => {
  const order: string[] = [];
  const begin = begins(new Turns(10), order);
  for (const name of ["a1", "b1", "c1"]) begin(name, 25);
  assert.deepEqual(order, ["a1"]);
  await turn();
  assert.deepEqual(order, ["a1", "b1"]);
});

test("small pieces go ahead of others' large ones, which are not passed for ever", async () => {
  const order: string[] = [];
  const begin = begins(new Turns(16), order);
  for (const name of ["a1", "a2", "b1", "c1"]) begin(name, 16);
  for (const name of ["s1", "s2", "s3"]) begin(name);
  await turn();
  assert.deepEqual(order, ["a1", "s1", "s2", "s3", "a2"]);
  for (let at = 0; order.at(-1) !== "b1"; at += 1) {
    assert.ok(at < 16, "it is passed by a turn's worth of small ones at most");
    begin(`t${String(at)}`);
    await turn();
  }
});
