import { strict as assert } from "node:assert";
import { type TestContext, test } from "node:test";
import { takeCompleted } from "../../../test/contracts/bulk/bulk-stores.ts";
import {
  bulkWorld,
  type BulkWorld,
  admittedAs,
  mailEverywhere,
} from "../../../test/bulk/bulk-world.ts";
import { workbookOf } from "../../../test/e2e/pages/workbook.ts";
import { createOctetBox } from "../../base/secrets.ts";
import { createShares } from "../../base/shares.ts";
import type { CsvCell } from "../../core/batch/result-cells.ts";
import { ROW_CLASSES } from "../../core/batch/row-class.ts";
import { ListReader } from "./list-reader.ts";
import { AccountLists, type OpenList } from "./lists.ts";
import { pruneSessions } from "../jobs/housekeeping.ts";
import { SESSION_LIFE_MS } from "../jobs/pack-batch.ts";
import { LISTS, pruneListHistory } from "./list-store.ts";

interface ListWorld extends BulkWorld {
  readonly lists: AccountLists;
  /** What a server that starts anew knows. */
  again(): AccountLists;
  add(content: string | Uint8Array, name?: string): Promise<OpenList>;
  check(open: OpenList, order?: { first?: number; again?: boolean }): Promise<OpenList>;
  counts(open: OpenList): Promise<Readonly<Record<string, number>>>;
  prune(): Promise<number>;
}

const ACCOUNT = "a1";
const LIFE_MS = 24 * 3_600_000;
const whose = ({ list: { id } }: OpenList) => ({ accountId: ACCOUNT, id });
const PRO = {
  owner: { kind: "account", accountId: ACCOUNT },
  tier: "pro",
  clientAddress: "192.0.2.1",
} as const;

async function listWorld(t: TestContext, silent = "silent.example"): Promise<ListWorld> {
  const world = await bulkWorld(t, { lookup: mailEverywhere((name) => name === silent) });
  const { stores, bulk } = world;
  const again = (): AccountLists => {
    const made = new AccountLists({
      ...stores,
      db: stores.sql.db,
      bulk,
      shares: createShares(),
      reader: new ListReader(),
      wake: () => undefined,
      box: createOctetBox(new Uint8Array(32).fill(7), LISTS),
      lifeMs: LIFE_MS,
    });
    return made;
  };
  const lists = again();
  return {
    ...world,
    lists,
    again,
    add: (content, name = "list.csv") =>
      lists.add({ accountId: ACCOUNT, name, file: [new Uint8Array(Buffer.from(content))] }),
    check: (open, { first, again: isAgain = false } = {}) =>
      lists.check(whose(open), admittedAs(PRO), {
        again: isAgain,
        ...(first !== undefined && { first }),
      }),
    async counts(open) {
      const { counts, rows } = await lists.facts(await lists.find(whose(open)));
      const there = Object.entries(counts).filter(([, count]) => count > 0);
      assert.equal(
        there.reduce((sum, [, count]) => sum + count, 0),
        rows,
      );
      return Object.fromEntries(there);
    },
    prune: () => pruneSessions(stores.sql.db, stores.clock.nowMs()),
  };
}

async function csvOf(
  { lists }: ListWorld,
  open: OpenList,
  classes = ROW_CLASSES as readonly string[],
  columns: "mine" | "verdict" | "all" = "all",
) {
  const chosen = ROW_CLASSES.filter((name) => classes.includes(name));
  const rows: (readonly CsvCell[])[] = [];
  const order = { classes: chosen, columns } as const;
  for await (const piece of lists.file(await lists.find(whose(open)), order)) rows.push(...piece);
  return rows.map((cells) => cells.map((cell = "") => String(cell)));
}

const people = (count: number): string =>
  `name,email\n${Array.from({ length: count }, (_, at) => `P${String(at)},p${String(at)}@d${String(at)}.example\n`).join("")}`;

const TWO = workbookOf({
  Notes: [["title"], ["nothing"]],
  People: [
    ["name", "mail"],
    ["Jo", "jo@good.example"],
  ],
  More: [["mail"], ["an@good.example"], ["ed@good.example"], ["an@good.example"]],
});

type Case = readonly [
  name: string,
  content: string | Uint8Array,
  counts: Readonly<Record<string, number>>,
  file?: string,
];

