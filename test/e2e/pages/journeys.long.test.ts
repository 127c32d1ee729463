// What people do from beginning to end, with the real service.
import { strict as assert } from "node:assert";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { after, before } from "node:test";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { Browser } from "../../dashboard/dashboard-client.ts";
import { PATIENCE_MS, until } from "../../time/until.ts";
import { axeFindings, focusOn, goTo, openPage, testInBrowser } from "../browser.ts";
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
    await page.getByRole("region", { name: "DNS resolvers" }).getByText(names).waitFor();
    await page.getByRole("region", { name: "DNS resolvers" }).getByText("Yes").waitFor();
    await page.getByRole("link", { name: "Check someone@mailinator.com" }).click();
    await page.getByRole("img", { name: "Verdict: Disposable" }).waitFor();
    await page.locator('a[href="admin/system"]').first().waitFor({ state: "attached" });
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

const number = (text: string): number => Number(text.replaceAll(/[^0-9]/g, ""));

/** The figures of a part of the page, in order. */
const figures = async (page: Page, selector: string): Promise<readonly number[]> =>
  (await page.locator(selector).allInnerTexts()).map(number);

const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);

const confirmBy = async (page: Page, dialog: string | RegExp, act: string): Promise<void> => {
  const box = page.getByRole("dialog", { name: dialog });
  await box.waitFor();
  assert.deepEqual(await axeFindings(page), []);
  const confirm = box.getByRole("button", { name: act });
  await confirm.click();
  // All journeys come from one address, which may try only so many passwords a minute.
  const tooOften = box.getByText("Too many attempts.");
  await until(async () => {
    if (!(await box.isVisible())) return true;
    if ((await tooOften.isVisible()) && (await confirm.isEnabled())) {
      await page.waitForTimeout(2_000); // the page says how long; the server decides
      await confirm.click();
    }
    return undefined;
  });
};

testInBrowser(
  "a visitor is told what a new account may do, and its first request turns green",
  async () => {
    const { page, context, complaints } = await visit("visitor", "/sign-up");
    await page.getByText("You get the plan Free: 10,000 checks a day").waitFor();
    await page.getByText("In its first 24 hours an account has less: 1,000 checks").waitFor();
    await page.getByLabel("Email address").fill("new@shop.example");
    await page.getByLabel("Password").fill(PASSWORD);
    await button(page, "Create the account").click();
    await button(page, "Create a key").click();
    await page.getByRole("textbox", { name: "Name" }).fill("First");
    await page.keyboard.press("Enter");
    await focusOn(page, "Your new secret key");
    const command = await page.getByRole("region", { name: "curl" }).innerText();
    const { stdout } = await promisify(execFile)("sh", ["-c", command]);
    assert.equal((JSON.parse(stdout) as { format: boolean }).format, true);
    await page.getByText("The first request came").waitFor();
    await page.getByRole("link", { name: "Settings" }).first().click();
    await button(page, "Make a token secret").click();
    await confirmBy(page, "Make a token secret?", "Make a token secret");
    await focusOn(page, "Your token secret");
    assert.equal(await page.locator(".secret").count(), 2, "the key is still there");
    assert.deepEqual(await axeFindings(page), []);
    await button(page, "I have kept it Your token secret").click();
    await page.getByRole("link", { name: "Keys" }).first().click();
    await button(page, "I have kept it").click();
    await focusOn(page, "Keys");
    await button(page, "Rename First").click();
    await page.getByRole("textbox", { name: "Name" }).fill("Shop server");
    await confirmBy(page, "Rename First", "Rename");
    await page.getByText("Shop server").first().waitFor();
    await button(page, "Revoke Shop server").click();
    await confirmBy(page, "Revoke Shop server?", "Revoke");
    await page.getByText("Revoked").first().waitFor();
    await goTo(page, `${shown.service.url}/usage`);
    await page.getByText("Your plan: Free, first 24 hours").waitFor();
    assert.equal((await figures(page, ".cells dd"))[0], 999, "one number, on one place");
    await page
      .getByText(/^Answered \d/)
      .first()
      .waitFor(); // before 1:00 UTC there is no chart by the hour
    assert.deepEqual(complaints, []);
    await context.close();
  },
);

