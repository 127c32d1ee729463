import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { DatabaseFault } from "../database-fault.ts";
import { lockForServing } from "./serving-lock.ts";
import { temporaryFolder } from "../../../test/process/temporary-folder.ts";

const locked = (error: unknown): boolean =>
  error instanceof DatabaseFault &&
  error.code === "locked" &&
  error.message.endsWith("another gatepost serves it");

test("one directory is served once, and again when the first has ended", () => {
  const dataDir = temporaryFolder();
  const release = lockForServing(dataDir);
  assert.throws(() => lockForServing(dataDir), locked);
  release();
  lockForServing(dataDir)();
});

test("a directory below a file cannot be served", () => {
  assert.throws(
    () => lockForServing("/dev/null/x"),
    (error: unknown) => error instanceof DatabaseFault && error.code === "not_a_directory",
  );
});

test("a killed server leaves no lock behind", async (t) => {
  const dataDir = temporaryFolder();
  const module = new URL("./serving-lock.js", import.meta.url).href;
  const script =
    `const { lockForServing } = await import(${JSON.stringify(module)});` +
    `lockForServing(${JSON.stringify(dataDir)});` +
    `process.stdout.write("held"); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  await once(child.stdout, "data");
  assert.throws(() => lockForServing(dataDir), locked);
  child.kill("SIGKILL");
  await once(child, "exit");
  lockForServing(dataDir)();
});