/** Files and the classes of their rows after the check. */
const files: readonly Case[] = [
  ["a header and rows", "name,email\nJo,jo@good.example\nAn,an@good.example\n", { good: 2 }],
  [
    "a short row and an empty cell",
    "name,email,x\nJo,jo@good.example\n,,\n",
    { good: 1, blank: 1 },
  ],
  [
    "a row with a cell too many",
    "name,email,city\nJo,jo@good.example,Bonn\nAn,an@good.example,Ulm,extra\n",
    { good: 2 },
  ],
  [
    "a comma that is not quoted",
    "name,email,city\nJo,jo@good.example,Bonn\nElm, An,an@good.example,Ulm\n",
    { good: 1, unread: 1 },
  ],
  [
    "an open quote",
    'name,email\n"Jo,jo@good.example\nAn,an@good.example\n',
    { good: 1, unread: 1 },
  ],
  [
    "several entries in one cell",
    'name,email\nJo,"jo@good.example, jo2@good.example"\nAn,an@good.example; jo@good.example\nEd,"jo@good.example, jo2@good.example"\n',
    { good: 2, duplicate: 1 },
  ],
  [
    "entries in wraps",
    "mailto:jo@good.example\n<an@good.example>\nJO@good.example\n",
    { good: 2, duplicate: 1 },
    "a.txt",
  ],
  [
    "spellings of one entry",
    "ÄN@good.example\njo@GOOD.example\njo@good.example.\n",
    { good: 2, format: 1 },
    "a.txt",
  ],
  [
    "many on one line",
    "jo@good.example, an@good.example jo@good.example",
    { good: 2, duplicate: 1 },
    "a.txt",
  ],
  [
    "JSON lines",
    '{"email":"jo@good.example","n":1}\n{"email":"an@silent.example"}\n',
    { good: 1, unsure: 1 },
  ],
  ["a workbook: the sheet with the most entries", TWO, { good: 2, duplicate: 1 }, "two.xlsx"],
  [
    "a misspelt domain, a lost at sign, a domain among addresses",
    "jo@gmial.com\njo.ash.gmail.com\ngood.example\njo@good.example\nan@good.example\ned@good.example\nan(at)good.example\n",
    { misspelt: 1, format: 3, good: 3 },
    "a.txt",
  ],
];

for (const [name, content, counts, file] of files) {
  test(`rows in are rows out, each of one class: ${name}`, async (t) => {
    const world = await listWorld(t);
    const open = await world.add(content, file);
    const rows = Object.values(counts).reduce((sum, count) => sum + count, 0);
    assert.equal(open.list.rows, rows);
    const before = await world.counts(open);
    assert.ok((before["unchecked"] ?? 0) > 0);
    await world.check(open);
    assert.deepEqual(await world.counts(open), counts);
    const out = await csvOf(world, open);
    assert.equal(out.length - 1, rows, "one row of the file for each");
    const again = await world.add(
      out.map((cells) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join()).join("\n"),
    );
    assert.equal(again.list.rows, rows, "our own file is read as its rows again");
  });
}

const refusals: readonly (readonly [string, string | Uint8Array, RegExp])[] = [
  [
    "a PNG",
    Buffer.from("89504e470d0a1a0a0000000d", "hex"),
    /^The file is not a list that can be read here; /,
  ],
  ["gzip", Buffer.from("1f8b0800000000000000", "hex"), /compressed; unpack it first/],
  ["no column with entries", "a,b\nc,d\n", /^No column holds addresses or domains\.$/],
  ["an empty file", "", /^The file has no entries\.$/],
  ["a header alone", "email\n", /^The file has no entries\.$/],
];

for (const [name, content, message] of refusals) {
  test(`a file that is no list is refused in words: ${name}`, async (t) => {
    const world = await listWorld(t);
    await assert.rejects(world.add(content), { message });
    assert.deepEqual(await world.lists.all(ACCOUNT), []);
  });
}

test("nothing is charged before the check, and each entry once", async (t) => {
  const world = await listWorld(t);
  const open = await world.add("a@x.example\nA@X.example\nb@x.example\n", "a.txt");
  await world.lists.choose(whose(open), {});
  assert.equal(await world.stores.unitsUsed(), 0);
  await world.check(open);
  assert.equal(await world.stores.unitsUsed(), 2);
});

