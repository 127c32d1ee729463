import { strict as assert } from "node:assert";
import { test, type TestContext } from "node:test";
import { openStores, spellingsFixture } from "../../../test/contracts/stores.ts";
import { literalDatasets } from "../../../test/lists/literal-datasets.ts";
import { memoryAnswers } from "../../../test/http/memory-answers.ts";
import { entranceOf, openAdmission } from "../../../test/http/open-admission.ts";
import { zoneLookup } from "../../../test/dns/zone-lookup.ts";
import { createAddressHash } from "../../adapters/system/address-hash.ts";
import { DAY_MS } from "../../core/calendar.ts";
import { createCheckOne } from "../check/check-one.ts";
import type { Entrance } from "../admission/admission.ts";
import { createSpellingCounter, ownEvidenceFor } from "./own-spellings.ts";
import { createSingleCheck } from "../check/single-check.ts";
import { createSpellingSwitch } from "../account/spelling-switch.ts";
import { sqlAccounts } from "../../adapters/sql/account/accounts.ts";
import { DEFAULT_TIERS } from "../admission/tiers.ts";

const hash = createAddressHash(new Uint8Array(32).fill(5), "own traffic");

/** A counter on SQLite; "a1" has its traffic counted, "a2" has not. */
async function openCounter(t: TestContext) {
  const stores = await openStores(t);
  const { spellings, turn } = await spellingsFixture(stores);
  const { clock, log } = stores;
  const counter = createSpellingCounter({ spellings, hash, clock, log });
  /** Whether the last of the entries, checked one after the other, has the signal. */
  const isScattered = async (entries: readonly string[], accountId = "a1"): Promise<boolean> => {
    let found = false;
    for (const entry of entries) {
      found = (await counter.ownEvidence(accountId, [entry]))(entry).length > 0;
    }
    return found;
  };
  return { ...stores, spellings, turn, counter, isScattered };
}

const FOUR = ["ada.l@gmail.com", "a.dal@gmail.com", "adal+x@gmail.com", "adal@googlemail.com"];

const cases: readonly (readonly [string, readonly string[], boolean])[] = [
  ["four spellings of one mailbox are nothing", FOUR, false],
  ["the fifth spelling has it", [...FOUR, "adal@gmail.com"], true],
  ["the first one has it from then on", [...FOUR, "adal@gmail.com", "ada.l@gmail.com"], true],
  ["upper case is no spelling", [...FOUR, "ADA.L@GMAIL.COM"], false],
  ["the same spelling again is none", [...FOUR, ...FOUR], false],
  ["another mailbox has not got it", [...FOUR, "adal@gmail.com", "ada@gmail.com"], false],
  [
    "elsewhere dots make another mailbox",
    ["a.b@x.example", "ab@x.example", "a.b+1@x.example", "a.b+2@x.example", "a.b+3@x.example"],
    false,
  ],
  [
    "five details of one mailbox are five spellings",
    ["", "+1", "+2", "+3", "+4"].map((detail) => `ab${detail}@x.example`),
    true,
  ],
  ["domains and nonsense are no mailboxes", ["x.example", "a@", "@", "a b@x", "x.example"], false],
];

for (const [name, entries, want] of cases) {
  test(`spellings: ${name}`, async (t) => {
    const { isScattered, counter } = await openCounter(t);
    assert.equal(await isScattered(entries), want);
    await counter.flush();
    assert.equal(await isScattered(entries.slice(-1)), want, "after a restart too");
  });
}

test("a batch is counted before any of it is checked", async (t) => {
  const { counter } = await openCounter(t);
  const entries = [...FOUR, "adal@gmail.com", "other@gmail.com"];
  const of = await counter.ownEvidence("a1", entries);
  const [first] = of("ada.l@gmail.com");
  assert.deepEqual([first?.signal, first?.weight], ["dot_scatter", 0.3]);
  assert.deepEqual(of("other@gmail.com"), []);
});