testInBrowser("Back and a reload show the check before, and cost nothing", async () => {
  const { page, context, complaints } = await visit("own", "/");
  let asked = 0;
  page.on("request", (request) => (asked += request.url().endsWith("/account/check") ? 1 : 0));
  await focusOn(page, "");
  const check = async (entry: string): Promise<void> => {
    await page.getByLabel("Address or domain").fill(entry);
    await page.keyboard.press("Enter");
    await page.locator(".verdict .subject", { hasText: entry }).waitFor();
    await page.locator(".verdict .acts").waitFor();
    await page.waitForLoadState("networkidle");
  };
  await check("info@iana.org");
  await check("jo@mailinator.com");
  await page.goBack();
  await page.getByRole("img", { name: "Verdict: Looks good" }).waitFor();
  await page.reload();
  await page.getByRole("img", { name: "Verdict: Looks good" }).waitFor();
  await page.goBack();
  await page.getByRole("heading", { name: "Results of this server" }).waitFor();
  assert.equal(asked, 2);
  await goTo(page, `${shown.service.url}/#luis.garcia.gmail.com`);
  await button(page, "Did you mean luis.garcia@gmail.com?").click();
  await page.getByRole("img", { name: "Verdict: Looks good" }).waitFor();
  await page.getByText("For programs: the request and its JSON").click();
  assert.match(await page.getByRole("region", { name: "JSON" }).innerText(), /"dns": true/);
  assert.deepEqual(complaints, []);
  await context.close();
});

testInBrowser("a policy: draft kept, shadow, live after a question, undone", async () => {
  const { page, context, complaints } = await visit("fresh", "/gate");
  assert.equal(await button(page, "Publish 2").isDisabled(), true, "nothing is changed yet");
  await page.getByLabel("Otherwise").selectOption("reject");
  await button(page, "Remove rule 2").click();
  await button(page, "Undo").click();
  await page.getByRole("link", { name: "Keys" }).first().click();
  await page.getByText("No keys yet").waitFor();
  await page.goBack();
  await page.getByText("Your draft is not live.").waitFor();
  assert.equal(await page.getByLabel("Otherwise").inputValue(), "reject");
  assert.equal(await page.getByLabel("Rule 2: condition").inputValue(), "allowed");
  const other = await context.newPage();
  await goTo(other, page.url());
  await other.getByLabel("Otherwise").selectOption("review");
  await page.getByText("This draft was changed in another tab.").waitFor();
  assert.deepEqual(await axeFindings(page), []);
  await button(page, "Take the other one").click();
  await page.getByText("Your draft is not live.").waitFor();
  assert.equal(await page.getByLabel("Otherwise").inputValue(), "review");
  await page.getByLabel("Otherwise").selectOption("reject");
  await other.getByText("This draft was changed in another tab.").waitFor();
  await other.close();
  await page.getByLabel("Which rules").selectOption("live");
  await page.getByText("1. If the address is malformed").waitFor();
  await page.getByText("Live version", { exact: true }).last().waitFor();
  await page.getByLabel("Which rules").selectOption("draft");
  await page.getByLabel("Address", { exact: true }).fill("jo@mailinator.com");
  await button(page, "Try it for 1 check").click();
  await page.getByText("Rule 5: disposable").waitFor();
  await page.getByLabel("Language").selectOption("de");
  await page.getByText("dauerhafte E-Mail-Adresse").waitFor();
  await page.getByLabel("Rule 1: condition").selectOption("domain");
  await page.getByLabel("Rule 1: value").fill("bad_name");
  await page.getByLabel("Rule 1: value").blur();
  await button(page, "Run in shadow").click();
  await page
    .getByRole("alert")
    .filter({ hasText: /^[^[\]{}]*Rule 1:[^[\]{}]*$/ })
    .waitFor();
  await page.getByLabel("Rule 1: condition").selectOption("format");
  await button(page, "Run in shadow").click();
  await page.getByText("Version 2 has seen no sign-ups yet.").waitFor();
  await button(page, "Make 2 live").click();
  await confirmBy(page, "Refuse more people?", "Make 2 live");
  await page.getByText("Version 2 is live.").first().waitFor();
  await button(page, "Undo").click();
  await page.getByText("What your form does with a new address. Version 3 is live.").waitFor();
  assert.equal(await page.getByLabel("Otherwise").inputValue(), "accept");
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
  const buffer = workbookOf({ Notes: [["title"], ["nothing to read"]], Members: SHEET });
  await page.locator('input[type="file"]').setInputFiles({ name: "spring.xlsx", mimeType, buffer });
  assert.equal(await page.getByLabel("Sheet").inputValue(), "Members");
  await button(page, "Check 3 entries").click();
  await page.getByRole("heading", { name: "Every row" }).waitFor();
}

testInBrowser("a workbook goes up, and comes down cleaned with all its columns", async () => {
  const { page, context, complaints } = await visit("fresh", "/lists");
  await checkSheet(page);
  await button(page, /^Fix it/).click();
  await button(page, /^Undo/).first().waitFor();
  await button(page, "Download").click();
  await page.getByLabel("File", { exact: true }).selectOption("csv");
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Download 2 rows" }).click(),
  ]);
  assert.equal(file.suggestedFilename(), "spring-cleaned.csv");
  assert.deepEqual(
    readFileSync((await file.path()) ?? "", "utf8")
      .trim()
      .split("\r\n"),
    [
      "Name,E-mail,City,original,verdict,reason",
      "Ann,ann@other.example,Linz,,Good,",
      'Mia,mia@gmail.com,Graz,mia@gmail.con,"Fixed, not checked",',
    ],
  );
  await page.getByLabel("Columns").selectOption("mine");
  await page.getByLabel("File", { exact: true }).selectOption("xlsx");
  const [book] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Download 2 rows" }).click(),
  ]);
  assert.equal(book.suggestedFilename(), "spring-cleaned.xlsx");
  assert.deepEqual(complaints, []);
  await context.close();
});