test("another server, and one that starts anew, shows the same", async (t) => {
  const world = await listWorld(t);
  const open = await world.add(TWO, "two.xlsx");
  await world.lists.choose(whose(open), { sheet: "People" });
  await world.check(open);
  const other = world.again();
  const [known] = await other.all(ACCOUNT);
  assert.ok(known);
  const { shape, counts, rows } = await other.facts(known);
  assert.deepEqual([shape.sheet, rows, counts.good], ["People", 1, 1]);
  assert.deepEqual(shape.sheets, ["Notes", "People", "More"]);
});

test("an account sees no list of another", async (t) => {
  const world = await listWorld(t);
  const { list } = await world.add("jo@good.example\n", "a.txt");
  const other = { accountId: "a2", id: list.id };
  const asks = [
    () => world.lists.find(other),
    () => world.lists.choose(other, {}),
    () => world.lists.check(other, admittedAs(PRO), { again: false }),
    () => world.lists.stop(other),
    () => world.lists.fix(other, { of: { class: "misspelt" }, undo: false }),
    () => world.lists.remove(other),
  ];
  for (const ask of asks) await assert.rejects(ask, /Not found/);
  assert.deepEqual(await world.lists.all("a2"), []);
});

test("what the first check leaves is not checked, and the next one checks it", async (t) => {
  const world = await listWorld(t);
  const open = await world.add(people(30));
  await world.check(open, { first: 20 });
  assert.deepEqual(await world.counts(open), { good: 20, unchecked: 10 });
  const statuses = (await csvOf(world, open)).map((cells) => cells[4]);
  assert.equal(statuses.filter((status) => status === "not_checked").length, 10);
  await world.check(open);
  assert.deepEqual(await world.counts(open), { good: 30 });
  assert.equal(await world.stores.unitsUsed(), 30);
  await assert.rejects(world.check(open), /Nothing of this list is left/);
});

test("a list is kept for its hours after the last check, with all its results, and then leaves counts", async (t) => {
  const world = await listWorld(t, "p1@d1.example");
  const { clock, sql } = world.stores;
  const open = await world.add(people(30), "ann@x.example, all.csv");
  await world.check(open, { first: 20 });
  clock.advance(SESSION_LIFE_MS + 1);
  assert.equal(await world.prune(), 0, "sessions of the API end by now");
  assert.deepEqual(await world.counts(open), { good: 20, unchecked: 10 });
  clock.advance(LIFE_MS - SESSION_LIFE_MS - 60_000);
  await world.check(open);
  clock.advance(LIFE_MS - 60_000);
  await world.prune();
  assert.deepEqual(await world.counts(open), { good: 30 });
  assert.deepEqual(await world.lists.history(ACCOUNT), []);
  clock.advance(61_000);
  await assert.rejects(world.lists.find(whose(open)), /Not found/);
  await world.prune();
  await world.prune();
  for (const table of ["account_lists", "account_list_parts", "jobs", "chunks"] as const) {
    const rows = await sql.db.selectFrom(table).selectAll().execute();
    assert.deepEqual(rows, [], table);
  }
  const [past, ...others] = await world.lists.history(ACCOUNT);
  assert.equal(others.length, 0);
  const { name, row_count, checked, good, charged } = past ?? assert.fail();
  assert.deepEqual([name, row_count, checked, good, charged], ["…, all.csv", 30, 30, 30, 30]);
  assert.equal(await pruneListHistory(sql.db, clock.nowMs() + 399 * 86_400_000 - 2 * LIFE_MS), 0);
  assert.equal(await pruneListHistory(sql.db, clock.nowMs() + 400 * 86_400_000), 1);
});

test("a list that nobody checks is deleted after its time", async (t) => {
  const world = await listWorld(t);
  const { clock } = world.stores;
  const open = await world.add(people(3));
  clock.advance(LIFE_MS - 1);
  await world.prune();
  await world.lists.find(whose(open));
  clock.advance(1);
  await assert.rejects(world.lists.find(whose(open)), /Not found/);
});

