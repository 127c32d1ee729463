import { strict as assert } from "node:assert";
import { test, type TestContext } from "node:test";
import type { Rule } from "../../../src/lists/rules/entry-json.ts";
import type { RuleStore } from "../../../src/lists/rules/rule.ts";
import type { Make } from "../contract.ts";

const entry = (subject: string, more: Partial<Rule> = {}): Rule => ({
  subject,
  word: "deny",
  note: "",
  author: "ada",
  createdAtMs: 1_000,
  ...more,
});

/** The contract of every store of rules. `make` returns an empty one. */
export function operatorEntriesContract(name: string, make: Make<RuleStore>): void {
  const check = (rule: string, run: (entries: RuleStore) => Promise<void>) =>
    void test(`${name}: ${rule}`, async (t: TestContext) => run(await make(t)));

  check("a rule is returned complete", async (entries) => {
    const whole = entry("a.example", { note: "it's so", expiresAtMs: 2_000_000_000_000 });
    await entries.save([whole, entry("b.example", { word: "allow" })]);
    assert.deepEqual(await entries.all(), [whole, entry("b.example", { word: "allow" })]);
  });

  check("a rule replaces an earlier one for its subject, and keeps the trap", async (entries) => {
    const trap = entry("a.example", { word: "pristine" });
    await entries.save([entry("a.example", { expiresAtMs: 9 }), trap]);
    await entries.save([entry("a.example", { word: "allow", author: "bob" })]);
    const allowed = entry("a.example", { word: "allow", author: "bob" });
    assert.deepEqual(new Set(await entries.all()), new Set([trap, allowed]));
  });

  check("the last rule for a subject in one save wins", async (entries) => {
    await entries.save([entry("a.example"), entry("a.example", { word: "allow" })]);
    assert.deepEqual(await entries.all(), [entry("a.example", { word: "allow" })]);
  });

  check("every change is counted, and nothing else", async (entries) => {
    const start = await entries.changes();
    await entries.save([entry("a.example")]);
    const saved = await entries.changes();
    assert.ok(saved > start);
    await entries.save([]);
    assert.equal(await entries.forget({ subject: "b.example" }), 0);
    assert.equal(await entries.changes(), saved);
    assert.equal(await entries.forget({ subject: "a.example" }), 1);
    assert.ok((await entries.changes()) > saved);
  });

  check("all rules for a subject are deleted together", async (entries) => {
    await entries.save([entry("a.example"), entry("a.example", { word: "listed" })]);
    assert.equal(await entries.forget({ subject: "a.example" }), 2);
    assert.deepEqual(await entries.all(), []);
  });

  check(
    "what one author said at one time is deleted together, and nothing else",
    async (entries) => {
      const kept = [
        entry("b.example", { createdAtMs: 2_000 }),
        entry("c.example", { author: "bob" }),
      ];
      await entries.save([entry("a.example"), ...kept]);
      assert.equal(await entries.forget({ author: "ada", created_at_ms: 1_000 }), 1);
      assert.deepEqual(await entries.all(), kept);
    },
  );

  check("more rules than one statement takes are saved together", async (entries) => {
    const many = Array.from({ length: 1_203 }, (_, n) => entry(`n${String(n)}.example`));
    await entries.save(many);
    assert.equal((await entries.all()).length, 1_203);
  });

  const searches = [
    ["by part of the subject, in any case", { text: "B.EX" }, ["b.example"]],
    ["by part of the note, in any case", { text: "SALES" }, ["a.example"]],
    ["by kind", { text: "", word: "allow" }, ["c.example"]],
    ["without expired rules", { text: "old" }, []],
    ["with wildcards of the database taken literally", { text: "_" }, ["d.example"]],
  ] as const;

  check("rules are searched, counted and limited", async (entries) => {
    await entries.save([
      entry("a.example", { note: "Asked by Sales" }),
      entry("b.example"),
      entry("c.example", { word: "allow" }),
      entry("d.example", { note: "under_score" }),
      entry("old.example", { expiresAtMs: 1_000 }),
    ]);
    const standard = { word: undefined, nowMs: 1_000, limit: 10 };
    for (const [rule, query, want] of searches) {
      const found = await entries.search({ ...standard, ...query });
      const subjects = found.entries.map(({ subject }) => subject);
      assert.deepEqual([subjects, found.total], [want, want.length], rule);
    }
    const cut = await entries.search({ ...standard, text: "", limit: 2 });
    assert.deepEqual([cut.entries.length, cut.total], [2, 4]);
  });

  check("pruning deletes expired rules only", async (entries) => {
    await entries.save([
      entry("old.example", { expiresAtMs: 10 }),
      entry("new.example", { expiresAtMs: 11 }),
      entry("always.example"),
    ]);
    assert.equal(await entries.prune(10), 1);
    const left = (await entries.all()).map(({ subject }) => subject);
    assert.deepEqual(left, ["always.example", "new.example"]);
  });
}
