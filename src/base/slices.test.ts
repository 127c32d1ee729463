import { strict as assert } from "node:assert";
import { test } from "node:test";
import { inSlices, nextSlice } from "./slices.ts";

function* noting(name: string, order: string[]): Generator<undefined, string> {
  for (let slice = 1; slice <= 3; slice += 1) {
    order.push(`${name}${String(slice)}`);
    yield;
  }
  return name;
}

test("works take turns, and no two slices run in one round of the event loop", async () => {
  const order: string[] = [];
  let isOver = false;
  const round = (): void => {
    order.push("|");
    if (!isOver) setImmediate(round);
  };
  setImmediate(round);
  const works = ["a", "b", "c"].map((name) => inSlices(noting(name, order)));
  assert.deepEqual(await Promise.all(works), ["a", "b", "c"]);
  isOver = true;
  const slices = order.filter((each) => each !== "|");
  assert.deepEqual(slices, ["a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3"]);
  // The first slices run where the work begins; each later one has a round of its own.
  assert.doesNotMatch(order.slice(3).join(""), /\d[a-z]/);
});

test("work that comes while others wait has its turn after theirs", async () => {
  const order: string[] = [];
  const note = async (name: string): Promise<void> => {
    await nextSlice();
    order.push(name);
  };
  const first = [note("a"), note("b")];
  const late = nextSlice().then(() => note("c"));
  await Promise.all([...first, late]);
  await note("d");
  assert.deepEqual(order, ["a", "b", "c", "d"]);
});