test("a list whose check is under way at its end is kept until that is done", async (t) => {
  const world = await listWorld(t);
  const { clock } = world.stores;
  const open = await world.add(people(120));
  await world.check(open);
  clock.advance(LIFE_MS + 1);
  await world.prune();
  assert.ok((await world.lists.find(whose(open))).running);
  await world.lists.stop(whose(open));
  assert.equal((await world.lists.find(whose(open))).endMs, clock.nowMs() + SESSION_LIFE_MS);
  clock.advance(SESSION_LIFE_MS);
  await world.prune();
  await assert.rejects(world.lists.find(whose(open)), /Not found/);
});

test("a check that was charged is seen, however its request ended", async (t) => {
  const world = await listWorld(t);
  const open = await world.add(people(120));
  const started = world.check(open);
  await started;
  const seen = await world.again().find(whose(open));
  assert.equal(seen.running?.unique, 120);
  await assert.rejects(world.check(open), /is being checked/);
  await assert.rejects(world.lists.choose(whose(open), {}), /is being checked/);
});

test("two presses at once charge once", async (t) => {
  const world = await listWorld(t);
  const open = await world.add(people(30));
  const other = world.again();
  const order = { again: false };
  const both = await Promise.allSettled([
    world.check(open),
    other.check(whose(open), admittedAs(PRO), order),
  ]);
  assert.equal(both.filter(({ status }) => status === "fulfilled").length, 1);
  assert.equal(await world.stores.unitsUsed(), 30);
});

test("a check that is ended keeps what is done and gives back what has not begun", async (t) => {
  const world = await listWorld(t);
  const { chunks, clock } = world.stores;
  const open = await world.add(people(1_600));
  await world.check(open);
  const claim = (token: string) =>
    chunks.claim({ worker: "w", nowMs: clock.nowMs(), leaseMs: 15_000 }, token);
  const [first, second] = [await claim("t1"), await claim("t2")];
  assert.ok(first && second);
  const complete = (chunk: typeof first) => {
    const result = JSON.stringify({
      format: true,
      domain: "x",
      disposable: false,
      dns: true,
      confidence: 0,
      whitelist: false,
      signals: [],
      role: false,
      free: false,
    });
    const results = Array.from({ length: chunk.entries }, () => result);
    const tally = { invalidFormat: 0, disposable: 0, invalidDns: 0, valid: chunk.entries };
    return chunks.complete(
      chunk,
      { results, valid: [], tally },
      { nowMs: clock.nowMs(), conclusive: true },
    );
  };
  await complete(first);
  const stopping = await world.lists.stop(whose(open));
  assert.equal(stopping.running?.state, "stopping");
  assert.equal(await world.stores.unitsUsed(), 1_000, "two chunks have begun");
  assert.equal(await claim("t3"), undefined);
  assert.equal(await complete(second), "finished");
  const stopped = await world.lists.find(whose(open));
  assert.deepEqual(
    [stopped.running, stopped.runs[0]?.state, stopped.runs[0]?.charged],
    [undefined, "stopped", 1_000],
  );
  assert.deepEqual(await world.counts(open), { good: 1_000, unchecked: 600 });
  assert.equal(await takeCompleted(world.stores), undefined, "no webhook tells of it");
  const view = await world.bulk.view(PRO, stopped.runs[0]?.session ?? "");
  assert.equal(view.kind === "progress" && view.progress.status, "failed");
  await world.check(open);
  assert.equal(await world.stores.unitsUsed(), 1_600);
});

test("deleting a list ends its check, gives back what has not begun and leaves nothing", async (t) => {
  const world = await listWorld(t);
  const open = await world.add(people(600));
  await world.check(open);
  await world.lists.remove(whose(open));
  assert.equal(await world.stores.unitsUsed(), 0);
  await assert.rejects(world.lists.find(whose(open)), /Not found/);
  assert.deepEqual(
    await world.stores.sql.db.selectFrom("account_list_parts").selectAll().execute(),
    [],
  );
  await world.prune();
  for (const table of ["account_lists", "jobs", "chunks"] as const) {
    assert.deepEqual(await world.stores.sql.db.selectFrom(table).selectAll().execute(), []);
  }
});

const SLIPS =
  "name,email\nJo,jo@gmial.com\nJo,jo@gmail.com\nAn,an@gmial.com\nEd,ed@good.example\nLu,lu.gmail.com\n";

