import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { CsvReader } from "../../../src/core/batch/csv-reader.ts";
import type { ListState } from "../../../src/http/account/shapes.ts";
import { goTo, openPage, testInBrowser } from "../browser.ts";
import { visit, world } from "./seeded-dashboard.ts";

const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name });

/** "name=value" of a new account's session; `spent`: checks of its day that are used up. */
async function person(name: string, tier: "free" | "pro" = "pro", spent = 0): Promise<string> {
  const id = await world.addAccount(`${name}@lists.example`, { tier });
  const day = Math.floor(Date.now() / 86_400_000);
  if (spent > 0) await world.usage.add([{ owner: `account:${id}`, day, units: spent }]);
  return world.cookieOf(id);
}

async function choose(page: Page, name: string, content: string | Buffer): Promise<void> {
  const buffer = Buffer.from(content);
  await page
    .locator('input[type="file"]')
    .setInputFiles({ name, mimeType: "application/octet-stream", buffer });
  await page.getByRole("heading", { name }).waitFor();
}

/** Waits for the result of a list. */
const done = (page: Page): Promise<void> =>
  page.getByRole("heading", { name: "Every row" }).waitFor();

/** The octets of a text that a press downloads. */
async function octetsOf(page: Page, encoding: "own" | "utf-8"): Promise<Buffer> {
  const sheet = page.getByRole("dialog", { name: "Cleaned list" });
  if (!(await sheet.isVisible())) await page.getByRole("button", { name: "Download" }).click();
  await sheet.getByLabel("Encoding").selectOption(encoding);
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: /^Download [\d,]+ rows?$/ }).click(),
  ]);
  return readFileSync((await file.path()) ?? "");
}

/** The cells of such a CSV, as Excel needs it. */
async function downloaded(page: Page): Promise<readonly (readonly string[])[]> {
  const text = (await octetsOf(page, "utf-8")).toString();
  assert.ok(text.startsWith("\ufeff"), "Excel knows it as UTF-8");
  const reader = new CsvReader(",");
  return [...reader.push(text.slice(1)), ...reader.end()].map(({ cells }) => cells);
}

/** The counts of the legend by their words. */
async function legend(page: Page): Promise<Readonly<Record<string, number>>> {
  const texts = await page.locator(".list-legend > *").allInnerTexts();
  return Object.fromEntries(
    texts.map((text) => {
      const [count = "", words = ""] = text.split("\n");
      return [words.replace(/\s+[<\d.% ]*$/, "").trim(), Number(count.replaceAll(",", ""))];
    }),
  );
}

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((all, count) => all + count, 0);

const ROWS = 5_000;
const HEADER = "id,First,Last,E-mail,Phone,Street,City,Zip,Country,Plan,Since,Note";
const mailOf = (at: number): string =>
  at % 41 === 0
    ? "same@d1.example"
    : at % 50 === 7
      ? `user${String(at)}@gmial.com`
      : at % 61 === 3
        ? `x${String(at)}@throwaway.example`
        : at % 211 === 1
          ? ""
          : `u${String(at)}@d${String(at % 2_000)}.example`;
const people = [
  HEADER,
  ...Array.from(
    { length: ROWS },
    (_, at) =>
      `${String(at)},Ann,Lee,${mailOf(at)},+1 555,Main St 1,Town,0123,NL,free,2024-01-02,"a, b"`,
  ),
].join("\n");

testInBrowser(
  "5,000 rows of 12 columns, partly covered, with a reload in between, to the cleaned file",
  async () => {
    const cookie = await person("many", "free", 7_600);
    const { page, end } = await visit("/lists", { cookie });
    await choose(page, "people.csv", people);
    await button(page, "Check the first 2,400").waitFor();
    await page.getByText("The plan has 2,400 checks left").waitFor();
    await page.reload();
    await button(page, "Check the first 2,400").click();
    await done(page);
    const before = await legend(page);
    assert.equal(sum(before), ROWS);
    assert.equal(Object.values(before)[0], before["Good"]);
    const open = before["Not checked"] ?? 0;
    await page
      .getByRole("heading", { name: `${open.toLocaleString("en-US")} rows were not checked.` })
      .waitFor();
    assert.equal(await button(page, /^Check the first 0/).isDisabled(), true);
    const spent = "The plan has 0 checks left";
    await page.getByText(spent).first().waitFor();
    // Another browser of the account sees the same, and may go on when there are credits.
    const { page: other, context } = await openPage(world.url, { cookie });
    await goTo(other, page.url());
    await done(other);
    assert.deepEqual(await legend(other), before);
    const misspelt = before["Misspelt"] ?? 0;
    await button(other, `Fix all ${String(misspelt)}`).click();
    await button(other, /^Undo \d+ fixes/).waitFor();
    // The other tab sees it without a press.
    await button(page, /^Undo \d+ fixes/).waitFor();
    const fixed = await legend(page);
    assert.equal(sum(fixed), ROWS);
    assert.equal((fixed["Fixed, not checked"] ?? 0) + (fixed["Misspelt"] ?? 0), misspelt);
    await button(page, "Download").click();
    for (const box of await page.getByRole("checkbox").all()) await box.check();
    const all = await downloaded(page);
    assert.equal(all.length, ROWS + 1, "rows in are rows out");
    assert.deepEqual(all[0]?.slice(0, 14), [...HEADER.split(","), "original", "verdict"]);
    assert.deepEqual(
      all.slice(1).map(([id]) => id),
      Array.from({ length: ROWS }, (_, at) => String(at)),
    );
    assert.ok(all.every((cells) => cells.length === all[0]?.length && cells[7] !== "123"));
    const notChecked = all.filter((cells) => /not checked$/i.test(cells[13] ?? "")).length;
    assert.ok(notChecked >= open, "what was not checked says so");
    for (const name of Object.keys(fixed)) {
      if (name !== "Good")
        await page.getByRole("checkbox", { name: new RegExp(`^${name}`) }).uncheck();
    }
    const good = await downloaded(page);
    assert.equal(good.length - 1, fixed["Good"]);
    await context.close();
    await end();
  },
);

