import assert from "node:assert/strict";
import { test } from "node:test";
import { Lane } from "./lane.ts";

/** A lane of items that are named after their owner: "A1". What begins with "x" has none. */
function world(size: number, perTurn?: number) {
  const started: string[] = [];
  const itemOf = (name: string) => ({
    name,
    by: name.startsWith("x") ? undefined : name.slice(0, 1),
  });
  const lane = new Lane<ReturnType<typeof itemOf>>({
    start: ({ name }) => void started.push(name),
    size: () => size,
    ...(perTurn !== undefined && { perTurn }),
  });
  const end = (name: string, answered = true): void => {
    lane.over(itemOf(name), answered);
    lane.release(itemOf(name));
  };
  return {
    started,
    lane,
    add: (...names: string[]) => names.forEach((name) => lane.add(itemOf(name))),
    retry: (name: string) => lane.retry(itemOf(name)),
    /** Its place is free, and it is not over. */
    release: (name: string) => lane.release(itemOf(name)),
    end,
  };
}

test("items of one owner start in their order, its retries first", () => {
  const { started, add, retry, end } = world(1);
  add("A1", "A2", "A3");
  retry("A1");
  for (const item of ["A1", "A2", "A3"]) end(item);
  assert.deepEqual(started, ["A1", "A1", "A2", "A3"]);
});

test("so many items start in one turn of the event loop, and the others in later ones", async () => {
  const { started, add } = world(100, 2);
  const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
  add("A1", "A2", "A3", "A4", "A5");
  assert.deepEqual(started, ["A1", "A2"]);
  add("B1");
  await turn();
  assert.deepEqual(started.slice(2), ["B1", "A3"]);
  await turn();
  assert.deepEqual(started.slice(4), ["A4", "A5"]);
  await turn();
  await turn();
  add("B2");
  assert.deepEqual(started.slice(6), ["B2"]);
});

test("free places go to the owners in turn", () => {
  const { started, add, end } = world(2);
  add("A1", "A2", "A3", "A4", "B1", "B2");
  for (const item of ["A1", "A2", "B1", "A3"]) end(item);
  assert.deepEqual(started, ["A1", "A2", "B1", "A3", "B2", "A4"]);
});

test("an owner whose items get no answer waits for many of another", () => {
  const { started, add, end } = world(1);
  add("A1", "A2", "A3", ...Array.from({ length: 30 }, (_, n) => `B${String(n)}`));
  end("A1", false);
  for (const item of started.slice(1)) end(item);
  while (started.length < 33) end(started.at(-1) ?? "");
  assert.deepEqual(started.slice(-2), ["A2", "A3"]);
});

test("an owner's retries do not go before the first tries of one who had fewer places", () => {
  const { started, add, retry, release } = world(2);
  add("A1", "A2", "A3");
  add("B1");
  retry("A1");
  release("A1"); // the time of its first try is over
  release("A2");
  assert.deepEqual(started, ["A1", "A2", "B1", "A1"]);
});

test("an owner that comes later has no credit from the time before", () => {
  const { started, add, end } = world(1);
  add("A1", "A2", "A3");
  end("A1"); // A2 starts, and from here on both are alike
  add("B1", "B2", "B3");
  for (const item of ["A2", "B1", "B2"]) end(item);
  assert.deepEqual(started, ["A1", "A2", "B1", "A3", "B2"]);
});

test("an owner has an eighth of the window, and a place more for each answer", () => {
  const { started, add, end } = world(80);
  add(...Array.from({ length: 40 }, (_, at) => `A${String(at)}`));
  assert.equal(started.length, 10);
  for (let n = 0; n < 3; n += 1) end("A");
  assert.equal(started.length, 16); // 3 that ended, 10, and 3 that they earned
  end("A", false);
  assert.equal(started.length, 16); // a silent one costs four answers
});

test("what the program asks itself has a turn like an owner, and all places", () => {
  const { started, add, end } = world(20);
  add(...Array.from({ length: 20 }, (_, at) => `x${String(at)}`), "A1", "x20", "x21");
  assert.equal(started.length, 20);
  end("x0");
  end("x1");
  assert.deepEqual(started.slice(20), ["A1", "x20"]);
});

test("there is room while no more items of an owner wait than may be under way", async () => {
  const { add, lane, release } = world(1);
  add("A0", "A1", "A2", "A3");
  assert.equal(lane.room("A"), undefined);
  add("A4");
  let isRoom = false;
  void lane.room("A")?.then(() => (isRoom = true));
  assert.equal(lane.room("B"), undefined, "what others have matters to nobody");
  release("A0");
  await Promise.resolve();
  assert.equal(isRoom, true);
});

test("what the program asks itself has room for 256 items, and an owner for its part", () => {
  const { add, lane } = world(80);
  add(...Array.from({ length: 80 + 255 }, (_, at) => `x${String(at)}`));
  assert.equal(lane.room(), undefined);
  add("x");
  assert.notEqual(lane.room(), undefined);
  for (const owner of "ABCDEFGHI") add(...Array.from({ length: 8 }, () => `${owner}1`));
  assert.notEqual(lane.room("A"), undefined);
});

test("many owners that nobody answers leave half of the window to others", () => {
  const { started, add, end } = world(800);
  for (let at = 0; at < 20; at += 1) {
    add(...Array.from({ length: 200 }, () => String.fromCodePoint(65 + at)));
  }
  assert.ok(started.length <= 400 + 100 + 20 * 4, String(started.length));
  add(...Array.from({ length: 500 }, () => "Z"));
  const victim = (): number => started.filter((name) => name === "Z").length;
  assert.ok(victim() >= 4);
  for (let ended = 0; ended < 300; ended += 1) end("Z");
  assert.ok(victim() > 400, String(victim()));
});
