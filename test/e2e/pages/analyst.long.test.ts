// The analyst of fraud: three farms among 2,000 sign-ups of a day, found from the front page and reported.
import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { after, before } from "node:test";
import type { Page } from "playwright-core";
import { Browser } from "../../dashboard/dashboard-client.ts";
import { PATIENCE_MS, until } from "../../time/until.ts";
import { axeFindings, goTo, openPage, settled, testInBrowser } from "../browser.ts";
import { logFarms } from "./farms.ts";
import { openShownService, type ShownService, type Who } from "./shown-service.ts";

let shown: ShownService;

before(async () => {
  shown = await openShownService((store, ids) => logFarms(store, ids.own));
});

after(() => shown.close());

async function visit(path: string, width: number, who: Who = "own") {
  const { url } = shown.service;
  const opened = await openPage(url, { width, cookie: shown.cookieOf(who) ?? "" });
  await goTo(opened.page, `${url}${path}`);
  return opened;
}

const rowsOf = (page: Page) => page.getByRole("list", { name: "Decisions" }).getByRole("listitem");
const groupsOf = (page: Page) =>
  page.getByRole("list", { name: "Groups", exact: true }).getByRole("listitem");

/** The heights of rows in px. */
const heights = async (page: Page, list: string): Promise<readonly number[]> =>
  page.$$eval(`${list} > li`, (all) => all.map((one) => one.getBoundingClientRect().height));

testInBrowser(
  "three farms are found in three presses, reported, and the report taken back",
  async () => {
    const { page, context, complaints } = await visit("/", 1_280);
    await page.getByRole("link", { name: "Gate", exact: true }).first().click();
    await page.getByRole("link", { name: "Decisions" }).click();
    await page.getByText("Three groups made 180 of 2,000 sign-ups").waitFor();
    const first = await groupsOf(page).allInnerTexts();
    const named = (name: string, many: string) =>
      first.slice(0, 3).some((text) => text.includes(name) && text.includes(many));
    assert.ok(named("young.example", "60 sign-ups"), first.join("\n"));
    assert.ok(named("net farm", "80 sign-ups"), first.join("\n"));
    assert.ok(named("Mailbox", "40 sign-ups"), first.join("\n"));
    await page.getByRole("button", { name: "young.example", exact: true }).click();
    await page.getByRole("button", { name: /Domain young\.example/ }).waitFor();
    await settled(page);
    assert.equal(await rowsOf(page).count(), 60);
    assert.match(page.url(), /gate\/decisions\?domain=young\.example$/);
    await page.getByRole("button", { name: "What to do about domain young.example" }).click();
    await page.getByText("60 sign-ups of 1 domain, 60 mailboxes, 3 of them accepted.").waitFor();
    assert.deepEqual(await axeFindings(page), []);
    await page.getByRole("button", { name: "Report all 60 as abuse" }).click();
    await page.getByText("60 mailboxes are reported as abuse.").waitFor();
    await page.getByText("60 abuse").waitFor();
    assert.equal(await rowsOf(page).getByText("abuse", { exact: true }).count(), 60);
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("60 abuse").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "What to do about domain young.example" }).click();
    await page.getByRole("button", { name: "Deny young.example" }).click();
    await page.getByText("Sign-ups at young.example are refused by rule 1").waitFor();
    await page.getByRole("link", { name: "Policy" }).click();
    await page.getByLabel("Rule 1: value").waitFor();
    assert.equal(await page.getByLabel("Rule 1: value").inputValue(), "young.example");
    assert.deepEqual(complaints, []);
    await context.close();
  },
);

testInBrowser(
  "filters combine in the address, outlive Back and a reload, and are the CSV's",
  async () => {
    const { page, context, complaints } = await visit(
      "/gate/decisions?domain=young.example",
      1_280,
    );
    await page.getByLabel("Which decisions").selectOption("accept");
    await settled(page);
    assert.equal(await rowsOf(page).count(), 3);
    await page.reload();
    await rowsOf(page).first().waitFor();
    assert.equal(await rowsOf(page).count(), 3);
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "CSV" }).click(),
    ]);
    assert.equal(file.suggestedFilename(), "gatepost-decisions.csv");
    const lines = readFileSync((await file.path()) ?? "", "utf8")
      .trim()
      .split("\r\n");
    assert.equal(lines.length, 4);
    await page.goBack();
    await rowsOf(page).getByText("review").first().waitFor();
    await settled(page);
    assert.equal(await rowsOf(page).count(), 60);
    await page.getByRole("button", { name: "Take the filter away: Domain young.example" }).click();
    await page.getByRole("button", { name: "Show older ones" }).waitFor();
    await page.getByLabel("Address, domain, IP address").fill("www.young.example");
    await page.getByRole("button", { name: "Find" }).click();
    await page.getByRole("button", { name: /Domain young\.example/ }).waitFor();
    await page.getByLabel("Address, domain, IP address").fill("198.51.100.1");
    await page.getByRole("button", { name: "Find" }).click();
    await page.getByText("No decision of the last 7 days has this.").waitFor();
    assert.deepEqual(await axeFindings(page), []);
    assert.deepEqual(complaints, []);
    await context.close();
  },
);