testInBrowser("a list in Windows-1252 comes down in it, or in UTF-8 with a mark", async () => {
  const { page, end } = await visit("/lists", { cookie: await person("encoding") });
  const text = "Name;E-mail\nJ\u00fcrgen;jo@d1.example\n";
  await choose(page, "namen.csv", Buffer.from(text, "latin1"));
  await button(page, "Check 1 entry").click();
  await done(page);
  await button(page, "Download").click();
  await page.getByLabel("Columns").selectOption("mine");
  for (const box of await page.getByRole("checkbox").all()) await box.check();
  await page.getByText("As my file (windows-1252)").waitFor({ state: "attached" });
  assert.equal((await octetsOf(page, "own")).toString("latin1"), text);
  assert.equal((await octetsOf(page, "utf-8")).toString(), `\ufeff${text}`);
  await end();
});

/** The server says of a list that its check is half done; `undo` ends that. */
async function holdList(page: Page, state: "running" | "stopping"): Promise<void> {
  await page.route(/\/account\/lists\/[0-9a-f]{32}$/, async (route) => {
    if (route.request().method() !== "GET") return route.continue();
    const response = await route.fetch();
    const { read: _, ...known } = (await response.json()) as ListState;
    const newest = [{ entry: "jo@good.example", class: "good", why: "" }];
    const half = { state, entries: 1_200, processed: 600, expires_in_seconds: null };
    const soFar = { so_far: { good: 480, disposable: 60 }, newest };
    return route.fulfill({ response, json: { ...known, ...half, ...soFar } });
  });
}

testInBrowser("a running check is seen in every tab, and its end is asked for once", async () => {
  const cookie = await person("running");
  const { page, end } = await visit("/lists", { cookie });
  const entries = Array.from({ length: 150 }, (_, at) => `user@d${String(at)}.example`);
  await page.getByLabel("Or paste addresses and domains").fill(entries.join("\n"));
  await button(page, "Look at the list").click();
  await button(page, "Check 150 entries").waitFor();
  await holdList(page, "running");
  await page.reload();
  await page.getByText("600 of 1,200 entries checked").waitFor();
  await page.getByText("You can leave this page").waitFor();
  assert.equal(sum(await legend(page)), 1_200);
  const stops: string[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/stop")) stops.push(request.url());
  });
  await button(page, "Cancel").click();
  const dialog = page.getByRole("dialog", { name: "Cancel the check?" });
  await dialog.getByText("600 entries are checked so far. They stay").waitFor();
  await dialog.getByRole("button", { name: "Keep it as it is" }).click();
  assert.deepEqual(stops, [], "nothing is ended before the answer");
  await button(page, "Cancel").click();
  await dialog.getByRole("button", { name: "Cancel it" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.equal(stops.length, 1);
  await page.unrouteAll({ behavior: "wait" });
  await button(page, "Check 150 entries").click();
  await done(page);
  // A second tab of the same list, and the page of all lists.
  const second = await page.context().newPage();
  await goTo(second, `${world.url}/lists`);
  await second.getByRole("link", { name: "pasted.txt" }).click();
  await done(second);
  await second.goBack();
  await second.getByRole("heading", { name: "Check a list" }).waitFor();
  await end();
});

testInBrowser("files that are no lists, and lists that are gone, are said in words", async () => {
  const { page, end } = await visit("/lists", { cookie: await person("odd") });
  const file = page.locator('input[type="file"]');
  const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
  await file.setInputFiles({ name: "a.png", mimeType: "image/png", buffer: png });
  await page.getByRole("alert").getByText("The file is not a list that can be read here").waitFor();
  const large = Buffer.alloc(20_000_001, "a@b.example\n");
  await file.setInputFiles({ name: "large.csv", mimeType: "text/csv", buffer: large });
  await page.getByRole("alert").getByText("larger than 20 MB").waitFor();
  await goTo(page, `${world.url}/lists#${"0".repeat(32)}`);
  await page.getByRole("heading", { name: "This list is not here any more" }).waitFor();
  await page.getByRole("link", { name: "Upload a list" }).click();
  await choose(page, "mine.txt", "ann@d1.example\n");
  await button(page, "Delete now").click();
  await page.getByRole("dialog", { name: "Delete this list?" }).waitFor();
  await button(page, "Delete it").click();
  await page.getByRole("heading", { name: "Check a list" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "mine.txt" }).count(), 0);
  await end();
});
