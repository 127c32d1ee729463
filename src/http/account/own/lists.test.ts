import { strict as assert } from "node:assert";
import { after, before, test } from "node:test";
import { Browser, type Reply } from "../../../../test/dashboard/dashboard-client.ts";
import { type DashboardWorld, dashboardWorld } from "../../../../test/dashboard/dashboard-world.ts";
import { until } from "../../../../test/time/until.ts";
import type { ListRows, ListState, ListSummaries } from "../shapes.ts";

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

async function person(tier: "free" | "pro" = "pro"): Promise<Browser> {
  people += 1;
  const id = await world.addAccount(`p${String(people)}@lists.example`, { tier });
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
    { what: "the check to end", withinMs: 20_000 },
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
  "Ann again,Ann <ann@good.example>,\nSam,sam@silent.example,\nOdd,not an address,\nLong,a@good.example,x,y,z\n";

test("a list from the file to the cleaned file", async () => {
  const browser = await person();
  const list = await uploaded(browser, PEOPLE, "people.csv");
  assert.equal(list.state, "chosen");
  assert.deepEqual(list.read?.columns, ["Name", "E-mail", "Old"]);
  assert.equal(list.read.column, 1);
  assert.deepEqual(countsOf(list), { unchecked: 6, duplicate: 1, blank: 1, unread: 1 });
  assert.deepEqual([list.read.open, list.read.covered, list.charged], [6, 6, 0]);
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

test("the list of lists", async () => {
  const browser = await person();
  const list = await uploaded(browser, "ann@good.example\n", "a.txt");
  const { lists } = (await browser.get("lists")).json as ListSummaries;
  assert.deepEqual(
    lists.map(({ id, name, state, rows }) => [id, name, state, rows]),
    [[list.id, "a.txt", "chosen", 1]],
  );
});

export type { ListRows, Reply };