testInBrowser(
  "an account is made, gets its password by a link, is promoted and disabled, both asked",
  async () => {
    const { page, context, complaints } = await visit("admin", "/admin/accounts");
    const own = page.getByLabel("Your own password, to be sure it is you");
    await button(page, "Create an account").click();
    await page
      .getByRole("textbox", { name: "Email address", exact: true })
      .fill("sam@shop.example");
    await page.getByLabel("Plan", { exact: true }).selectOption("starter");
    await own.fill(PASSWORD);
    await confirmBy(page, "Create an account", "Create an account");
    const link = await page.locator(".secret code").innerText();
    const other = await openPage(shown.service.url);
    const choose = async (): Promise<void> => {
      await goTo(other.page, link);
      await other.page.getByLabel("New password").fill("five yellow bicycles");
      await button(other.page, "Change the password").click();
    };
    await choose();
    await other.page.getByText("Your password is changed.").waitFor();
    await other.page.goto("about:blank");
    await choose();
    await other.page.getByText("This link does not work").waitFor();
    const sam = new Browser(shown.service);
    assert.equal((await sam.signIn("sam@shop.example", "five yellow bicycles")).status, 204);
    await page.getByRole("link", { name: "sam@shop.example" }).click();
    await button(page, "Make an administrator").waitFor();
    assert.equal(await page.locator(".secret code").innerText(), link, "until it is dismissed");
    await button(page, "I have kept it").click();
    await button(page, "Make an administrator").click();
    await own.fill("not my password");
    await page.getByRole("dialog").getByRole("button", { name: "Make an administrator" }).click();
    await page.getByText("That is not your password.").waitFor();
    await own.fill(PASSWORD);
    await confirmBy(page, /^Make sam/, "Make an administrator");
    await page.getByText("sam@shop.example is an administrator.").waitFor();
    await button(page, "Undo").click();
    await button(page, "Make an administrator").waitFor();
    await button(page, "Switch the account off").click();
    await confirmBy(page, "Switch the account off?", "Switch the account off");
    await page.getByText("sam@shop.example is switched off.").waitFor();
    assert.equal((await sam.get("keys")).status, 403);
    await button(page, "Undo").click();
    await button(page, "Switch the account off").waitFor();
    await button(page, "Limits of its own").click();
    await page.getByLabel("Requests a minute").fill("700");
    await page.getByLabel("Checks a day").fill("none");
    await confirmBy(page, "Limits of its own", "Save");
    await page.getByText("The limits of sam@shop.example are changed.").waitFor();
    await button(page, "Change the address").click();
    await page.getByLabel("New email address").fill("samuel@shop.example");
    await own.fill(PASSWORD);
    await confirmBy(page, "Change the address", "Change the address");
    await page.getByText("The address is changed.").waitFor();
    await button(page, "Delete the account").click();
    await own.fill(PASSWORD);
    await confirmBy(page, /^Delete sam/, "Delete for good");
    await button(page, "Create an account").waitFor();
    assert.equal(await page.getByText("samuel@shop.example").count(), 0);
    assert.deepEqual(complaints, []);
    await other.context.close();
    await context.close();
  },
);

