import { strict as assert } from "node:assert";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { endOfTurn } from "./answer.ts";

test("answers of one turn of the event loop go out one after the other at its end", async () => {
  const seen: string[] = [];
  const answer = async (name: string): Promise<void> => {
    await endOfTurn();
    seen.push(name);
  };
  const answers = [answer("first"), Promise.resolve().then(() => answer("second"))];
  setImmediate(() => seen.push("next turn"));
  await Promise.all(answers);
  assert.deepEqual(seen, ["first", "second"]);
  await nextTurn();
  await answer("third");
  assert.deepEqual(seen, ["first", "second", "next turn", "third"]);
});
