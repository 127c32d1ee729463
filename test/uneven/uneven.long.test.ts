import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Sample } from "./sample.ts";

const preload = new URL("./preload.js", import.meta.url).href;
const program = fileURLToPath(new URL("./sample.js", import.meta.url));

async function sampleOf(more: NodeJS.ProcessEnv): Promise<Sample> {
  const env = { ...process.env, NODE_OPTIONS: `--import ${preload}`, ...more };
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env });
  return JSON.parse(stdout) as Sample;
}

const numbers = Array.from({ length: 30 }, (_, index) => index);
const inOrder = (heard: readonly number[]) => heard.toSorted((a, b) => a - b);

for (const [name, environment] of [
  ["late answers", { UNEVEN_SEED: "1", UNEVEN_STALL_MS: "0" }],
  ["late answers and a process without turns", { UNEVEN_SEED: "2", UNEVEN_STALL_MS: "100" }],
] as const) {
  test(`${name}: everything arrives, each source in its order, and sources overtake each other`, async () => {
    const { texts, connections, datagrams, thread, child, ends, uploads } =
      await sampleOf(environment);
    assert.deepEqual(
      texts,
      numbers.map((number) => `${String(number).padStart(2, "0")} a b c`),
      "what was written before a connection was cut",
    );
    for (const heard of [connections, datagrams]) {
      assert.deepEqual(inOrder(heard), numbers);
      assert.notDeepEqual(heard, numbers, "nothing was late");
    }
    assert.deepEqual(thread, numbers);
    assert.deepEqual(child, numbers);
    assert.deepEqual(ends, [3, 4]);
    assert.deepEqual(uploads, [1, 300_000]);
  });
}
