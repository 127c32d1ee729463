import { WORKBOOK_TYPE } from "../../bulk/files/write-workbook.ts";
import { strict as assert } from "node:assert";
import { after, before, test } from "node:test";
import { Browser, type Reply } from "../../../test/dashboard/dashboard-client.ts";
import { type DashboardWorld, dashboardWorld } from "../../../test/dashboard/dashboard-world.ts";
import { until } from "../../../test/time/until.ts";
import type { ListRows, ListState } from "./shapes.ts";

let world: DashboardWorld;
let people = 0;

before(async () => {
  world = await dashboardWorld({
    zone: {
      "good.example": { mx: ["10 mx.good.example"] },
      "gmail.com": { mx: ["10 mx.good.example"] },
      "throwaway.example": { mx: ["10 mx.good.example"] },
      "mx.good.example": { a: ["203.0.113.5"] },
      "silent.example": { unknown: true },
    },
    known: { curated: ["throwaway.example"] },
  });
});
after(() => world.close());

/** `spent`: checks of its day that are used up. */
async function person(tier: "free" | "pro" = "pro", spent = 0): Promise<Browser> {
  people += 1;
  const id = await world.addAccount(`p${String(people)}@lists.example`, { tier });
  const day = Math.floor(Date.now() / 86_400_000);
  if (spent > 0) await world.usage.add([{ owner: `account:${id}`, day, units: spent }]);
  const browser = new Browser(world);
  browser.cookie = await world.cookieOf(id);
  return browser;
}

type Content = string | Uint8Array<ArrayBuffer>;

async function uploaded(browser: Browser, content: Content, name = "list.csv"): Promise<ListState> {
  const reply = await browser.upload("lists", name, content);
  assert.equal(reply.status, 200, reply.text);
  return reply.json as ListState;
}

const used = async (browser: Browser): Promise<number> =>
  ((await browser.get("allowance")).json as { day: { used: number } }).day.used;

/** Waits until the list is not being checked. */
async function checked(browser: Browser, id: string): Promise<ListState> {
  return await until(
    async () => {
      const { json } = await browser.get(`lists/${id}`);
      const state = json as ListState;
      return state.state === "done" ? state : undefined;
    },
    { what: "the check to end" },
  );
}

async function check(browser: Browser, id: string, body: object = {}): Promise<ListState> {
  const reply = await browser.post(`lists/${id}/check`, body);
  assert.equal(reply.status, 200, reply.text);
  return await checked(browser, id);
}

/** The classes that have rows. */
function countsOf({ read, rows }: ListState): Readonly<Record<string, number>> {
  const counts = Object.entries(read?.counts ?? {}).filter(([, count]) => count > 0);
  const sum = counts.reduce((all, [, count]) => all + count, 0);
  assert.equal(sum, rows, "each row has one class");
  return Object.fromEntries(counts);
}

const PEOPLE =
  "Name,E-mail,Old\nAnn,ann@good.example,x\nBob,bob@gmial.com,\nBob,BOB@GMAIL.COM,y\nEve,eve@throwaway.example,\n,,\n" +
  "Ann again,Ann <ann@good.example>,\nSam,sam@silent.example,\nOdd,not an address,\nLong,a,b@good.example,y,z\n";

test("a list from the file to the cleaned file", async () => {
  const browser = await person();
  const list = await uploaded(browser, PEOPLE, "people.csv");
  assert.equal(list.state, "chosen");
  assert.deepEqual(list.read?.columns, ["Name", "E-mail", "Old", "column_4", "column_5"]);
  assert.equal(list.read.column, 1);
  assert.deepEqual(countsOf(list), { unchecked: 6, duplicate: 1, blank: 1, unread: 1 });
  assert.deepEqual([list.read.open, list.charged], [6, 0]);
  assert.equal(await used(browser), 0, "nothing is charged before the check");
  const done = await check(browser, list.id);
  assert.deepEqual(countsOf(done), {
    good: 2,
    misspelt: 1,
    disposable: 1,
    unsure: 1,
    format: 1,
    duplicate: 1,
    blank: 1,
    unread: 1,
  });
  assert.deepEqual([done.charged, await used(browser)], [6, 6]);
});

