import { strict as assert } from "node:assert";
import { test } from "node:test";
import { literalDatasets } from "../../../test/lists/literal-datasets.ts";
import { hash, listsWorld } from "../../../test/lists/lists-world.ts";
import { dayOf } from "../../core/calendar.ts";
import { VERDICT_DAYS } from "../verdict-recorder.ts";
import { backTestRules } from "./back-test.ts";

const BY_ADA = { note: "", author: "ada" };

const row = (day: number, domain: string, disposable: number, other: number) => ({
  day,
  domain,
  disposable,
  other,
  no_mail: 0,
  no_answer: 0,
});

test("a back-test tells what the counted days would have looked like", async (t) => {
  const datasets = literalDatasets({ curated: ["bad.example", "worse.example"] });
  const world = await listsWorld(t);
  const day = dayOf(world.clock.nowMs());
  await world.operator.save("held.example", "deny", BY_ADA);
  await world.counts.add(
    [
      row(day, "bad.example", 10, 0),
      row(day, "worse.example", 4, 0),
      row(day, "a.new.example", 0, 7),
      row(day - VERDICT_DAYS + 1, "new.example", 0, 5),
      row(day - VERDICT_DAYS, "new.example", 0, 500),
      row(day, "held.example", 3, 0),
      row(day, "by-mail-host.example", 6, 0),
    ],
    100,
  );
  const text =
    "allow bad.example\ndeny new.example\nheld.example\nallow by-mail-host.example\n" +
    "a@b.example\n\nmx:x.example\naccount c@b.example\nworse.example until 2020-01-01";
  assert.deepEqual(await backTestRules(text, { ...world, datasets, hash }), {
    test: {
      days: VERDICT_DAYS,
      domains: 6,
      domains_with_mail: 0,
      checks: 35,
      changed_domains: 4,
      changed_checks: 28,
      changed: [
        { domain: "bad.example", becomes: "fine", checks: 10 },
        { domain: "a.new.example", becomes: "disposable", checks: 7 },
        { domain: "by-mail-host.example", becomes: "fine", checks: 6 },
        { domain: "new.example", becomes: "disposable", checks: 5 },
      ],
      untestable: 2,
      untestable_lines: [5, 8],
    },
  });
  const wrong = await backTestRules("two words here\n", { ...world, datasets, hash });
  assert.deepEqual(wrong, { wrong: [{ line: 1, why: "bad_entry" }] });
});

test("a back-test of mail hosts goes by where mail was seen to go", async (t) => {
  const datasets = literalDatasets({ mailServers: { "mx.bad.example": "dedicated" } });
  const world = await listsWorld(t);
  const day = dayOf(world.clock.nowMs());
  const seen = [
    ["a.example", "mx1.host.example", false],
    ["b.example", "mx2.host.example", false],
    ["c.example", "mx.other.example", false],
    ["d.example", "mx.bad.example", true],
  ] as const;
  const mails = seen.map(([domain, host, disposable]) => ({
    domain,
    hosts: [host],
    addresses: [],
    disposable,
    day,
  }));
  await world.mails.save(mails, 9);
  const counts = seen.map(([domain, , isBad]) => row(day, domain, isBad ? 1 : 0, isBad ? 0 : 1));
  await world.counts.add([...counts, row(day, "e.example", 0, 1)], 9);
  const text = "mx:*.host.example\nallow mx:mx.bad.example";
  const answer = await backTestRules(text, { ...world, datasets, hash });
  assert.ok("test" in answer);
  const { domains, domains_with_mail: withMail, untestable, changed } = answer.test;
  assert.deepEqual([domains, withMail, untestable], [5, 4, 0]);
  assert.deepEqual(changed.map(({ domain, becomes }) => `${domain} ${becomes}`).sort(), [
    "a.example disposable",
    "b.example disposable",
    "d.example fine",
  ]);
});
