import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { OwnSpellings, SpellingSighting } from "../../../src/gate/own-spellings-types.ts";
import type { Make } from "../contract.ts";

export interface SpellingsFixture {
  readonly spellings: OwnSpellings;
  /** Switches counting of the account's traffic on or off. */
  readonly turn: (accountId: string, state: "on" | "off") => Promise<void>;
}

const seen = (mailbox: string, spelling: string, day = 9, accountId = "a1"): SpellingSighting => ({
  accountId,
  mailbox,
  spelling,
  day,
});

const texts = (all: readonly SpellingSighting[]): readonly string[] =>
  all.map(({ mailbox, spelling, day }) => `${mailbox} ${spelling} ${String(day)}`).sort();

/** The contract of every store of spellings. `make` returns an empty one with accounts "a1" (counted) and "a2" (not). */
export function ownSpellingsContract(name: string, make: Make<SpellingsFixture>): void {
  const check = (rule: string, run: (fixture: SpellingsFixture) => Promise<void>): void =>
    void test(`${name}: ${rule}`, async (t) => run(await make(t)));

  check(
    "spellings of the requested mailboxes are returned, each with its last day",
    async (its) => {
      const { spellings } = its;
      await spellings.add(
        [seen("m1", "s1"), seen("m1", "s2", 8), seen("m2", "s1"), seen("m3", "s1")],
        9,
      );
      await spellings.add([seen("m1", "s1", 7), seen("m1", "s2", 10)], 9);
      const found = await spellings.ofMailboxes("a1", ["m1", "m2", "m4"], 0);
      assert.deepEqual(texts(found), ["m1 s1 9", "m1 s2 10", "m2 s1 9"]);
      assert.deepEqual(texts(await spellings.ofMailboxes("a1", ["m3"], 0)), ["m3 s1 9"]);
      assert.deepEqual(await spellings.ofMailboxes("a1", [], 0), []);
    },
  );

  check("spellings seen before the requested day are not returned", async ({ spellings }) => {
    await spellings.add([seen("m1", "s1", 2), seen("m1", "s2", 3)], 9);
    assert.deepEqual(texts(await spellings.ofMailboxes("a1", ["m1"], 3)), ["m1 s2 3"]);
  });

  check("hundreds of mailboxes need one query", async ({ spellings }) => {
    const all = Array.from({ length: 501 }, (_, n) => seen(`m${String(n)}`, "s1"));
    await spellings.add(all, 1_000);
    const asked = all.map(({ mailbox }) => mailbox);
    assert.deepEqual(texts(await spellings.ofMailboxes("a1", asked, 0)), texts(all));
  });

  check("accounts do not share traffic", async ({ spellings, turn }) => {
    await turn("a2", "on");
    await spellings.add([seen("m1", "s1"), seen("m1", "s2", 9, "a2")], 9);
    assert.deepEqual(texts(await spellings.ofMailboxes("a1", ["m1"], 0)), ["m1 s1 9"]);
    assert.deepEqual(texts(await spellings.ofMailboxes("a2", ["m1"], 0)), ["m1 s2 9"]);
    await spellings.forget("a1");
    assert.deepEqual(texts(await spellings.ofMailboxes("a1", ["m1"], 0)), []);
    assert.deepEqual(texts(await spellings.ofMailboxes("a2", ["m1"], 0)), ["m1 s2 9"]);
  });

  check("nothing is kept for accounts that are not counted or deleted", async (its) => {
    const { spellings, turn } = its;
    await turn("a1", "off");
    const late = [seen("m1", "s1"), seen("m1", "s1", 9, "a2"), seen("m1", "s1", 9, "gone")];
    await spellings.add(late, 9);
    for (const { accountId } of late) {
      assert.deepEqual(await spellings.ofMailboxes(accountId, ["m1"], 0), []);
    }
  });

  check("a full account takes no new spelling and updates known ones", async (its) => {
    const { spellings, turn } = its;
    await turn("a2", "on");
    await spellings.add([seen("m1", "s1"), seen("m1", "s2"), seen("m1", "s3")], 2);
    await spellings.add([seen("m1", "s2", 10), seen("m2", "s4"), seen("m1", "s1", 9, "a2")], 2);
    const found = await spellings.ofMailboxes("a1", ["m1", "m2"], 0);
    assert.deepEqual(texts(found), ["m1 s1 9", "m1 s2 10"]);
    assert.equal((await spellings.ofMailboxes("a2", ["m1"], 0)).length, 1);
  });

  check("pruning deletes spellings last seen before the day", async ({ spellings }) => {
    await spellings.add([seen("m1", "s1", 2), seen("m1", "s2", 3)], 9);
    assert.equal(await spellings.prune(3), 1);
    assert.deepEqual(texts(await spellings.ofMailboxes("a1", ["m1"], 0)), ["m1 s2 3"]);
  });
}