test("rows come a page at a time, filtered and searched", async () => {
  const browser = await person();
  const entries = Array.from({ length: 120 }, (_, at) => `u${String(at)}@good.example`);
  const { id } = await uploaded(browser, [...entries, "x@throwaway.example"].join("\n"), "a.txt");
  await check(browser, id);
  const rows = async (query: string): Promise<ListRows> =>
    (await browser.get(`lists/${id}/rows?${query}`)).json as ListRows;
  const first = await rows("");
  assert.deepEqual([first.total, first.rows.length, first.rows[0]?.line], [121, 50, 1]);
  assert.deepEqual((await rows("from=100&count=200")).rows.length, 21);
  const bad = await rows("class=disposable");
  assert.deepEqual(
    bad.rows.map(({ entry, class: name }) => [entry, name]),
    [["x@throwaway.example", "disposable"]],
  );
  assert.deepEqual(bad.reasons, [{ why: bad.rows[0]?.why, rows: 1 }]);
  assert.equal((await rows("text=U77@")).total, 1);
  assert.equal((await browser.get(`lists/${id}/rows?class=odd`)).status, 400);
});

test("the cleaned file has the classes that are asked for, and a mark for Excel", async () => {
  const browser = await person();
  const { id } = await uploaded(browser, PEOPLE, "Männer.xlsx.csv");
  await check(browser, id);
  const reply = await browser.get(`lists/${id}/csv?classes=good&encoding=utf-8`);
  assert.equal(reply.headers.get("content-type"), "text/csv; charset=utf-8");
  assert.equal(
    reply.headers.get("content-disposition"),
    "attachment; filename*=UTF-8''M%C3%A4nner.xlsx-good.csv",
  );
  const lines = reply.text.trim().split("\n");
  assert.deepEqual(
    lines.map((line) => line.split(",").slice(0, 8).join()),
    [
      "Name,E-mail,Old,column_4,column_5,verdict,reason,status",
      "Ann,ann@good.example,x,,,Good,,valid",
      "Bob,BOB@GMAIL.COM,y,,,Good,,valid",
    ],
  );
  assert.equal((await browser.get(`lists/${id}/csv?columns=some`)).status, 400);
  assert.equal((await browser.get(`lists/${id}/csv?classes=good,odd`)).status, 400);
});

const SEMICOLONS =
  "Our people\nname;mail;phone\nZoe;x@throwaway.example;+49 2\nAnn;ann@good.example;0171 1\n";

const files = [
  [
    "columns=mine",
    "name;mail;phone",
    "Zoe;x@throwaway.example;+49 2",
    "Ann;ann@good.example;0171 1",
  ],
  ["columns=mine&classes=disposable", "name;mail;phone", "Zoe;x@throwaway.example;+49 2"],
  [
    "columns=verdict&classes=good",
    "name;mail;phone;verdict;reason",
    "Ann;ann@good.example;0171 1;Good;",
  ],
] as const;

test("a file keeps its delimiter, its own columns and its telephone numbers", async () => {
  const browser = await person();
  const { id } = await uploaded(browser, SEMICOLONS);
  await check(browser, id);
  const { read } = (await browser.get(`lists/${id}`)).json as ListState;
  assert.equal(read?.above, 1);
  for (const [query, ...lines] of files) {
    const { text } = await browser.get(`lists/${id}/csv?${query}`);
    assert.equal(text, `${lines.join("\n")}\n`, query);
  }
  const book = await browser.get(`lists/${id}/xlsx?columns=mine`);
  assert.equal(book.headers.get("content-type"), WORKBOOK_TYPE);
  assert.match(book.headers.get("content-disposition") ?? "", /-cleaned\.xlsx$/);
  assert.equal(book.text.slice(0, 2), "PK");
  for (const [sort, first] of [
    ["entry", "ann@good.example"],
    ["verdict", "ann@good.example"],
    ["reason", "ann@good.example"],
    ["domain", "ann@good.example"],
  ] as const) {
    const { rows } = (await browser.get(`lists/${id}/rows?sort=${sort}`)).json as ListRows;
    assert.equal(rows[0]?.entry, first, sort);
  }
  assert.equal((await browser.get(`lists/${id}/rows?sort=odd`)).status, 400);
});

type Refusal = readonly [
  name: string,
  ask: (browser: Browser, id: string) => Promise<Reply>,
  status: number,
  error: RegExp,
];

