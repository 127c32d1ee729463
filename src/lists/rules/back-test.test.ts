import { strict as assert } from "node:assert";
import { test } from "node:test";
import { keptLog } from "../../../test/process/kept-log.ts";
import { literalDatasets } from "../../../test/lists/literal-datasets.ts";
import { listsWorld } from "../../../test/lists/lists-world.ts";
import { dayOf } from "../../core/calendar.ts";
import type { MailHosts } from "../../core/mail/mail-hosts.ts";
import type { ValidationResult } from "../../core/validate/result.ts";
import { VerdictRecorder, VERDICT_DAYS, VERDICT_DOMAINS_MAX } from "../verdict-recorder.ts";

const BY_ADA = { note: "", author: "ada" };

const verdict = (domain: string, disposable: boolean, format = true) => ({
  result: {
    domain,
    disposable,
    format,
    dns: true,
    signals: [] as string[],
  } as unknown as ValidationResult,
});

test("verdicts are counted by domain and day and written in the end", async (t) => {
  const { counts, mails, clock } = await listsWorld(t);
  const recorder = new VerdictRecorder({ counts, mails, clock, log: keptLog() });
  recorder.record(verdict("a.example", true));
  recorder.record(verdict("a.example", false));
  recorder.record(verdict("a.example", true));
  recorder.record(verdict("invalid", false, false));
  await recorder.flush();
  assert.deepEqual(await counts.page(dayOf(clock.nowMs()), "", 9), [
    { domain: "a.example", disposable: 2, other: 1, no_mail: 0, no_answer: 0 },
  ]);
});

test("a flood of made-up domains fills no memory", () => {
  const added: number[] = [];
  const counts = {
    add: (rows: readonly unknown[]) => Promise.resolve(void added.push(rows.length)),
  };
  const clock = { nowMs: () => 0, after: () => () => undefined };
  const mails = { save: () => Promise.resolve() };
  const recorder = new VerdictRecorder({ counts, mails, clock, log: keptLog() });
  for (let n = 0; n < VERDICT_DOMAINS_MAX + 5_000; n += 1) {
    recorder.record(verdict(`d${String(n)}.example`, false));
  }
  return recorder.flush().then(() => {
    assert.equal(
      added.reduce((sum, rows) => sum + rows, 0),
      VERDICT_DOMAINS_MAX,
    );
    assert.ok(Math.max(...added) <= 200);
  });
});

test("a back-test tells what the counted days would have looked like", async (t) => {
  const datasets = literalDatasets({ curated: ["bad.example", "worse.example"] });
  const { backTest, counts, clock, operator } = await listsWorld(t, { datasets });
  const day = dayOf(clock.nowMs());
  await operator.save("held.example", "deny", BY_ADA);
  const row = (domain: string, disposable: number, other: number, ago = 0) => ({
    day: day - ago,
    domain,
    disposable,
    other,
    no_mail: 0,
    no_answer: 0,
  });
  await counts.add(
    [
      row("bad.example", 10, 0),
      row("worse.example", 4, 0),
      row("a.new.example", 0, 7),
      row("new.example", 0, 5, VERDICT_DAYS - 1),
      row("new.example", 0, 500, VERDICT_DAYS),
      row("held.example", 3, 0),
      row("by-mail-host.example", 6, 0),
    ],
    100,
  );
  const text =
    "allow bad.example\ndeny new.example\nheld.example\nallow by-mail-host.example\n" +
    "a@b.example\n\nmx:x.example\naccount c@b.example";
  assert.deepEqual(await backTest(text), {
    kind: "tested",
    days: VERDICT_DAYS,
    domains: 6,
    domainsWithMail: 0,
    checks: 35,
    changedDomains: 4,
    changedChecks: 28,
    changed: [
      { domain: "bad.example", becomes: "fine", checks: 10 },
      { domain: "a.new.example", becomes: "disposable", checks: 7 },
      { domain: "by-mail-host.example", becomes: "fine", checks: 6 },
      { domain: "new.example", becomes: "disposable", checks: 5 },
    ],
    untestable: 2,
    untestableLines: [5, 8],
  });
  assert.equal((await backTest("two words here\n")).kind, "wrong_lines");
});

test("a back-test of mail hosts goes by where mail was seen to go", async (t) => {
  const datasets = literalDatasets({ mailServers: { "mx.bad.example": "dedicated" } });
  const { backTest, counts, mails, clock } = await listsWorld(t, { datasets });
  const recorder = new VerdictRecorder({ counts, mails, clock, log: keptLog() });
  const seen = (domain: string, host: string, disposable: boolean): void =>
    recorder.record({ ...verdict(domain, disposable), mail: mailAt(host) });
  seen("a.example", "mx1.host.example", false);
  seen("b.example", "mx2.host.example", false);
  seen("c.example", "mx.other.example", false);
  seen("d.example", "mx.bad.example", true);
  recorder.record({ ...verdict("e.example", false), mail: { kind: "unknown" } });
  await recorder.flush();
  const answer = await backTest("mx:*.host.example\nallow mx:mx.bad.example");
  assert.ok(answer.kind === "tested");
  assert.deepEqual([answer.domains, answer.domainsWithMail, answer.untestable], [5, 4, 0]);
  assert.deepEqual(answer.changed.map(({ domain, becomes }) => `${domain} ${becomes}`).sort(), [
    "a.example disposable",
    "b.example disposable",
    "d.example fine",
  ]);
});

const mailAt = (host: string): MailHosts => ({ kind: "hosts", hosts: [host], implicit: false });
