// What people do from beginning to end, with the real service.
import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { after, before } from "node:test";
import type { Page } from "playwright-core";
import { PATIENCE_MS, until } from "../../time/until.ts";
import { goTo, openPage, settled, testInBrowser } from "../browser.ts";
import { makeHome, startService } from "../service-process.ts";
import { openShownService, PASSWORD, type ShownService, type Who } from "./shown-service.ts";
import { workbookOf } from "./workbook.ts";

let shown: ShownService;

before(async () => {
  shown = await openShownService();
});

after(() => shown.close());

async function visit(who: Who, path: string, width = 1_280) {
  const cookie = shown.cookieOf(who);
  const { url } = shown.service;
  const opened = await openPage(url, { width, ...(cookie !== undefined && { cookie }) });
  await goTo(opened.page, `${url}${path}`);
  return opened;
}

const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name });

const SET_UP = /Set up this installation within 30 minutes: \S+(\/setup#\S+)/;

testInBrowser("the printed link leads to an administrator and a first check, once", async () => {
  const { GATEPOST_DNS_SERVERS: names = "" } = shown.settings;
  const home = makeHome({ GATEPOST_DNS_SERVERS: names, GATEPOST_DNS_CANARIES: "off" });
  const service = await startService(home);
  try {
    const wanted = { what: "the set-up link", withinMs: PATIENCE_MS };
    await until(() => SET_UP.test(service.said()), wanted);
    const link = service.url + (SET_UP.exec(service.said())?.[1] ?? "");
    const { page, context, complaints } = await openPage(service.url, { width: 360 });
    await goTo(page, link);
    await page.getByLabel("Email address").fill("ops@company.example");
    await page.getByLabel("Password").fill(PASSWORD);
    await button(page, "Create the administrator").click();
    await page.getByText("Account created. The link is used up.").waitFor();
    await page.getByText("The resolver answers truthfully").waitFor();
    await page.getByRole("link", { name: "Check someone@mailinator.com" }).click();
    await page.getByRole("img", { name: "Verdict: Disposable" }).waitFor();
    await page.locator('a[href="/admin/system"]').first().waitFor({ state: "attached" });
    assert.deepEqual(complaints, []);
    await context.close();
    const later = await openPage(service.url);
    await goTo(later.page, link);
    await later.page.getByRole("heading", { name: "This set-up link no longer works" }).waitFor();
    await later.context.close();
  } finally {
    await service.stop();
    home.remove();
  }
});

testInBrowser("a policy is edited, tested, run in shadow, promoted, and published", async () => {
  const { page, context, complaints } = await visit("fresh", "/policy");
  assert.equal(await button(page, "Publish 2").isDisabled(), true, "nothing is changed yet");
  await page.getByLabel("Rule 5: what to do").selectOption("review");
  await page.getByText("Changed", { exact: true }).waitFor();
  await page.getByLabel("Address", { exact: true }).fill("jo@mailinator.com");
  await button(page, /^Try$/).click();
  await page.getByText("Rule 5", { exact: false }).last().waitFor();
  await button(page, "Test against 30 days").click();
  await page.getByText(/^No checks were counted|would have been decided otherwise/).waitFor();
  await button(page, "Run in shadow").click();
  await page.getByText("Version 2 has seen no sign-ups yet.").waitFor();
  await button(page, "Make 2 live").click();
  await page.getByText("Version 2 is live.").waitFor();
  assert.equal(await page.getByLabel("Rule 5: what to do").inputValue(), "review");
  await page.getByLabel("Otherwise").selectOption("reject");
  await button(page, "Publish 3").click();
  await page.getByRole("dialog", { name: "Reject more people?" }).waitFor();
  await button(page, "Keep it as it is").click();
  await page.getByLabel("Otherwise").selectOption("accept");
  await button(page, "Remove rule 4").click();
  await button(page, "Publish 3").click();
  await page.getByText("Version 3 is live.").waitFor();
  assert.deepEqual(complaints, []);
  await context.close();
});

const SHEET = [
  ["Name", "E-mail", "City"],
  ["Ann", "ann@other.example", "Linz"],
  ["Mia", "mia@gmail.con", "Graz"],
  ["Bad", "x8@mailinator.com", "Wien"],
];

async function checkSheet(page: Page): Promise<void> {
  const mimeType = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
  const file = { name: "spring.xlsx", mimeType, buffer: workbookOf({ A: SHEET }) };
  await page.locator('input[type="file"]').setInputFiles(file);
  await button(page, "Check 3 entries").click();
  await page.getByRole("heading", { name: "Every row" }).waitFor();
}

testInBrowser("a workbook goes up, and comes down cleaned with all its columns", async () => {
  const { page, context, complaints } = await visit("fresh", "/lists");
  await checkSheet(page);
  await button(page, /^Fix it/).click();
  await button(page, /^Undo/).first().waitFor();
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Download 2 rows" }).click(),
  ]);
  assert.equal(file.suggestedFilename(), "spring-cleaned.csv");
  const lines = readFileSync((await file.path()) ?? "", "utf8")
    .trim()
    .split("\r\n");
  assert.deepEqual(
    lines.map((line) => line.split(",").slice(0, 5)),
    [
      ["\ufeffName", "E-mail", "City", "original", "status"],
      ["Ann", "ann@other.example", "Linz", "", "valid"],
      ["Mia", "mia@gmail.com", "Graz", "mia@gmail.con", "not_checked"],
    ],
  );
  assert.deepEqual(complaints, []);
  await context.close();
});

testInBrowser("the keyboard alone: the field, the command menu and tabs", async () => {
  const { page, context, complaints } = await visit("own", "/guide");
  await settled(page);
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").waitFor();
  await page.keyboard.press("ArrowUp");
  const last = page.getByRole("option").last();
  const isSeen = `(() => {
    const [option, list] = ["[aria-selected=true]", ".commands"].map((name) =>
      document.querySelector(name).getBoundingClientRect());
    return option.bottom <= list.bottom + 1;
  })()`;
  assert.equal(await last.getAttribute("aria-selected"), "true");
  assert.equal(await page.evaluate(isSeen), true, "the chosen command is in view");
  await page.keyboard.type("jane@mailinator.com");
  await page.keyboard.press("Enter");
  await page.getByRole("img", { name: "Verdict: Disposable" }).waitFor();
  await page.getByRole("tab", { name: "JSON" }).focus();
  await page.keyboard.press("ArrowRight");
  await page.getByRole("region", { name: "curl" }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("info@iana.org");
  await page.keyboard.press("Enter");
  await page.getByRole("img", { name: "Verdict: Looks good" }).waitFor();
  assert.deepEqual(complaints, []);
  await context.close();
});

testInBrowser("an address without its at sign is one press from its verdict", async () => {
  for (const who of ["visitor", "own"] as const) {
    const { page, context } = await visit(who, "/#luis.garcia.gmail.com");
    await button(page, "Did you mean luis.garcia@gmail.com?").click();
    await page.getByRole("img", { name: "Verdict: Looks good" }).waitFor();
    await context.close();
  }
});

testInBrowser("without JavaScript the front page has a form that answers", async () => {
  const { url } = shown.service;
  const { page, context } = await openPage(url, { javaScriptEnabled: false });
  await page.goto(url);
  await page.getByLabel("Email address").fill("jo@mailinator.com");
  await button(page, "Check").click();
  await page.waitForURL(`${url}/api/email`);
  const answer = JSON.parse(await page.locator("body").innerText()) as Record<string, unknown>;
  assert.equal(answer["disposable"], true);
  await context.close();
});