testInBrowser(
  "100 rows are 48 px each, 64 on a phone, and name their time to a screen reader",
  async () => {
    const { page, context, complaints } = await visit("/gate/decisions", 1_280);
    const list = ".log:not(.groups)";
    assert.deepEqual(
      [...new Set(await heights(page, list))].filter((height) => height > 49),
      [],
    );
    const right = (selector: string) =>
      page.$eval(selector, (node) => Math.round(node.getBoundingClientRect().right));
    assert.equal(await right("#log .push"), await right(`${list} > li`));
    await page.setViewportSize({ width: 360, height: 800 });
    const narrow = await heights(page, list);
    assert.equal(narrow.length, 100);
    assert.deepEqual(
      narrow.filter((height) => height > 65),
      [],
    );
    await page
      .getByRole("button", { name: /^More about the decision of \d+ \w+ \d{4} at/ })
      .first()
      .click();
    await page.getByRole("button", { name: /^Abuse , decision of \d+ \w+ \d{4} at/ }).click();
    await page.getByText("Reported. Rules can ask").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Reported. Rules can ask").waitFor({ state: "detached" });
    assert.deepEqual(await axeFindings(page), []);
    assert.deepEqual(complaints, []);
    await context.close();
  },
);

const press = (page: Page, act: string): Promise<void> =>
  page
    .getByRole("dialog", { name: /^Decision of/ })
    .getByRole("button", { name: act })
    .click();

testInBrowser("a decision is logged, found by its address, and reported as abuse", async () => {
  const { page, context, complaints } = await visit("/gate/decisions", 1_280, "fresh");
  await page.getByRole("button", { name: "Switch the log on" }).click();
  await page.getByText("The decision log is on.").waitFor();
  const fresh = new Browser(shown.service);
  fresh.cookie = shown.cookieOf("fresh") ?? "";
  const { api_key: key } = (await fresh.post("keys", { name: "Log" })).json as { api_key: string };
  for (const name of ["ann", "bob", "cat"]) {
    const headers = { "X-Api-Key": key, "Content-Type": "application/json" };
    const question = name === "bob" ? "send" : "signup";
    const body = JSON.stringify({ email: `${name}@other.example`, for: question });
    await fetch(`${shown.service.url}/api/decide`, { method: "POST", headers, body });
  }
  await page.getByLabel("Live", { exact: true }).check();
  const list = page.getByRole("list", { name: "Decisions" });
  const rows = list.getByRole("listitem").filter({ hasText: "other.example" });
  await until(async () => (await rows.count()) === 3, {
    what: "three rows",
    withinMs: PATIENCE_MS,
  });
  assert.equal(await rows.filter({ hasText: "before a message" }).count(), 1);
  assert.deepEqual(await axeFindings(page), []);
  await page.getByLabel("Address, domain, IP address").fill("bob@other.example");
  await page.getByRole("button", { name: "Find" }).click();
  await until(async () => (await rows.count()) === 1, { what: "his row", withinMs: PATIENCE_MS });
  await page.getByRole("button", { name: "Show all" }).click();
  const report = async (at: number): Promise<void> => {
    await rows
      .nth(at)
      .getByRole("button", { name: /^More about/ })
      .click();
    await page.getByLabel("Note, for yourself").fill("spam");
    await press(page, "Abuse");
    await rows.nth(at).getByText("abuse").waitFor();
  };
  for (const at of [0, 1, 2]) await report(at);
  await rows
    .nth(2)
    .getByRole("button", { name: /^More about/ })
    .click();
  await press(page, "Undo");
  await page.getByText("The report is taken back.").waitFor();
  await report(2);
  await page.reload();
  await rows.nth(2).getByText("abuse").waitFor();
  assert.deepEqual(complaints, []);
  await context.close();
});
