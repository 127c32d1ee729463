// What the second look at the pages measured, in sizes, orders and words.
import { strict as assert } from "node:assert";
import { after, before } from "node:test";
import type { Page } from "playwright-core";
import type { ListState } from "../../../src/http/account/shapes.ts";
import { goTo, openPage, settled, testInBrowser } from "../browser.ts";
import { logFarms } from "./farms.ts";
import { openShownService, type ShownService, type Who } from "./shown-service.ts";

let shown: ShownService;

before(async () => {
  shown = await openShownService((store, ids) => logFarms(store, ids.own));
});

after(() => shown.close());

/** Opens a page at 1,280 px, and asserts at its end that it did not complain. */
async function look(who: Who, path: string, at: (page: Page) => Promise<void>): Promise<void> {
  const { url } = shown.service;
  const cookie = shown.cookieOf(who);
  const view = { width: 1_280, ...(cookie !== undefined && { cookie }) };
  const { page, context, complaints } = await openPage(url, view);
  await goTo(page, `${url}${path}`);
  await at(page);
  assert.deepEqual(complaints, []);
  await context.close();
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

async function boxOf(page: Page, selector: string): Promise<Box> {
  const box = await page.locator(selector).first().boundingBox();
  assert.ok(box, selector);
  return box;
}

const endOf = ({ x, width }: Box): number => Math.round(x + width);

testInBrowser("a domain of the log is a link that narrows it", () =>
  look("own", "/gate/decisions", async (page) => {
    const rows = page.getByRole("list", { name: "Decisions" }).getByRole("listitem");
    const domain = rows.getByRole("link", { name: "young.example" }).first();
    assert.equal(await domain.getAttribute("href"), "gate/decisions?domain=young.example");
    await domain.click();
    await page.getByRole("button", { name: /Domain young\.example/ }).waitFor();
    await settled(page);
    assert.equal(await rows.count(), 60);
  }),
);

testInBrowser("the controls beside a title stand in one line that ends at the content's edge", () =>
  look("own", "/gate", async (page) => {
    const controls = await page.locator(".head > .bar > :is(button, select)").all();
    const boxes = await Promise.all(controls.map((one) => one.boundingBox()));
    assert.equal(boxes.length, 3);
    const middles = boxes.map((box) => Math.round((box?.y ?? 0) + (box?.height ?? 0) / 2));
    assert.equal(new Set(middles).size, 1, middles.join(", "));
    const ends = boxes.map((box) => (box === null ? 0 : endOf(box)));
    assert.equal(Math.max(...ends), endOf(await boxOf(page, "main > .sheet")));
  }),
);

const LONG = "x8@a-name-of-some-length.with-a-part.mailinator.com";

async function checkList(page: Page): Promise<void> {
  const text = `Name,E-mail\nAnn,ann@good.example\nBad,${LONG}\n`;
  const file = { name: "spring.csv", mimeType: "text/csv", buffer: Buffer.from(text) };
  await page.locator('input[type="file"]').setInputFiles(file);
  await page.getByRole("button", { name: "Check 2 entries" }).click();
  await page.getByRole("heading", { name: "Every row" }).waitFor();
  await settled(page);
}

/** In how many lines each piece of the entry is set: the pieces end at "@" and before dots. */
const LINES_OF_PIECES = `[...document.querySelectorAll("td:first-child .mono")].flatMap((cell) =>
  [...cell.childNodes].filter((node) => node.nodeType === 3).map((node) => {
    const range = document.createRange();
    range.selectNode(node);
    return node.data + " " + range.getClientRects().length;
  }))`;

testInBrowser("an entry has a third of the table and breaks at its @ and dots alone", () =>
  look("own", "/lists", async (page) => {
    await checkList(page);
    const [table, entry] = [await boxOf(page, ".fixed"), await boxOf(page, ".fixed th")];
    const share = entry.width / table.width;
    assert.ok(share > 0.3 && share < 0.4, String(share));
    const pieces = ["x8@", "a-name-of-some-length", ".with-a-part", ".mailinator", ".com"];
    for (const width of [1_280, 360]) {
      await page.setViewportSize({ width, height: 900 });
      const lines = (await page.evaluate(LINES_OF_PIECES)) as readonly string[];
      for (const piece of pieces)
        assert.ok(lines.includes(`${piece} 1`), `${String(width)}: ${lines.join(", ")}`);
    }
    assert.ok((await boxOf(page, "td:first-child .mono")).height < 25, "a short one is one line");
  }),
);

testInBrowser("a list that waits says that no worker runs, and its place", () =>
  look("own", "/lists", async (page) => {
    await page.route(/\/account\/lists\/[0-9a-f]{32}$/, async (route) => {
      const response = await route.fetch();
      const { read: _, ...known } = (await response.json()) as ListState;
      const says = "Waiting: no worker runs. Nothing is lost.";
      const waiting = {
        state: "running",
        entries: 2_879,
        processed: 0,
        waiting: { ahead: 2, says },
      };
      await route.fulfill({ response, json: { ...known, ...waiting } });
    });
    await page.getByLabel("Or paste addresses and domains").fill("ann@good.example");
    await page.getByRole("button", { name: "Look at the list" }).click();
    await page.getByText("0 of 2,879 entries checked").waitFor();
    const lead = await page.locator(".head p").innerText();
    assert.equal(lead, "Waiting: no worker runs. Nothing is lost. 2 lists are before it.");
    await page.unrouteAll({ behavior: "wait" });
  }),
);

testInBrowser("a chart without requests is one line", () =>
  look("admin", `/admin/accounts#${shown.ids.fresh}`, async (page) => {
    const line = page.getByText("No requests in these days.");
    await line.waitFor();
    assert.ok(((await line.boundingBox())?.height ?? 99) < 30);
    assert.equal(await page.locator(".chart").count(), 0);
  }),
);

testInBrowser("lists that are alike fold, and those not fetched say why and what to do", () =>
  look("admin", "/admin/system", async (page) => {
    const sheet = page.locator("section.sheet", { hasText: "Public lists" });
    const alike = sheet.locator(".stack.close", { hasText: "5 lists: came with the program" });
    assert.equal(await alike.getByRole("listitem").first().isVisible(), false);
    await alike.getByText("Which ones").click();
    assert.equal(await alike.getByRole("listitem").count(), 5);
    const unfetched = sheet.locator(".stack.close", { hasText: "2 lists: not fetched" });
    await unfetched.getByText(/fetching is off \(GATEPOST_LISTS_REFRESH\).*asks once/).waitFor();
    assert.equal(await sheet.getByText("Not in use").count(), 0);
    const colour = await unfetched.locator(".mark").getAttribute("style");
    assert.match(colour ?? "", /--quiet/, "grey, not red");
  }),
);

/** How many verdicts the service has counted. */
async function verdicts(): Promise<number> {
  const { body } = await shown.service.get("/metrics");
  const counts = body.match(/^gatepost_verdicts_total\{.*\} \d+$/gm) ?? [];
  return counts.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

testInBrowser("the examples of the front page are no verdicts that anybody asked for", async () => {
  const before = await verdicts();
  await look("visitor", "/", async (page) => {
    await page.getByRole("heading", { name: "Results of this server" }).waitFor();
    await page.getByRole("img", { name: /^Verdict: Disposable/ }).waitFor();
  });
  assert.equal(await verdicts(), before);
  await shown.service.get("/api/email/jo@good.example");
  assert.equal(await verdicts(), before + 1);
});

testInBrowser("the webhook's address and Save stand before the rest of its card", () =>
  look("own", "/settings", async (page) => {
    const known = { url: "https://hooks.company.example/in", events: [] };
    const json = { webhook: known, known_events: ["bulk.completed", "test.ping"] };
    await page.route("**/account/webhook", (route) => route.fulfill({ json }));
    await page.reload();
    await settled(page);
    const card = page.locator("section.sheet", { hasText: "Webhook" }).first();
    for (const width of [1_280, 360]) {
      await page.setViewportSize({ width, height: 900 });
      const controls = await card.locator(":is(input:not([type=checkbox]), button, summary)").all();
      const order = await Promise.all(
        controls.map(async (one) => [(await one.boundingBox())?.y ?? Infinity, one] as const),
      );
      const [first, second] = order.toSorted(([a], [b]) => a - b).map(([, one]) => one);
      assert.equal(await first?.inputValue(), known.url);
      assert.equal(await second?.innerText(), "Save the webhook");
    }
    await page.setViewportSize({ width: 1_280, height: 900 });
    const height = (await card.boundingBox())?.height ?? Infinity;
    const account = await boxOf(page, "main .even > .sheet");
    assert.ok(height < 1.5 * account.height, `${String(height)} beside ${String(account.height)}`);
    await page.unrouteAll({ behavior: "wait" });
  }),
);