testInBrowser(
  "a public list is switched off after a question, not counted, and back by Undo",
  async () => {
    const { page, context, complaints } = await visit("admin", "/admin/rules");
    const counted = async (): Promise<number> => {
      const front = (await new Browser(shown.service).get("front")).json;
      return (front as { lists: number }).lists;
    };
    const before = await counted();
    await button(page, "Switch off tompec").click();
    await confirmBy(page, "Switch off tompec?", "Switch off");
    await page.getByText("tompec is off.").waitFor();
    await until(async () => (await counted()) === before - 1, {
      what: "one list less",
      withinMs: PATIENCE_MS,
    });
    await button(page, "Undo").click();
    await button(page, "Switch off tompec").waitFor();
    const deny = async (name: string): Promise<void> => {
      await button(page, "Add a rule").click();
      await page.getByLabel("Domain, mail server or address").fill(name);
      await page.getByLabel("What it is").selectOption("deny");
      await page.getByRole("button", { name: "Save the rule" }).click();
    };
    await deny("gmail.com");
    await confirmBy(page, "Deny gmail.com?", "Save the rule");
    await page.getByText("The rule about gmail.com is saved.").waitFor();
    await button(page, "Undo").click();
    await button(page, "Forget gmail.com").waitFor({ state: "detached" });
    await button(page, "Add a rule").click();
    await page.getByLabel("Domain, mail server or address").fill("trash.example");
    await page.getByRole("button", { name: "Save the rule" }).click();
    await page.getByText("Choose what it is.").waitFor();
    await page.getByLabel("What it is").selectOption("deny");
    await page.getByRole("button", { name: "Save the rule" }).click();
    await confirmBy(page, "Deny trash.example?", "Save the rule");
    await button(page, "Forget trash.example").click();
    await confirmBy(page, "Forget trash.example?", "Forget");
    await button(page, "Undo").click();
    await button(page, "Forget trash.example").waitFor();
    await button(page, "Import many").click();
    await page.getByLabel("Entries").fill("allow trash.example\nother.example");
    await page.getByLabel("Lines without a word are").selectOption("deny");
    await page.getByRole("dialog").getByRole("button", { name: "Import them" }).click();
    await page.getByText("2 rules imported.").waitFor();
    await button(page, "Forget other.example").waitFor();
    await button(page, "Undo").click();
    await button(page, "Forget other.example").waitFor({ state: "detached" });
    const row = page.getByRole("row", { name: "trash.example" });
    await row.getByText("Denied").waitFor();
    assert.deepEqual(complaints, []);
    await context.close();
  },
);

testInBrowser("every total is the sum of its parts", async () => {
  const { page, context } = await visit("own", "/usage");
  const sheet = page.locator("section", { hasText: "We kept out" });
  const total = number(/of ([0-9,]+) sign-ups/.exec(await sheet.innerText())?.[1] ?? "");
  const legend = (await sheet.locator(".keys .key:not(.dashed)").allInnerTexts()).map(number);
  const lists = await sheet.locator(".lines").all();
  const reasons = (await lists[0]?.locator("li").allInnerTexts()) ?? [];
  const keys = (await lists[1]?.locator("li").allInnerTexts()) ?? [];
  assert.ok(total > 1_000);
  assert.equal(sum(legend), total);
  assert.equal(sum(reasons.map((row) => number(row.split("\n").at(-1) ?? ""))), total);
  assert.equal(sum(keys.map((row) => number(/of ([0-9,]+) rejected/.exec(row)?.[1] ?? ""))), total);
  assert.equal(number((await sheet.locator("h2").innerText()).trim()), legend[0]);
  await sheet.getByText("Figures by day").click();
  assert.equal(sum(await figures(page, "section:has-text('We kept out') td.number")), total);
  await context.close();
});

testInBrowser(
  "an address is asked for, data exported, and an ended session loses nothing typed",
  async () => {
    const { page, context, complaints } = await visit("fresh", "/settings");
    await button(page, "Ask for another address").click();
    await page.getByLabel("New email address").fill("newer@shop.example");
    await page.getByLabel("Current password").fill(PASSWORD);
    await confirmBy(page, "Ask for another address", "Ask for another address");
    await page.getByText("Your request is in the activity log.").waitFor();
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Export your data" }).click(),
    ]);
    const data = JSON.parse(readFileSync((await file.path()) ?? "", "utf8")) as {
      account: { email: string };
      "policy documents": readonly { document: unknown }[];
    };
    assert.equal(data.account.email, "fresh@shop.example");
    assert.ok(data["policy documents"][0]?.document);
    await goTo(page, `${shown.service.url}/keys`);
    await button(page, "Create a key").click();
    await page.getByRole("textbox", { name: "Name" }).fill("Half a form");
    await context.clearCookies();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Your session has ended" });
    await dialog.getByText("fresh@shop.example").waitFor();
    assert.deepEqual(await axeFindings(page), []);
    await dialog.getByLabel("Password").fill(PASSWORD);
    await dialog.getByRole("button", { name: "Sign in" }).click();
    await dialog.waitFor({ state: "detached" });
    assert.equal(await page.getByRole("textbox", { name: "Name" }).inputValue(), "Half a form");
    const second = await context.newPage();
    await goTo(second, `${shown.service.url}/`);
    await button(second, /account menu/).click();
    await button(second, "Sign out").click();
    await page.getByText("Your session has ended. Sign in again.").waitFor();
    assert.deepEqual(complaints, []);
    await context.close();
  },
);

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
