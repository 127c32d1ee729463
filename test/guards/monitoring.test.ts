import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createMetrics } from "../../src/base/metrics.ts";
import {
  ANSWER_CACHE,
  BACKLOG,
  HEALTH,
  eventCounter,
  PROGRAM,
  readDatabase,
  SHARES,
  watch,
  WORKER,
} from "../../src/main/metrics.ts";
import { createShares } from "../../src/base/shares.ts";
import type { WorkerFigures } from "../../src/bulk/jobs/worker.ts";
import { readText } from "./deploy/deploy-files.ts";
import { readDocument, sourcePaths } from "./docs-tables.ts";
import { alerts, everyMetric } from "./tables/document-tables.ts";
import { manualClock } from "../time/manual-clock.ts";

/** Every name of our metrics in the sources. */
function namesInSource(): ReadonlySet<string> {
  const texts = sourcePaths()
    .filter((path) => path.endsWith(".ts") && !path.includes(".test."))
    .map(readDocument);
  return new Set(
    texts.flatMap((text) =>
      [...text.matchAll(/(?:name: |latencyHistogram\(\s*)"(gatepost_[a-z_]+)"/g)].map(
        ([, name = ""]) => name,
      ),
    ),
  );
}

const backlog = {
  pendingJobs: 1,
  processingJobs: 2,
  oldestJobMs: 3_000,
  entries: 4,
  waitingChunks: 5,
  leasedChunks: 6,
  entriesPerSecond: 7,
  queuedWebhooks: 8,
};

const FIGURES: WorkerFigures = {
  taken: 9,
  stored: 3,
  late: 4,
  postponed: 5,
  failed: 6,
  entriesPerSecond: 7,
  inUse: 8,
};

const yes = () => Promise.resolve(true);

function page(read: () => Promise<typeof backlog>, answers = yes) {
  const metrics = createMetrics();
  const clock = manualClock();
  const { registry } = metrics;
  const broken = [{ part: "dns", says: "", toDo: "", sinceMs: 0, stops: true }] as const;
  watch(registry, HEALTH, () => Promise.resolve({ parts: ["database", "dns"], broken }));
  watch(registry, PROGRAM, () => "1");
  watch(registry, ANSWER_CACHE, () => ({ hits: 3, misses: 1 }));
  watch(registry, WORKER, () => FIGURES);
  eventCounter(registry, "webhooks")("accepted");
  watch(registry, SHARES, () => createShares().figures());
  watch(registry, BACKLOG, () => readDatabase(clock, answers, read));
  return { metrics, clock };
}

const known = new Set(everyMetric().map(({ name }) => name));

test("every metric that the sources name is described", () => {
  assert.deepEqual(
    [...namesInSource()].filter((name) => !known.has(name)),
    [],
  );
});

test("the page shows the backlog of the database, read once a scrape", async () => {
  let asked = 0;
  const { metrics } = page(() => {
    asked += 1;
    return Promise.resolve(backlog);
  });
  const text = await metrics.page.text();
  for (const line of [
    'gatepost_broken{part="database"} 0',
    'gatepost_broken{part="dns"} 1',
    "gatepost_database_up 1",
    'gatepost_jobs{state="pending"} 1',
    'gatepost_jobs{state="processing"} 2',
    "gatepost_oldest_job_age_seconds 3",
    "gatepost_entries_waiting 4",
    'gatepost_chunks{state="waiting"} 5',
    'gatepost_chunks{state="leased"} 6',
    "gatepost_bulk_entries_per_second 7",
    "gatepost_webhooks_queued 8",
    'gatepost_answer_cache_reads_total{outcome="hit"} 3',
    'gatepost_webhook_deliveries_total{outcome="accepted"} 1',
    'gatepost_worker_chunks_total{outcome="stored"} 3',
  ]) {
    assert.ok(text.split("\n").includes(line), line);
  }
  assert.equal(asked, 1);
});

const away = [
  ["fails", () => Promise.reject(new Error("gone"))],
  ["says nothing for 2 s", () => new Promise<never>(() => undefined)],
] as const;

for (const [how, read] of away) {
  test(`a database that ${how} only removes its figures from the page`, async () => {
    const { metrics, clock } = page(read);
    const asking = metrics.page.text();
    await nextTurn(); // in which the database is asked
    clock.advance(2_000);
    const lines = (await asking).split("\n");
    assert.ok(lines.includes("gatepost_database_up 0"));
    assert.deepEqual(
      lines.filter((line) => /^gatepost_(jobs|chunks|entries|oldest|webhooks)/.test(line)),
      [],
    );
    assert.ok(lines.some((line) => line.startsWith("process_resident_memory_bytes ")));
  });
}

// Alerts and dashboard.

/** Names in a PromQL text, without the suffixes of a histogram. */
const namesIn = (text: string): readonly string[] =>
  [...text.matchAll(/\b((?:gatepost|process|nodejs)_[a-z0-9_]+)/g)].map(([, name = ""]) =>
    name.replace(/_(bucket|count|sum)$/, ""),
  );

test("every alert uses existing metrics", () => {
  for (const { alert, expr } of alerts) {
    assert.deepEqual(
      namesIn(expr).filter((name) => !known.has(name)),
      [],
      alert,
    );
  }
});

test("the dashboard uses existing metrics, at least one in each panel", () => {
  const { panels } = JSON.parse(readText("deploy/grafana/gatepost.json")) as {
    readonly panels: readonly {
      readonly id: number;
      readonly type: string;
      readonly title: string;
      readonly targets?: readonly { readonly expr: string }[];
    }[];
  };
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  for (const { type, title, targets = [] } of panels) {
    if (type === "row") continue;
    assert.ok(targets.length > 0, title);
    for (const { expr } of targets) {
      const names = namesIn(expr);
      assert.ok(names.length > 0, title);
      assert.deepEqual(
        names.filter((name) => !known.has(name)),
        [],
        title,
      );
    }
  }
});
