import { strict as assert } from "node:assert";
import { once } from "node:events";
import { getPriority } from "node:os";
import { test } from "node:test";
import { Worker } from "node:worker_threads";

const MODULE = new URL("./tasks.js", import.meta.url).href;

/** The priorities of a thread that lowers its own by each of `steps`. */
async function loweredBy(...steps: readonly number[]): Promise<unknown> {
  const source = `
    const { parentPort } = require("node:worker_threads");
    import(${JSON.stringify(MODULE)}).then(({ lowerPriority }) => {
      parentPort.postMessage(${JSON.stringify(steps)}.map((by) => {
        lowerPriority(by);
        return require("node:os").getPriority();
      }));
    });`;
  const [priorities] = (await once(new Worker(source, { eval: true }), "message")) as [unknown];
  return priorities;
}

test("a thread lowers its own priority, from that of the process", async (t) => {
  if (process.platform !== "linux") return t.skip("elsewhere priorities are those of processes");
  const before = getPriority();
  assert.deepEqual(await loweredBy(3, 40), [Math.min(19, before + 3), 19]);
  assert.equal(getPriority(), before);
});