test("seven days later a spelling counts no more", async (t) => {
  const { isScattered, counter, clock } = await openCounter(t);
  await isScattered(FOUR);
  clock.advance(6 * DAY_MS);
  assert.equal(await isScattered(["adal@gmail.com"]), true);
  await counter.flush();
  clock.advance(DAY_MS);
  assert.equal(await isScattered(["adal@gmail.com"]), false);
});

test("what is kept are keyed hashes, another one for each account", async (t) => {
  const { isScattered, counter, turn, sql } = await openCounter(t);
  await turn("a2", "on");
  await isScattered(["Ada.L@gmail.com"], "a1");
  await isScattered(["Ada.L@gmail.com"], "a2");
  await counter.flush();
  const rows = await sql.db.selectFrom("own_spellings").selectAll().execute();
  assert.equal(rows.length, 2);
  assert.doesNotMatch(JSON.stringify(rows), /ada|gmail/i);
  assert.equal(new Set(rows.flatMap(({ mailbox, spelling }) => [mailbox, spelling])).size, 4);
});

test("a store that fails is no evidence and logged, and what waits is written later", async (t) => {
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
  const entries = [...FOUR, "adal@gmail.com"];
  assert.deepEqual((await counter.ownEvidence("a1", entries))("adal@gmail.com"), []);
  assert.deepEqual(log.lines, ["error own_traffic.read_failed"]);
  isDown = false;
  assert.equal((await counter.ownEvidence("a1", entries))("adal@gmail.com").length, 1);
  isDown = true;
  await counter.flush();
  assert.deepEqual(log.lines.slice(1), ["error own_traffic.write_failed"]);
});

test("a store that does not answer holds a check up for half a second", async (t) => {
  const { clock, log } = await openCounter(t);
  const spellings = {
    ofMailboxes: () => new Promise<never>(() => undefined),
    add: () => Promise.resolve(),
  };
  const counter = createSpellingCounter({ spellings, hash, clock, log });
  const asked = counter.ownEvidence("a1", FOUR);
  clock.advance(500);
  assert.deepEqual((await asked)(FOUR[0] ?? ""), []);
  assert.deepEqual(log.lines, ["error own_traffic.read_failed"]);
});

test("a flood of spellings fills neither the memory nor the table", async (t) => {
  const { counter, spellings, sql } = await openCounter(t);
  const flood = Array.from({ length: 200 }, (_, n) => `ab+${String(n)}@x.example`);
  assert.equal((await counter.ownEvidence("a1", flood))(flood[0] ?? "").length, 1);
  await counter.flush();
  const rows = await sql.db.selectFrom("own_spellings").selectAll().execute();
  assert.equal(rows.length, 20, "more spellings of one mailbox change nothing");
  assert.equal((await spellings.ofMailboxes("a1", [rows[0]?.mailbox ?? ""], 0)).length, 20);
});

/** Single checks with a cache that all owners share. */
async function openChecks(t: TestContext) {
  const { counter, clock } = await openCounter(t);
  const datasets = literalDatasets({});
  let checked = 0;
  const expiresAtMs = clock.nowMs() + 60_000;
  const lookup = {
    ...zoneLookup({}),
    mx: () => ({ kind: "absent", why: "noName", expiresAtMs }) as const,
  };
  const check = createSingleCheck({ lookup, datasets: () => datasets, clock, implicitMx: false });
  const checkOne = createCheckOne({
    admission: openAdmission(),
    check: (...asked) => {
      checked += 1;
      return check(...asked);
    },
    cache: memoryAnswers(),
    clock,
    tiers: DEFAULT_TIERS,
    publicUrl: () => "http://gatepost.example",
    datasetsVersion: () => 1,
    ownEvidence: counter.ownEvidence,
  });
  const signals = async (entrance: Entrance, text: string): Promise<readonly string[]> => {
    const answer = await checkOne(entrance, { text, mode: "address", features: [] });
    return (JSON.parse(answer.body) as { signals: string[] }).signals;
  };
  return { signals, checked: () => checked };
}

