import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { readYaml } from "./deploy/deploy-files.ts";
import { hasTool } from "../process/require-tool.ts";

const RULES = "deploy/prometheus/alerts.yaml";

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
}

const rules = readYaml<Rules>(RULES).groups.flatMap((group) => group.rules);

test("metrics that other programs have too are limited to this program's job", () => {
  for (const { alert, expr } of rules) {
    const shared = [...expr.matchAll(/\b(?:up|process_\w+|nodejs_\w+)(\{[^}]*\})?/g)];
    for (const [metric, labels = ""] of shared) {
      assert.ok(labels.includes('job="gatepost"'), `${alert}: ${metric}`);
    }
  }
});

/** Figures as scraped each minute, and the alert with its text after that number of scrapes. */
const SITUATIONS = [
  {
    name: "a list fetched four days ago is old, and a bundled one is not",
    series: {
      'gatepost_list_fetched_timestamp_seconds{list="old",instance="a"}': "60",
      'gatepost_list_fetched_timestamp_seconds{list="bundled",instance="a"}': "0",
    },
    minutes: 4 * 24 * 60 + 1,
    alert: "GatepostListsOld",
    says: [
      {
        labels: { severity: "warning", list: "old" },
        summary: "old was last fetched 4d 0h 0m 0s ago",
      },
    ],
  },
  {
    name: "batches that wait without a worker",
    series: {
      'gatepost_chunks{state="waiting",instance="a"}': "3",
      'gatepost_chunks{state="leased",instance="a"}': "0",
      'gatepost_bulk_entries_per_second{instance="a"}': "0",
    },
    minutes: 5,
    alert: "GatepostNoWorker",
    says: [{ labels: { severity: "critical" }, summary: "batches wait and no worker runs them" }],
  },
  {
    name: "a service without requests, refusals and webhooks raises no alert",
    series: { 'gatepost_http_request_duration_seconds_count{status="200"}': "7" },
    minutes: 60,
    alert: "GatepostErrors",
    says: [],
  },
] as const;

test("promtool accepts the rules, and they fire as expected, if it is installed", (t) => {
  if (!hasTool("promtool")) {
    t.diagnostic("PROMTOOL IS NOT HERE: the rules were read by the other tests, but never run.");
    return;
  }
  const path = fileURLToPath(new URL(`../../../${RULES}`, import.meta.url));
  const file = situationsFile(t, path);
  for (const args of [
    ["check", "rules", path],
    ["test", "rules", file],
  ]) {
    const { status, stdout, stderr } = spawnSync("promtool", args, { encoding: "utf8" });
    assert.equal(status, 0, stdout + stderr);
  }
});

/** JSON is YAML. */
function situationsFile(t: TestContext, path: string): string {
  const folder = mkdtempSync(join(tmpdir(), "gatepost-alerts-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const tests = SITUATIONS.map(({ name, series, minutes, alert, says }) => ({
    name,
    interval: "1m",
    input_series: Object.entries(series).map(([one, value]) => ({
      series: one,
      values: `${value}x${String(minutes)}`,
    })),
    alert_rule_test: [
      {
        eval_time: `${String(minutes)}m`,
        alertname: alert,
        exp_alerts: says.map(({ labels, summary }) => ({
          exp_labels: labels,
          exp_annotations: { summary },
        })),
      },
    ],
  }));
  const file = join(folder, "situations.json");
  writeFileSync(file, JSON.stringify({ rule_files: [path], evaluation_interval: "1m", tests }));
  return file;
}
