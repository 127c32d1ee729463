import { strict as assert } from "node:assert";
import { test } from "node:test";
import { createMetrics, latencyHistogram } from "./metrics.ts";

test("a histogram counts each duration in its bucket and in those above", () => {
  const histogram = latencyHistogram("latency", "How long.", [0.1, 1]);
  for (const durationMs of [50, 100, 101, 5_000])
    histogram.observe("email", "GET", 200, durationMs);
  const names = 'route="email",method="GET",status="200"';
  assert.equal(
    histogram.text(),
    [
      "# HELP latency How long.",
      "# TYPE latency histogram",
      `latency_bucket{${names},le="0.1"} 2`,
      `latency_bucket{${names},le="1"} 3`,
      `latency_bucket{${names},le="+Inf"} 4`,
      `latency_sum{${names}} 5.251`,
      `latency_count{${names}} 4`,
      "",
    ].join("\n"),
  );
});

test("whoever asks while a page is made gets that one, and the next a new one", async () => {
  const { http, page } = createMetrics();
  const [first, second] = [page.text(), page.text()];
  assert.equal(second, first);
  http.observe("late", "GET", 200, 1);
  assert.match(await first, /route="late"/); // it is made once the turn is over
  http.observe("later", "GET", 200, 1);
  assert.match(await page.text(), /route="later"/);
});

test("the page holds requests and the process's own figures", async () => {
  const { http, page } = createMetrics();
  http.observe("email", "GET", 200, 1);
  http.observe("email", "GET", 400, 1);
  const text = await page.text();
  assert.match(text, /^process_cpu_seconds_total \d/m);
  assert.match(
    text,
    /^gatepost_http_request_duration_seconds_count\{route="email",method="GET",status="200"\} 1$/m,
  );
  assert.match(text, /status="400"\} 1$/m);
  assert.match(page.contentType, /^text\/plain/);
});
