import { strict as assert } from "node:assert";
import { test, type TestContext } from "node:test";
import { openStores, spellingsFixture } from "../../test/contracts/stores.ts";
import { createAddressHash } from "../base/address-hash.ts";
import { DAY_MS } from "../core/calendar.ts";
import { createSpellingCounter } from "./own-spellings.ts";
import { createTrafficSwitch } from "./traffic-switch.ts";
import { sqlAccounts } from "../accounts/accounts-store.ts";

const hash = createAddressHash(new Uint8Array(32).fill(5), "own traffic");

/** A counter on SQLite; "a1" has its traffic counted, "a2" has not. */
async function openCounter(t: TestContext) {
  const stores = await openStores(t);
  const { spellings, turn } = await spellingsFixture(stores);
  const { clock, log } = stores;
  const counter = createSpellingCounter({ spellings, hash, clock, log });
  /** Spellings of the last entry's mailbox after all were decided on, one after the other. */
  const seen = async (
    entries: readonly string[],
    accountId = "a1",
  ): Promise<number | undefined> => {
    let last: number | undefined;
    for (const entry of entries) last = (await counter.mailboxSeen(accountId, entry)).seen;
    return last;
  };
  return { ...stores, spellings, turn, counter, seen };
}

const FOUR = ["ada.l@gmail.com", "a.dal@gmail.com", "adal+x@gmail.com", "adal@googlemail.com"];

const cases: readonly (readonly [string, readonly string[], number | undefined])[] = [
  ["four spellings of one mailbox", FOUR, 4],
  ["the fifth", [...FOUR, "adal@gmail.com"], 5],
  ["upper case is no spelling", [...FOUR, "ADA.L@GMAIL.COM"], 4],
  ["the same spelling again is none", [...FOUR, ...FOUR], 4],
  ["another mailbox has its own count", [...FOUR, "ada@gmail.com"], 1],
  ["elsewhere dots make another mailbox", ["a.b@x.example", "ab@x.example"], 1],
  ["details of one mailbox are spellings", ["ab@x.example", "ab+1@x.example"], 2],
  ["a domain is no mailbox", ["x.example"], undefined],
  ["nonsense is no mailbox", ["a b@x"], undefined],
];

for (const [name, entries, want] of cases) {
  test(`spellings: ${name}`, async (t) => {
    const { seen, counter } = await openCounter(t);
    assert.equal(await seen(entries), want);
    await counter.flush();
    assert.equal(await seen(entries.slice(-1)), want, "after a restart too");
  });
}

test("seven days later a spelling counts no more", async (t) => {
  const { seen, counter, clock } = await openCounter(t);
  await seen(FOUR);
  clock.advance(6 * DAY_MS);
  assert.equal(await seen(["adal@gmail.com"]), 5);
  await counter.flush();
  clock.advance(DAY_MS);
  assert.equal(await seen(["adal@gmail.com"]), 1);
});

test("what is kept are keyed hashes, another one for each account", async (t) => {
  const { seen, counter, turn, sql } = await openCounter(t);
  await turn("a2", "on");
  await seen(["Ada.L@gmail.com"], "a1");
  await seen(["Ada.L@gmail.com"], "a2");
  await counter.flush();
  const rows = await sql.db.selectFrom("own_spellings").selectAll().execute();
  assert.equal(rows.length, 2);
  assert.doesNotMatch(JSON.stringify(rows), /ada|gmail/i);
  assert.equal(new Set(rows.flatMap(({ mailbox, spelling }) => [mailbox, spelling])).size, 4);
});

test("a store that fails says nothing and is logged, and what waits is written later", async (t) => {
  const { spellings, clock, log } = await openCounter(t);
  let isDown = true;
  const counter = createSpellingCounter({
    spellings: {
      ofMailboxes: (...asked) =>
        isDown ? Promise.reject(new Error("down")) : spellings.ofMailboxes(...asked),
      add: (...rows) => (isDown ? Promise.reject(new Error("down")) : spellings.add(...rows)),
    },
    hash,
    clock,
    log,
  });
  for (const entry of FOUR) assert.deepEqual(await counter.mailboxSeen("a1", entry), {});
  assert.deepEqual([...new Set(log.lines)], ["error own_traffic.read_failed"]);
  isDown = false;
  assert.deepEqual(await counter.mailboxSeen("a1", "adal@gmail.com"), { seen: 5 });
  isDown = true;
  await counter.flush();
  assert.deepEqual(log.lines.slice(4), ["error own_traffic.write_failed"]);
});

test("a store that does not answer holds a decision up for half a second", async (t) => {
  const { clock, log } = await openCounter(t);
  const spellings = {
    ofMailboxes: () => new Promise<never>(() => undefined),
    add: () => Promise.resolve(),
  };
  const counter = createSpellingCounter({ spellings, hash, clock, log });
  const asked = counter.mailboxSeen("a1", FOUR[0] ?? "");
  clock.advance(500);
  assert.deepEqual(await asked, {});
  assert.deepEqual(log.lines, ["error own_traffic.read_failed"]);
});

test("a flood of spellings fills neither the memory nor the table", async (t) => {
  const { counter, spellings, sql } = await openCounter(t);
  const flood = Array.from({ length: 200 }, (_, n) => `ab+${String(n)}@x.example`);
  for (const entry of flood) await counter.mailboxSeen("a1", entry);
  await counter.flush();
  const rows = await sql.db.selectFrom("own_spellings").selectAll().execute();
  assert.equal(rows.length, 20, "more spellings of one mailbox change nothing");
  assert.equal((await spellings.ofMailboxes("a1", [rows[0]?.mailbox ?? ""], 0)).length, 20);
});

test("switching off forgets what was counted", async (t) => {
  const { seen, counter, spellings, sql, clock } = await openCounter(t);
  const turn = createTrafficSwitch({ accounts: sqlAccounts(sql.db), spellings, clock });
  await seen([...FOUR, "adal@gmail.com"]);
  await counter.flush();
  assert.equal(await turn("a1", "off"), true);
  assert.deepEqual(await sql.db.selectFrom("own_spellings").selectAll().execute(), []);
  assert.equal(await turn("nobody", "off"), false);
});
