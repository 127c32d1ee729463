import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../../test/process/temporary-folder.ts";

const GATEPOST = fileURLToPath(new URL("./gatepost.js", import.meta.url));

/** Nothing times out, so that a start waits as long as this process needs to send its signal. */
const TIMELESS =
  "--import=data:text/javascript,globalThis.setTimeout=()=>({ref(){return this},unref(){return this}})";

/** A database that takes connections and says nothing: a start does not get past it. */
async function silentDatabase(t: TestContext) {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    t.after(() => socket.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { asked: once(server, "connection"), port };
}

const starts = [
  ["serve", "SIGTERM", 143],
  ["serve", "SIGINT", 130],
  ["worker", "SIGTERM", 143],
  ["migrate", "SIGTERM", 143],
] as const;

// A code and not the signal: whoever has no handler of its own is deaf to it as process 1 of a container.
for (const [command, signal, code] of starts) {
  test(`${command} that still waits for its database ends by itself on ${signal}`, async (t) => {
    const { asked, port } = await silentDatabase(t);
    const dataDir = temporaryFolder();
    const env = {
      PATH: process.env["PATH"],
      GATEPOST_DATA_DIR: dataDir,
      DATABASE_URL: `postgres://nobody@127.0.0.1:${String(port)}/none`,
      GATEPOST_SECRET_KEY: Buffer.alloc(32).toString("base64"),
      PORT: "0",
    };
    const child = spawn(process.execPath, [TIMELESS, GATEPOST, command], { env, stdio: "ignore" });
    t.after(() => child.kill("SIGKILL"));
    const ended = once(child, "exit");
    await asked;
    child.kill(signal);
    assert.deepEqual(await ended, [code, null]);
  });
}
