import assert from "node:assert/strict";
import { test } from "node:test";
import { type GroupedRow, groupsOf } from "./decision-groups.ts";

const row = (at: number, more: Partial<GroupedRow> = {}): GroupedRow => ({
  decision: at % 10 === 0 ? "review" : "accept",
  domain: `shop${String(at % 700)}.example`,
  mailbox: `m_${String(at)}`,
  sources: `ip:${String(at)} net:${String(at % 900)}`,
  shape: null,
  ...more,
});

const many = (count: number, make: (at: number) => GroupedRow): readonly GroupedRow[] =>
  Array.from({ length: count }, (_, at) => make(at));

/** 2,000 sign-ups of a day: three farms among people at providers and at their own domains. */
const DAY: readonly GroupedRow[] = [
  ...many(900, (at) => row(at)),
  ...many(920, (at) => row(at + 1_000, { domain: "gmail.com", shape: "letters+0" })),
  ...many(60, (at) => row(at + 3_000, { domain: "young.example" })),
  ...many(40, (at) => row(at + 4_000, { domain: "gmail.com", shape: "mixed", mailbox: "m_one" })),
  ...many(80, (at) =>
    row(at + 5_000, { domain: null, sources: `ip:a${String(at % 40)} net:farm` }),
  ),
];

test("three farms among 2,000 sign-ups stand out, and providers do not", () => {
  const groups = groupsOf(DAY, new Map());
  assert.equal(groups.total, 2_000);
  assert.deepEqual(groups.stand_out, { groups: 3, decisions: 180 });
  const largest = ({ value, count }: { value: string; count: number }) => [value, count];
  assert.deepEqual(groups.domains.slice(0, 2).map(largest), [
    ["gmail.com", 960],
    ["young.example", 60],
  ]);
  assert.deepEqual(
    groups.domains.slice(0, 2).map(({ provider }) => provider),
    [true, false],
  );
  assert.deepEqual(groups.mailboxes.map(largest), [["m_one", 40]]);
  assert.deepEqual(largest(groups.sources[0] ?? assert.fail()), ["net:farm", 80]);
});

test("a group counts its mailboxes, what was decided, and what was said of each last", () => {
  const marks = new Map([
    ["m_3000", "abuse"],
    ["m_3001", "fine"],
    ["m_one", "abuse"],
  ] as const);
  const { domains, mailboxes } = groupsOf(DAY, marks);
  const young = domains.find(({ value }) => value === "young.example");
  assert.deepEqual(young, {
    value: "young.example",
    count: 60,
    mailboxes: 60,
    decided: { accept: 54, challenge: 0, review: 6, reject: 0 },
    feedback: { abuse: 1, bounce: 0, complaint: 0, fine: 1 },
    provider: false,
  });
  assert.deepEqual([mailboxes[0]?.mailboxes, mailboxes[0]?.feedback.abuse], [1, 1]);
});

test("what is mostly within a larger group is not counted twice, and nothing of nothing", () => {
  const same = many(30, (at) =>
    row(at, { domain: "young.example", sources: "ip:one net:one inviter:one" }),
  );
  assert.deepEqual(groupsOf(same, new Map()).stand_out, { groups: 1, decisions: 30 });
  assert.deepEqual(groupsOf([], new Map()), {
    total: 0,
    stand_out: { groups: 0, decisions: 0 },
    domains: [],
    mailboxes: [],
    sources: [],
    shapes: [],
  });
});
