import { strict as assert } from "node:assert";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";

const LOG = new URL("pino-log.js", import.meta.url).href;

/** 8,000 lines of 1 KB, twice what waits for a reader; then "logged" on standard error. */
const MANY = `
  import { createLog } from ${JSON.stringify(LOG)};
  const log = createLog("info");
  for (let line = 0; line < 8_000; line += 1) log.info("test.line", { line, text: "x ".repeat(500) });
  process.stderr.write("logged");`;

const start = (text: string) => {
  const child = spawn(process.execPath, ["--input-type=module", "-e", text], { stdio: "pipe" });
  return { child, ended: once(child, "exit") };
};

test("a reader that takes nothing holds up neither the process nor its end", async () => {
  const { child, ended } = start(`${MANY}; setTimeout(() => process.exit(3), 100);`);
  await once(child.stderr, "data");
  assert.deepEqual(await ended, [3, null]);
});

test("who reads late gets whole lines in order, and how many were lost", async () => {
  const last = 'process.stdin.once("data", () => log.info("test.last"))';
  const { child, ended } = start(`${MANY}; ${last};`);
  await once(child.stderr, "data");
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
    if (text.includes("log.lines_lost")) child.stdin.end("x");
  });
  await ended;
  const read = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const kept = read.filter(({ msg }) => msg === "test.line");
  assert.deepEqual(
    kept.map(({ line }) => line),
    kept.map((_, at) => at),
  );
  const lost = read.find(({ msg }) => msg === "log.lines_lost");
  assert.equal(kept.length + Number(lost?.["lines"]), 8_000);
  assert.equal(read.at(-1)?.["msg"], "test.last");
});

test("a reader that leaves ends nothing", async () => {
  const { child, ended } = start(`${MANY}; setTimeout(() => process.exit(0), 500);`);
  child.stdout.destroy();
  assert.deepEqual(await ended, [0, null]);
});
