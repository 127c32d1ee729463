import { strict as assert } from "node:assert";
import { once } from "node:events";
import { getPriority } from "node:os";
import { test } from "node:test";
import { Worker } from "node:worker_threads";

const MODULE = new URL("./tasks.js", import.meta.url).href;

/** The priority of a thread that has lowered its own `by` so much. */
async function loweredBy(by: number): Promise<unknown> {
  const source = `
    const { parentPort } = require("node:worker_threads");
    import(${JSON.stringify(MODULE)}).then(({ lowerPriority }) => {
      lowerPriority(${String(by)});
      parentPort.postMessage(require("node:os").getPriority());
    });`;
  const [priority] = (await once(new Worker(source, { eval: true }), "message")) as [unknown];
  return priority;
}

test("a thread lowers its own priority, from that of the process", async (t) => {
  if (process.platform !== "linux") return t.skip("elsewhere priorities are those of processes");
  const before = getPriority();
  assert.equal(await loweredBy(3), Math.min(19, before + 3));
  assert.equal(await loweredBy(40), 19);
  assert.equal(getPriority(), before);
});
