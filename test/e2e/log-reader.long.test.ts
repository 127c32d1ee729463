import { strict as assert } from "node:assert";
import { spawnSync } from "node:child_process";
import { closeSync, constants, existsSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { makeHome, startService } from "./service-process.ts";

/** A full pipe whose reader does not read. */
function fullPipe(folder: string): number {
  const path = join(folder, "pipe");
  assert.equal(spawnSync("mkfifo", [path]).status, 0);
  const file = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  try {
    for (;;) writeSync(file, "x".repeat(4_096));
  } catch (fault) {
    assert.equal(Reflect.get(Object(fault), "code"), "EAGAIN");
  }
  return file;
}

async function servesAndEnds(t: TestContext, open: (folder: string) => number): Promise<void> {
  const home = makeHome({ GATEPOST_DNS_SERVERS: "127.0.0.1:9" });
  t.after(() => home.remove());
  const output = open(home.directory);
  t.after(() => closeSync(output));
  const service = await startService(home, {}, { stdout: output });
  t.after(() => service.child.kill("SIGKILL"));
  for (let request = 0; request < 3; request += 1) {
    assert.equal((await service.get("/healthz")).status, 200);
  }
  assert.equal(await service.stop(), 0);
}

test("an unread log delays neither the service nor its stop", (t) => servesAndEnds(t, fullPipe));

test(
  "a log on a full disk delays neither the service nor its stop",
  { skip: !existsSync("/dev/full") },
  (t) => servesAndEnds(t, () => openSync("/dev/full", "w")),
);
