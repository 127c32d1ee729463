// Whether the simulation finds a fault: each is planted in the compiled program while it is loaded.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = new URL("../../../../", import.meta.url);
const pathOf = (path: string): string => fileURLToPath(new URL(path, root));

/** Name, compiled file below `src`, and what stands there instead of what. The first four are found within 20 days. */
const PLANTS = [
  [
    "entries of a job count twice",
    "bulk/jobs/chunk-queue",
    "${results.length}",
    "${2 * results.length}",
  ],
  ["a chunk stays open", "bulk/jobs/chunk-queue", "open_chunks - 1", "open_chunks - 0"],
  ["a finished job keeps its slot", "bulk/jobs/chunk-queue", "is_running: 0,", "is_running: 1,"],
  ["a session ends at once", "bulk/jobs/chunk-queue", "nowMs + SESSION_LIFE_MS", "nowMs + 1"],
  ["a refund is paid twice", "accounts/admission/charges", "units: -amount", "units: -2 * amount"],
  ["a balance may be negative", "accounts/credits", `.where(after, ">=", 0)`, ""],
  [
    "a revoked key is found",
    "accounts/key-store",
    `.where("api_keys.revoked_at_ms", "is", null)`,
    "",
  ],
  [
    "a cookie is anybody's",
    "accounts/sign-in/sign-ins",
    `.where("token_hash", "=", tokenHash)`,
    "",
  ],
  ["a decision is counted twice", "gate/outcomes", "reason, count: 1 }", "reason, count: 2 }"],
  ["a token lives for a day", "gate/tokens", "TOKEN_SECONDS = 600", "TOKEN_SECONDS = 86_400"],
  [
    "a webhook has no body",
    "webhooks/dispatcher",
    "sign(secret, body)",
    "sign(secret, new Uint8Array())",
  ],
  ["budgets run through a freeze", "base/clock", "this.#gapsMs += lateMs;", ""],
] as const;

/** SIM_PLANTS=all plants every fault, for 200 days. */
const isAll = process.env["SIM_PLANTS"] === "all";
const chosen = isAll ? PLANTS : PLANTS.slice(0, 4);

for (const [name, file, from, to] of chosen) {
  test(`the simulation finds a planted fault: ${name}`, () => {
    assert.ok(readFileSync(pathOf(`dist/src/${file}.js`), "utf8").includes(from), "it fits");
    const preload = new URL("dist/test/sim/plants/preload.js", root).href;
    const words = ["--no-shrink", "--seed=7", `--days=${isAll ? "200" : "20"}`];
    const ran = spawnSync(
      process.execPath,
      [`--import=${preload}`, pathOf("dist/test/sim/cli.js"), ...words],
      { encoding: "utf8", env: { ...process.env, SIM_PLANT: JSON.stringify({ file, from, to }) } },
    );
    assert.equal(ran.status, 1, ran.stderr);
    assert.match(ran.stdout, /^seed 7: /);
  });
}