/** What is refused, in words that stand on the page as they are. */
const refusals: readonly Refusal[] = [
  [
    "a PNG",
    (b) => b.upload("lists", "a.png", PNG),
    400,
    /^The file is not a list that can be read here; save it as .csv or .xlsx and send that\.$/,
  ],
  ["no file", (b) => b.post("lists", { text: "a@b.example" }), 415, /multipart/],
  ["an unknown sheet", (b, id) => b.post(`lists/${id}/read`, { column: 40 }), 400, /no column/],
  [
    "a column that is no number",
    (b, id) => b.post(`lists/${id}/read`, { column: "x" }),
    400,
    /whole number/,
  ],
  [
    "nothing to check again",
    (b, id) => b.post(`lists/${id}/check`, { again: true }),
    409,
    /^Nothing of this list is left/,
  ],
  [
    "an unknown class",
    (b, id) => b.post(`lists/${id}/fix`, { class: "odd" }),
    400,
    /class of rows/,
  ],
  ["another list", (b) => b.get(`lists/${"0".repeat(32)}`), 404, /Not found/],
  [
    "a negative part",
    (b, id) => b.post(`lists/${id}/check`, { first: -1 }),
    409,
    /^Nothing of this list is left/,
  ],
];
const PNG = new Uint8Array(Buffer.from("89504e470d0a1a0a0000000d", "hex"));

test("what is refused is said in a sentence, and changes nothing", async (t) => {
  const browser = await person();
  const { id } = await uploaded(browser, "ann@good.example\nbob@good.example\n", "a.txt");
  for (const [name, ask, status, error] of refusals) {
    await t.test(name, async () => {
      const reply = await ask(browser, id);
      assert.equal(reply.status, status, reply.text);
      assert.match((reply.json as { error: string }).error, error);
    });
  }
  assert.equal(await used(browser), 0);
  assert.equal(((await browser.get(`lists/${id}`)).json as ListState).state, "chosen");
});

test("a plan covers a part, which is checked; the rest is refused in words and free", async () => {
  const browser = await person("free", 9_990);
  const entries = Array.from({ length: 30 }, (_, at) => `u${String(at)}@good.example`);
  const list = await uploaded(browser, entries.join("\n"), "a.txt");
  assert.deepEqual([list.read?.open, list.read?.plan_left], [30, 10]);
  const whole = await browser.post(`lists/${list.id}/check`);
  assert.equal(whole.status, 429);
  assert.match((whole.json as { error: string }).error, /quota exceeded\.$/);
  const part = await check(browser, list.id, { first: 10 });
  assert.deepEqual(countsOf(part), { good: 10, unchecked: 20 });
  assert.deepEqual([part.read?.plan_left, part.charged], [0, 10]);
});

test("the activity log has lists that were downloaded and deleted, without their names", async () => {
  const browser = await person();
  const { id } = await uploaded(browser, "jo@good.example\n", "secret plans.csv");
  await check(browser, id);
  await checked(browser, id);
  assert.equal((await browser.get(`lists/${id}/csv`)).status, 200);
  assert.equal((await browser.delete(`lists/${id}`)).status, 204);
  const { json, text } = await browser.get("activity");
  const actions = (json as { entries: { action: string }[] }).entries.map(({ action }) => action);
  assert.deepEqual(
    actions.filter((action) => action.startsWith("list.")),
    ["list.deleted", "list.downloaded"],
  );
  assert.doesNotMatch(text, /secret|good\.example/);
});

test("each of several addresses has its verdict and lists, and the good ones are kept alone", async () => {
  const browser = await person();
  const file = "name;mail\nZoe;x@throwaway.example, zoe@good.example\nEve;e@throwaway.example\n";
  const { id } = await uploaded(browser, file);
  const { read } = await check(browser, id);
  assert.equal(read?.several, 1);
  const { json } = await browser.get(`lists/${id}/rows`);
  const { rows } = json as ListRows;
  assert.deepEqual(
    rows[0]?.each?.map(({ class: name, lists }) => [name, lists?.length]),
    [
      ["disposable", 1],
      ["good", undefined],
    ],
  );
  assert.equal(rows[1]?.lists?.length, 1);
  const { text } = await browser.get(`lists/${id}/csv?columns=mine&pieces=good`);
  assert.match(text, /^name;mail\r?\nZoe;zoe@good\.example\r?\nEve;e@throwaway\.example\r?\n$/);
});
