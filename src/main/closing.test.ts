import assert from "node:assert/strict";
import { test } from "node:test";
import { Closing } from "./process.ts";

test("what was opened last is closed first, and each thing once", async () => {
  const closing = new Closing();
  const closed: string[] = [];
  for (const name of ["database", "lists", "listener"]) closing.add(() => void closed.push(name));
  await closing.close();
  await closing.close();
  assert.deepEqual(closed, ["listener", "lists", "database"]);
});

test("a listener that cannot be closed leaves no database open, and the caller gets its fault", async () => {
  const closing = new Closing();
  const closed: string[] = [];
  closing.add(() => void closed.push("database"));
  closing.add(() => Promise.reject(new Error("lists")));
  closing.add(() => Promise.reject(new Error("listener")));
  await assert.rejects(closing.close(), /^Error: listener$/);
  assert.deepEqual(closed, ["database"]);
});
