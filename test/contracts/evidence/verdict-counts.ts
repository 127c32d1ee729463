import { strict as assert } from "node:assert";
import { test, type TestContext } from "node:test";
import { readListSubject } from "../../../src/core/evidence/rule.ts";
import type { DomainMails, VerdictCounts } from "../../../src/lists/domain-verdicts.ts";
import type { VerdictCountRow } from "../../../src/store/schema.ts";
import type { Make } from "../contract.ts";

const count = (
  day: number,
  domain: string,
  disposable: number,
  other: number,
): VerdictCountRow => ({
  day,
  domain,
  disposable,
  other,
  no_mail: 0,
  no_answer: 0,
});

const NONE = { no_mail: 0, no_answer: 0 };

/** The contract of every store of verdict counts. `make` returns an empty one. */
export function verdictCountsContract(
  name: string,
  make: Make<readonly [VerdictCounts, DomainMails]>,
): void {
  const check = (
    rule: string,
    run: (counts: VerdictCounts, mails: DomainMails) => Promise<void>,
  ): void => void test(`${name}: ${rule}`, async (t: TestContext) => run(...(await make(t))));

  check("counts add up by domain over the requested days", async (counts) => {
    await counts.add([count(1, "a.example", 5, 0), count(2, "a.example", 1, 2)], 10);
    await counts.add([count(2, "a.example", 1, 0), count(3, "b.example", 0, 7)], 10);
    assert.deepEqual(await counts.page(2, "", 10), [
      { domain: "a.example", disposable: 2, other: 2, ...NONE },
      { domain: "b.example", disposable: 0, other: 7, ...NONE },
    ]);
  });

  for (const [text, checks] of [
    ["a.example", 8],
    ["*.a.example", 3],
    ["mx:mx.host.example", 5],
    ["mx:*.host.example", 5],
    ["mx:host.example", 5],
    ["jo@a.example", 0],
  ] as const) {
    check(`the checks that a rule would have met are counted: ${text}`, async (counts, mails) => {
      await counts.add([count(1, "a.example", 9, 9), count(2, "a.example", 1, 4)], 10);
      await counts.add([count(2, "x.a.example", 1, 2), count(2, "ba.example", 0, 7)], 10);
      const mail = { hosts: ["mx.host.example", "b.example"], addresses: [], disposable: false };
      await mails.save([{ ...mail, domain: "a.example", day: 2 }], 10);
      const subject = readListSubject(text);
      assert.equal(subject.ok && (await counts.checksOf(subject.value, 2)), checks);
    });
  }

  check("each check is in one class of the sums, which are 0 without counts", async (counts) => {
    const none = { good: 0, disposable: 0, no_mail: 0, no_answer: 0 };
    assert.deepEqual(await counts.sums(1), none);
    await counts.add([count(1, "a.example", 5, 0), count(2, "a.example", 1, 2)], 10);
    await counts.add([{ ...count(3, "b.example", 0, 7), no_mail: 3, no_answer: 2 }], 10);
    assert.deepEqual(await counts.sums(2), { good: 4, disposable: 1, no_mail: 3, no_answer: 2 });
    assert.deepEqual(await counts.sums(4), none);
  });

  check("pages follow one another in the order of names", async (counts) => {
    await counts.add([count(1, "c.example", 1, 0), count(1, "a.example", 1, 0)], 10);
    await counts.add([count(1, "b.example", 1, 0)], 10);
    const first = await counts.page(0, "", 2);
    assert.deepEqual(
      first.map(({ domain }) => domain),
      ["a.example", "b.example"],
    );
    const [last, ...none] = await counts.page(0, "b.example", 2);
    assert.deepEqual([last?.domain, none], ["c.example", []]);
  });

  check("a full day takes no new domain and counts known ones", async (counts) => {
    await counts.add([count(1, "a.example", 1, 0), count(1, "b.example", 1, 0)], 2);
    await counts.add([count(1, "c.example", 1, 0), count(1, "a.example", 1, 0)], 2);
    await counts.add([count(2, "c.example", 0, 1)], 2);
    assert.deepEqual(await counts.page(0, "", 10), [
      { domain: "a.example", disposable: 2, other: 0, ...NONE },
      { domain: "b.example", disposable: 1, other: 0, ...NONE },
      { domain: "c.example", disposable: 0, other: 1, ...NONE },
    ]);
  });

  check("many in one call are counted like few, up to the maximum", async (counts) => {
    const names = Array.from({ length: 200 }, (_, at) => `n${String(at).padStart(3, "0")}.example`);
    await counts.add(names.map((domain) => count(1, domain, 1, 2)).toReversed(), 250);
    await counts.add(
      names.map((domain) => count(1, domain, 0, 5)),
      400,
    );
    await counts.add(
      names.map((domain) => count(1, `x${domain}`, 1, 0)),
      250,
    );
    const rows = await counts.page(0, "", 500);
    assert.equal(rows.length, 250);
    assert.deepEqual(rows[0], { domain: "n000.example", disposable: 1, other: 7, ...NONE });
    assert.deepEqual(rows[199], { domain: "n199.example", disposable: 1, other: 7, ...NONE });
  });

  check(
    "of a call for a nearly full day the known domains are counted, and new ones while there is room",
    async (counts) => {
      await counts.add([count(1, "b.example", 1, 0), count(1, "d.example", 1, 0)], 3);
      const all = ["e", "d", "c", "b", "a"].map((name) => count(1, `${name}.example`, 0, 1));
      await counts.add(all, 3);
      const rows = await counts.page(0, "", 9);
      assert.deepEqual(
        rows.map(({ domain, other }) => `${domain} ${String(other)}`),
        ["a.example 1", "b.example 1", "d.example 1"],
      );
    },
  );

  check("pruning deletes earlier days", async (counts) => {
    await counts.add([count(1, "a.example", 1, 0), count(2, "a.example", 1, 0)], 10);
    assert.equal(await counts.prune(2), 1);
    assert.deepEqual(await counts.page(0, "", 10), [
      { domain: "a.example", disposable: 1, other: 0, ...NONE },
    ]);
  });
}
