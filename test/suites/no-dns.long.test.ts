// GATEPOST_DNS_SERVERS=off in an empty network namespace.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import type { Ran } from "../e2e/service-process.ts";
import { childEnvironment } from "../process/child-environment.ts";

interface Found {
  readonly medianMs: number;
  readonly decision: string;
  readonly listed: string;
  readonly check: string;
  readonly list: string;
  readonly ready: number;
  readonly doctor: Ran;
}

test("without DNS and network the lists and rules decide at once, and doctor is content", (t) => {
  const inside = fileURLToPath(new URL("./no-dns-inside.js", import.meta.url));
  const shell = 'ip link set lo up && exec "$@"';
  const words = ["-n", "sh", "-c", shell, "sh", process.execPath, inside];
  const run = spawnSync("unshare", words, { env: childEnvironment({}), encoding: "utf8" });
  if (/not permitted|Operation/.test(run.stderr))
    return t.skip("needs the right to make namespaces");
  assert.equal(run.status, 0, run.stderr);
  const found = JSON.parse(run.stdout) as Found;
  t.diagnostic(`half of the decisions within ${found.medianMs.toFixed(1)} ms`);
  assert.ok(found.medianMs < 1_000, "a name of a silent resolver took 2.6 s");
  assert.match(found.decision, /"decision":"accept".*dns_indeterminate/);
  assert.match(found.listed, /"decision":"reject"/);
  assert.match(found.check, /"dns":false.*"dns_indeterminate"/);
  assert.equal(found.ready, 200);
  assert.equal(found.doctor.code, 0, found.doctor.out);
  assert.match(found.doctor.out, /DNS is off/);
});