test("fixed entries are compared with the others, checked again, and can be taken back", async (t) => {
  const world = await listWorld(t, "gmial.com");
  const open = await world.add(SLIPS);
  await world.check(open);
  const before = await world.counts(open);
  assert.deepEqual(before, { good: 2, misspelt: 2, format: 1 });
  const { lists } = world;
  await lists.fix(whose(open), { of: { class: "misspelt" }, undo: false });
  // jo@gmail.com stands behind the row that is fixed to it: that one repeats now.
  assert.deepEqual(await world.counts(open), { good: 2, fixed: 1, duplicate: 1, format: 1 });
  const fixed = await csvOf(world, open, ["good", "fixed"]);
  assert.deepEqual(fixed[0]?.slice(0, 4), ["name", "email", "original", "verdict"]);
  assert.deepEqual(
    fixed.slice(1).map((cells) => cells.slice(0, 4)),
    [
      ["Jo", "jo@gmail.com", "jo@gmial.com", "Good"],
      ["An", "an@gmail.com", "an@gmial.com", "Fixed, not checked"],
      ["Ed", "ed@good.example", "", "Good"],
    ],
  );
  await world.check(open);
  assert.deepEqual(await world.counts(open), { good: 3, duplicate: 1, format: 1 });
  assert.equal(await world.stores.unitsUsed(), 6, "one fixed entry was new");
  await lists.fix(whose(open), { of: { entry: "jo@gmial.com" }, undo: true });
  assert.deepEqual(await world.counts(open), { good: 3, misspelt: 1, format: 1 });
  await lists.fix(whose(open), { of: { class: "misspelt" }, undo: true });
  assert.deepEqual(await world.counts(open), before);
});

test("several addresses in a row are judged and repaired each by itself", async (t) => {
  const world = await listWorld(t, "gmial.com");
  const open = await world.add('name,email\nJo,"jo@good.example ::: jo@gmial.com"\n');
  await world.check(open);
  const { lists } = world;
  const query = { class: "", why: "", text: "", from: 0, count: 9 } as const;
  const row = async () => (await lists.rows(await lists.find(whose(open)), query)).rows[0];
  const pieces = (await row())?.each?.map(({ entry, class: name, meant }) => [entry, name, meant]);
  assert.deepEqual(pieces, [
    ["jo@good.example", "good", ""],
    ["jo@gmial.com", "misspelt", "jo@gmail.com"],
  ]);
  assert.deepEqual(await world.counts(open), { good: 1 });
  await lists.choose(whose(open), { keep: "all" });
  assert.deepEqual(await world.counts(open), { misspelt: 1 });
  await lists.fix(whose(open), { of: { entry: "jo@gmial.com" }, undo: false });
  await world.check(open);
  assert.deepEqual(await world.counts(open), { good: 1 });
  const fixed = await row();
  assert.deepEqual(
    [fixed?.entry, fixed?.each?.map(({ was }) => was)],
    ["jo@good.example, jo@gmail.com", [undefined, "jo@gmial.com"]],
  );
});

test("what DNS said nothing about is checked again", async (t) => {
  const world = await listWorld(t);
  const open = await world.add("jo@silent.example\njo@good.example\n", "a.txt");
  await world.check(open);
  await world.check(open, { again: true });
  assert.deepEqual(await world.counts(open), { good: 1, unsure: 1 });
  assert.equal(await world.stores.unitsUsed(), 3);
});

test("an account has a bounded number of lists, and a part of the room", async (t) => {
  const world = await listWorld(t);
  const { stores, lists } = world;
  for (let at = 0; at < 10; at += 1) await world.add("jo@good.example\n", "a.txt");
  await assert.rejects(world.add("jo@good.example\n", "a.txt"), /You have 10 lists here/);
  for (const open of await lists.all(ACCOUNT)) await lists.remove(whose(open));
  for (let at = 0; at < 10; at += 1) await world.add("jo@good.example\n", "a.txt");
  assert.equal((await lists.history(ACCOUNT)).length, 10, "deleted ones free their place at once");
  await stores.sql.db.updateTable("account_lists").set({ octets: 99_999_990 }).execute();
  const file = [new Uint8Array(Buffer.from("jo@good.example\n"))];
  await assert.rejects(lists.add({ accountId: "a3", name: "a.txt", file }), /no room for a list/);
});
