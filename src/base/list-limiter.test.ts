import { strict as assert } from "node:assert";
import { test } from "node:test";
import { ListLimiter } from "./list-limiter.ts";

const limiterOf = (window: number, ...owners: readonly string[]): ListLimiter => {
  const limiter = new ListLimiter(() => window);
  for (const owner of owners) limiter.addChunk(owner);
  return limiter;
};

/** Begins as many names as may begin at once. */
function fill(limiter: ListLimiter, owner: string, names: number): number {
  let begun = 0;
  for (; begun < names && limiter.mayBegin(owner); begun += 1) limiter.begin(owner);
  return begun;
}

function end(limiter: ListLimiter, owner: string, names: number, isAnswered: boolean): void {
  for (let ended = 0; ended < names; ended += 1) limiter.end(owner, isAnswered);
}

test("an owner whose names nobody answers has an eighth of the window at once", () => {
  assert.equal(fill(limiterOf(800, "a"), "a", 500), 100);
});

test("an owner whose names are answered has the whole window soon", () => {
  const limiter = limiterOf(800, "a");
  let begun = 0;
  for (let round = 0; round < 5; round += 1) {
    begun = fill(limiter, "a", 2_000);
    end(limiter, "a", begun, true);
  }
  assert.ok(begun > 800);
});

test("an owner with many answers keeps the window when its silent names end together", () => {
  const limiter = limiterOf(800, "a");
  for (let name = 0; name < 5_000; name += 1) {
    limiter.begin("a");
    limiter.end("a", true);
  }
  fill(limiter, "a", 1_000);
  end(limiter, "a", 500, false);
  assert.equal(fill(limiter, "a", 300), 300);
});

test("fifty owners behind silent servers leave room for another", () => {
  const silent = Array.from({ length: 50 }, (_, n) => `silent ${String(n)}`);
  const limiter = limiterOf(800, ...silent);
  for (let round = 0; round < 3; round += 1) {
    for (const owner of silent) end(limiter, owner, fill(limiter, owner, 500), false);
  }
  const held = silent.reduce((sum, owner) => sum + fill(limiter, owner, 500), 0);
  assert.ok(held <= 600, String(held));
  limiter.addChunk("victim");
  let begun = fill(limiter, "victim", 500);
  assert.ok(begun >= 4);
  for (let round = 0; round < 8; round += 1) {
    end(limiter, "victim", begun, true);
    begun = fill(limiter, "victim", 500);
  }
  assert.ok(begun > 200, String(begun));
});

test("owners that come one after the other never fill the window with silent names", () => {
  const limiter = limiterOf(800);
  const held = Array.from({ length: 50 }, (_, n) => {
    limiter.addChunk(`silent ${String(n)}`);
    return fill(limiter, `silent ${String(n)}`, 500);
  });
  assert.ok(held.reduce((sum, each) => sum + each, 0) <= 400 + 100 + 50 * 4);
  limiter.addChunk("victim");
  assert.ok(fill(limiter, "victim", 500) >= 4);
});

test("an owner is forgotten with its last chunk", () => {
  const limiter = limiterOf(800, "a", "a");
  limiter.removeChunk("a");
  assert.equal(limiter.owners.size, 1);
  limiter.removeChunk("a");
  assert.equal(limiter.owners.size, 0);
});
