import assert from "node:assert/strict";
import { test } from "node:test";
import type { Outcomes } from "../../../src/gate/outcomes.ts";
import type { OutcomeCountRow, ShadowCountRow } from "../../../src/store/tables/policy.ts";
import type { Make } from "../contract.ts";

const LIMITS = { rowsMax: 3, domainsMax: 2 };

const outcome = (more: Partial<OutcomeCountRow> = {}): OutcomeCountRow => ({
  day: 10,
  account_id: "a1",
  key_id: "k1",
  form: "sign-up",
  decision: "accept",
  reason: "ok",
  count: 1,
  ...more,
});

const which = { account_id: "a1", policy: "default", version: 2 };

const domain = (name: string, count = 1): ShadowCountRow => ({
  ...which,
  day: 10,
  live: "accept",
  shadow: "reject",
  domain: name,
  count,
});

const NOTHING = { outcomes: [], pairs: [], domains: [] };

/** What every store of outcomes promises. `make` gives an empty one. */
export function outcomesContract(name: string, make: Make<Outcomes>): void {
  const check = (rule: string, run: (outcomes: Outcomes) => Promise<void>) =>
    void test(`${name}: ${rule}`, async (t) => run(await make(t)));

  check("counts add up by day, key, form, decision and reason", async (outcomes) => {
    const rows = [outcome(), outcome({ count: 4 }), outcome({ decision: "reject" })];
    await outcomes.add({ ...NOTHING, outcomes: rows }, LIMITS);
    await outcomes.add({ ...NOTHING, outcomes: [outcome(), outcome({ day: 9 })] }, LIMITS);
    const kept = await outcomes.ofAccount("a1", 10);
    assert.deepEqual(
      new Map(kept.map(({ decision, count }) => [decision, count])),
      new Map([
        ["accept", 6],
        ["reject", 1],
      ]),
    );
    assert.deepEqual(await outcomes.ofAccount("a2", 0), []);
  });

  check("rules are counted by version, of the days that are asked for", async (outcomes) => {
    const rule = (day: number, version: number, at: number) => {
      return { account_id: "a1", policy: "default", version, day, rule: at, count: 1 };
    };
    await outcomes.add({ rules: [rule(10, 1, 0), rule(10, 1, -1), rule(9, 1, 0)] }, LIMITS);
    await outcomes.add({ rules: [rule(10, 1, 0), rule(10, 2, 3), rule(8, 1, 0)] }, LIMITS);
    assert.deepEqual(await outcomes.rulesOf("a1", "default", 9), [
      { version: 1, rule: -1, count: 1 },
      { version: 1, rule: 0, count: 3 },
      { version: 2, rule: 3, count: 1 },
    ]);
    assert.deepEqual(await outcomes.rulesOf("a1", "other", 9), []);
    assert.equal(await outcomes.prune(10, 0), 2);
    assert.deepEqual((await outcomes.rulesOf("a1", "default", 0))[1]?.count, 2);
  });

  check("a flood of forms is counted together, and none is lost", async (outcomes) => {
    const forms = Array.from({ length: 50 }, (_, at) => outcome({ form: `f${String(at)}` }));
    await outcomes.add({ ...NOTHING, outcomes: forms }, LIMITS);
    await outcomes.add({ ...NOTHING, outcomes: forms.slice(40) }, LIMITS);
    const kept = await outcomes.ofAccount("a1", 0);
    assert.equal(kept.length, 4);
    const sum = kept.reduce((all, { count }) => all + count, 0);
    assert.equal(sum, 60);
    assert.ok(kept.some(({ form, key_id: key }) => form === "(other)" && key === ""));
  });

  check("pairs and domains of a shadow add up, within its domains", async (outcomes) => {
    const pair = {
      ...which,
      day: 10,
      live: "accept",
      shadow: "reject",
      domain: "",
      count: 2,
    } as const;
    const domains = [domain("a.example"), domain("b.example", 5), domain("c.example")];
    await outcomes.add({ ...NOTHING, pairs: [pair, pair], domains }, LIMITS);
    await outcomes.add({ ...NOTHING, domains: [domain("a.example", 7)] }, LIMITS);
    const [counted, ...none] = await outcomes.shadowPairs(which, 10);
    assert.deepEqual([counted?.count, none], [4, []]);
    const kept = await outcomes.shadowDomains(which, 10);
    assert.deepEqual(
      kept.map((one) => [one.domain, one.count]),
      [
        ["a.example", 8],
        ["b.example", 5],
      ],
    );
    assert.deepEqual(await outcomes.shadowPairs({ ...which, version: 3 }, 0), []);
    assert.deepEqual(await outcomes.shadowDomains(which, 11), []);
  });

  check("old days go", async (outcomes) => {
    const pair = {
      ...which,
      day: 10,
      live: "accept",
      shadow: "reject",
      domain: "",
      count: 2,
    } as const;
    const rows = { outcomes: [outcome()], pairs: [pair], domains: [domain("a.example")] };
    await outcomes.add(rows, LIMITS);
    assert.equal(await outcomes.prune(10, 10), 0);
    assert.equal(await outcomes.prune(11, 10), 2);
    assert.equal(await outcomes.prune(11, 11), 1);
  });
}
