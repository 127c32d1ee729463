import assert from "node:assert/strict";
import { test } from "node:test";
import type { ValidationResult } from "../core/validate/result.ts";
import { keptLog } from "../../test/process/kept-log.ts";
import { manualClock } from "../../test/time/manual-clock.ts";
import { until } from "../../test/time/until.ts";
import { listsWorld } from "../../test/lists/lists-world.ts";
import { dayOf } from "../core/calendar.ts";
import { MailRecorder, WAITING_DOMAINS_MAX } from "./mail-recorder.ts";

const hosts = ["mx.host.example"];

const verdict = (domain: string, disposable = false, format = true) => ({
  mail: { kind: "hosts", hosts, implicit: false } as const,
  result: {
    domain,
    disposable,
    format,
    dns: true,
    signals: [] as string[],
  } as unknown as ValidationResult,
});

test("whoever flushes in the end waits for what a timer began to write", async () => {
  const clock = manualClock();
  const written: string[] = [];
  const answers: (() => void)[] = [];
  const mails = {
    save: (rows: readonly { readonly domain: string }[]) =>
      new Promise<void>((resolve) => {
        answers.push(() => {
          written.push(...rows.map(({ domain }) => domain));
          resolve();
        });
      }),
  };
  const recorder = new MailRecorder({ mails, clock, log: keptLog() });
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
  const mails = {
    save: () => (isDown ? Promise.reject(new Error("gone")) : Promise.resolve()),
  };
  const recorder = new MailRecorder({ mails, clock, log: keptLog() });
  recorder.record(verdict("a.example"));
  await assert.rejects(recorder.flush(), /gone/);
  isDown = false;
  recorder.record(verdict("a.example"));
  await recorder.flush();
});

test("mail hosts are noted by domain, and nothing where DNS named none", async (t) => {
  const { mails, clock } = await listsWorld(t);
  const recorder = new MailRecorder({ mails, clock, log: keptLog() });
  recorder.record(verdict("a.example", true));
  recorder.record(verdict("a.example"));
  recorder.record(verdict("invalid", false, false));
  recorder.record({ ...verdict("b.example"), mail: { kind: "unknown" } });
  recorder.record({ ...verdict("c.example"), mail: { ...verdict("").mail, implicit: true } });
  await recorder.flush();
  const day = dayOf(clock.nowMs());
  assert.deepEqual(await mails.page("", 9), [
    { domain: "a.example", hosts, addresses: [], disposable: true, day },
  ]);
});

test("a flood of made-up domains fills no memory", () => {
  const added: number[] = [];
  const mails = {
    save: (rows: readonly unknown[]) => Promise.resolve(void added.push(rows.length)),
  };
  const clock = { nowMs: () => 0, after: () => () => undefined };
  const recorder = new MailRecorder({ mails, clock, log: keptLog() });
  for (let n = 0; n < WAITING_DOMAINS_MAX + 5_000; n += 1) {
    recorder.record(verdict(`d${String(n)}.example`));
  }
  return recorder.flush().then(() => {
    assert.equal(
      added.reduce((sum, rows) => sum + rows, 0),
      WAITING_DOMAINS_MAX,
    );
    assert.ok(Math.max(...added) <= 200);
  });
});
