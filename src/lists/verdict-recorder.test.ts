import assert from "node:assert/strict";
import { test } from "node:test";
import type { ValidationResult } from "../core/validate/result.ts";
import { keptLog } from "../../test/process/kept-log.ts";
import { manualClock } from "../../test/time/manual-clock.ts";
import { until } from "../../test/time/until.ts";
import { VerdictRecorder } from "./verdict-recorder.ts";

const mails = { save: () => Promise.resolve() };

const verdict = (domain: string) => ({
  result: {
    domain,
    disposable: false,
    format: true,
    dns: true,
    signals: [] as string[],
  } as unknown as ValidationResult,
});

test("whoever flushes in the end waits for what a timer began to write", async () => {
  const clock = manualClock();
  const written: string[] = [];
  const answers: (() => void)[] = [];
  const counts = {
    add: (rows: readonly { readonly domain: string }[]) =>
      new Promise<void>((resolve) => {
        answers.push(() => {
          written.push(...rows.map(({ domain }) => domain));
          resolve();
        });
      }),
  };
  const recorder = new VerdictRecorder({ counts, mails, clock, log: keptLog() });
  const asked = (times: number) =>
    until(() => answers[times - 1], { what: "a write", withinMs: 30_000 });
  recorder.record(verdict("a.example"));
  clock.advance(10_000);
  const answerFirst = await asked(1);
  recorder.record(verdict("b.example"));
  const over = recorder.flush().then(() => written.push("over"));
  answers[1]?.();
  await new Promise(setImmediate);
  assert.deepEqual(written, [], "the first is on its way still");
  answerFirst();
  (await asked(2))();
  await over;
  assert.deepEqual(written, ["a.example", "b.example", "over"]);
});

test("a flush that fails says so, and the next one writes", async () => {
  const clock = manualClock();
  let isDown = true;
  const counts = {
    add: () => (isDown ? Promise.reject(new Error("gone")) : Promise.resolve()),
  };
  const recorder = new VerdictRecorder({ counts, mails, clock, log: keptLog() });
  recorder.record(verdict("a.example"));
  await assert.rejects(recorder.flush(), /gone/);
  isDown = false;
  recorder.record(verdict("a.example"));
  await recorder.flush();
});
