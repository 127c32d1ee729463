import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const GATEPOST = fileURLToPath(new URL("./gatepost.js", import.meta.url));

test("a command says its answer and nothing else, whichever Node runs it", () => {
  const env = { PATH: process.env["PATH"] };
  const { stdout, stderr } = spawnSync(process.execPath, [GATEPOST, "--version"], {
    env,
    encoding: "utf8",
  });
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
  assert.equal(stderr, "");
});