const ofAccount = (accountId: string, counts: boolean): Entrance => {
  const { caller, ...entrance } = entranceOf("free");
  const owner = { kind: "account", accountId } as const;
  return { ...entrance, caller: { ...caller, owner, ...(counts && { countsSpellings: true }) } };
};

test("the verdict of one owner's counters is shown to nobody else", async (t) => {
  const { signals } = await openChecks(t);
  const counted = ofAccount("a1", true);
  const last = "adal@gmail.com";
  for (const text of FOUR)
    assert.deepEqual(await signals(counted, text), await signals(ofAccount("a2", false), text));
  assert.ok((await signals(counted, last)).includes("dot_scatter"));
  for (const other of [ofAccount("a2", false), ofAccount("a3", true), entranceOf("anonymous")]) {
    assert.ok(!(await signals(other, last)).includes("dot_scatter"));
  }
  assert.ok((await signals(counted, last)).includes("dot_scatter"), "and kept for its own");
  assert.ok((await signals(counted, FOUR[0] ?? "")).includes("dot_scatter"));
});

test("an owner whose counters say nothing shares the kept answers", async (t) => {
  const { signals, checked } = await openChecks(t);
  await signals(ofAccount("a2", false), "ada@gmail.com");
  await signals(ofAccount("a1", true), "ada@gmail.com");
  assert.equal(checked(), 1);
});

test("without a key nothing is counted, whatever the caller says of itself", async () => {
  const { caller } = entranceOf("anonymous");
  const never = (): Promise<never> => Promise.reject(new Error("counted"));
  const of = ownEvidenceFor({ ...caller, countsSpellings: true }, ["a@b.example"], never);
  assert.deepEqual((await of)("a@b.example"), []);
});

test("switching off forgets what was counted", async (t) => {
  const { isScattered, counter, spellings, sql, clock } = await openCounter(t);
  const turn = createSpellingSwitch({ accounts: sqlAccounts(sql.db), spellings, clock });
  await isScattered([...FOUR, "adal@gmail.com"]);
  await counter.flush();
  assert.equal(await turn("a1", "off"), true);
  assert.deepEqual(await sql.db.selectFrom("own_spellings").selectAll().execute(), []);
  assert.equal(await turn("nobody", "off"), false);
});

const SUBS = ["a@x1.many.example", "b@x2.many.example", "x3.many.example"];

const subCases: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ["three names below a domain are nothing", SUBS, []],
  ["the fourth has it", [...SUBS, "c@x4.many.example"], ["own_subdomains many.example"]],
  ["one name again and again is one", [...SUBS, ...SUBS, "d@x1.many.example"], []],
  ["the domain itself has it not", [...SUBS, "x4.many.example", "e@many.example"], []],
  [
    "names below a public suffix have nothing in common",
    ["a.github.io", "b.github.io", "c.github.io", "d.github.io"],
    [],
  ],
  [
    "nor those below dynamic DNS",
    ["a.linkpc.net", "b.linkpc.net", "c.linkpc.net", "d.linkpc.net"],
    [],
  ],
];

for (const [name, entries, want] of subCases) {
  test(`own sub-names: ${name}`, async (t) => {
    const { counter } = await openCounter(t);
    let found: readonly string[] = [];
    for (const entry of entries) {
      const pieces = (await counter.ownEvidence("a1", [entry]))(entry);
      found = pieces.map(({ signal, subject = "" }) => `${signal} ${subject}`);
    }
    assert.deepEqual(found, want);
  });
}

test("own sub-names: yesterday's and another account's do not count", async (t) => {
  const { counter, clock } = await openCounter(t);
  const seen = async (account: string, entry: string): Promise<number> =>
    (await counter.ownEvidence(account, [entry]))(entry).length;
  for (const entry of SUBS) await seen("a1", entry);
  assert.equal(await seen("a2", "x4.many.example"), 0);
  await counter.flush();
  clock.advance(DAY_MS);
  assert.equal(await seen("a1", "x4.many.example"), 0);
  for (const entry of SUBS.slice(0, 2)) assert.equal(await seen("a1", entry), 0);
  assert.equal(await seen("a1", "x3.many.example"), 1, "four on this day");
});
