import { strict as assert } from "node:assert";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { PASSWORD } from "../../dashboard/dashboard-world.ts";
import { axeFindings, goTo, testInBrowser } from "../browser.ts";
import { button, visit, world } from "./usual-dashboard.ts";

async function accountCookie(email: string): Promise<string> {
  return world.cookieOf(await world.addAccount(email));
}

/** The note "copied" disappears after 2 s, so the test waits for it before the click. */
async function copy(page: Page, name: string): Promise<void> {
  await Promise.all([page.getByText("Copied").first().waitFor(), button(page, name).click()]);
}

async function signIn(page: Page, email: string): Promise<void> {
  await page.getByLabel("Email address").fill(email);
  await page.getByLabel("Password").fill(PASSWORD);
  await button(page, "Sign in").click();
}

testInBrowser("from sign-up to a checked file, with a copied command that runs", async () => {
  const { page, context, complaints } = await visit("/sign-up");
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByLabel("Email address").fill("new@gatepost.example");
  await page.getByLabel("Password").fill(PASSWORD);
  await button(page, "Create the account").click();
  await button(page, "Create a key").click();
  await page.getByLabel("Name").fill("First");
  await page.keyboard.press("Enter");
  await copy(page, "Copy Your new key");
  const key = String(await page.evaluate("navigator.clipboard.readText()"));
  assert.match(key, /^gp_live_\w{40}$/);

  await page.getByRole("link", { name: "Check" }).first().click();
  await page.getByLabel("Address or domain").fill("o'hara+list@throwaway.example");
  await page.keyboard.press("Enter");
  await page.getByRole("img", { name: "Verdict: Disposable" }).waitFor();
  await page.getByRole("tab", { name: "curl" }).click();
  await copy(page, "Copy curl");
  const copied = String(await page.evaluate("navigator.clipboard.readText()"));
  assert.ok(copied.includes(key), "the sample holds the key that is on screen");
  const command = copied.replace("http://gatepost.example", world.url);
  const { stdout } = await promisify(execFile)("sh", ["-c", command]);
  assert.equal((JSON.parse(stdout) as { disposable: boolean }).disposable, true);

  await page.getByRole("link", { name: "Lists" }).first().click();
  const csv = "Name,E-mail\nAnn,ann@good.example\nBob,bob@throwaway.example\n";
  await page
    .locator('input[type="file"]')
    .setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer: Buffer.from(csv) });
  await button(page, "Check 2 entries").click();
  await page.getByRole("heading", { name: "Every entry" }).waitFor();
  const [list] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Download valid list" }).click(),
  ]);
  assert.equal(readFileSync((await list.path()) ?? "", "utf8"), "ann@good.example");
  const [results] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "JSON" }).click(),
  ]);
  const { stats } = JSON.parse(readFileSync((await results.path()) ?? "", "utf8")) as {
    stats: { valid: number };
  };
  assert.equal(stats.valid, 1);
  await page.goBack();
  await page.getByRole("heading", { name: "Check", exact: true }).waitFor();
  await page.goForward();
  await page.getByRole("heading", { name: "people.csv" }).waitFor();
  assert.deepEqual(complaints, []);
  await context.close();
});

/** The server reports every batch as half done. */
async function holdLists(page: Page): Promise<void> {
  const half = { session: "", status: "processing", email_count: 1_200, processed_count: 600 };
  await page.route(/\/account\/lists\/[0-9a-f]{32}$/, async (route) => {
    const session = route.request().url().slice(-32);
    await route.fulfill({ json: { ...half, session } });
  });
}

/** Starts a batch large enough for the queue. */
async function pasteList(page: Page): Promise<void> {
  const entries = Array.from({ length: 120 }, (_, at) => `user${String(at)}@good.example`);
  await page.getByLabel("Or paste addresses and domains").fill(entries.join("\n"));
  await button(page, "Look at the list").click();
  await button(page, "Check 120 entries").click();
}

/** Starts a batch that `holdLists` delays. */
async function beginList(page: Page): Promise<void> {
  await pasteList(page);
  await page.getByText("600 of 1,200").waitFor();
}

testInBrowser(
  "a running batch is found again after a reload, from other pages and in a second tab",
  async () => {
    const cookie = await accountCookie("runner@gatepost.example");
    const { page, context, complaints } = await visit("/lists", { cookie, width: 360 });
    await holdLists(page);
    await beginList(page);
    assert.deepEqual(await axeFindings(page), []);
    await page.reload();
    await page.getByText("600 of 1,200").waitFor();
    await page.goto(`${world.url}/keys`);
    await page.getByText("No keys yet").waitFor();
    const second = await context.newPage();
    await goTo(second, `${world.url}/lists`);
    await second.getByRole("heading", { name: "Check a list" }).waitFor();
    await page.goBack();
    await page.unroute(/\/account\/lists\/[0-9a-f]{32}$/);
    await page.getByRole("heading", { name: "Every entry" }).waitFor();
    await page.getByText("user119@good.example").waitFor({ state: "attached" });
    assert.deepEqual(complaints, []);
    await context.close();
  },
);

testInBrowser(
  "a sign-in that ends while a batch runs loses nothing, and shows it to no other user",
  async () => {
    const email = "ending@gatepost.example";
    const cookie = await accountCookie(email);
    await world.addAccount("next@gatepost.example");
    const { page, context } = await visit("/lists", { cookie });
    await holdLists(page);
    await beginList(page);
    await context.clearCookies();
    await page.unroute(/\/account\/lists\/[0-9a-f]{32}$/);
    await signInAgain(page, email);
    await page.getByRole("heading", { name: "Every entry" }).waitFor();
    await button(page, /account menu/).click();
    await button(page, "Sign out").click();
    await page.getByRole("link", { name: "Sign in" }).first().click();
    await signIn(page, "next@gatepost.example");
    await page.getByRole("link", { name: "Lists" }).first().click();
    await page.getByRole("heading", { name: "Check a list" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Check a list" }).waitFor();
    assert.equal(await page.getByText("user1@good.example").count(), 0);
    await context.close();
  },
);

/** Waits for the password dialog after a sign-in ended, and fills it in. */
async function signInAgain(page: Page, email: string): Promise<void> {
  const dialog = page.getByRole("dialog", { name: "Your session has ended" });
  await dialog.getByText(email).waitFor();
  await dialog.getByLabel("Password").fill(PASSWORD);
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await dialog.waitFor({ state: "detached" });
}

testInBrowser("a sign-in that ends during a form hides the page and keeps the input", async () => {
  const email = "typing@gatepost.example";
  const cookie = await accountCookie(email);
  const { page, context, complaints } = await visit("/keys", { cookie });
  await button(page, "Create a key").click();
  await page.getByLabel("Name").fill("Half a form");
  await context.clearCookies();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Your session has ended" });
  await dialog.waitFor();
  assert.deepEqual(await axeFindings(page), []);
  await page.keyboard.press("Escape");
  await signInAgain(page, email);
  assert.equal(await page.getByLabel("Name").inputValue(), "Half a form");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Your new key" }).waitFor();
  await context.clearCookies();
  await page.reload();
  await page.getByLabel("Email address").waitFor();
  assert.deepEqual(complaints, []);
  await context.close();
});

testInBrowser("signing out in one tab signs out the other, which says so", async () => {
  const cookie = await accountCookie("tabs@gatepost.example");
  const { page, context } = await visit("/keys", { cookie });
  await button(page, "Create a key").click();
  const other = await context.newPage();
  await goTo(other, `${world.url}/`);
  await button(other, /account menu/).click();
  await button(other, "Sign out").click();
  await other.getByRole("link", { name: "Sign in" }).first().waitFor();
  await page.getByText("Your session has ended. Sign in again.").waitFor();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await context.close();
});

testInBrowser("a batch is kept without a network, and found when it is back", async () => {
  const cookie = await accountCookie("tunnel@gatepost.example");
  const { page, context, complaints } = await visit("/lists", { cookie });
  await page.route("**/account/lists/*/rows", (route) => route.abort());
  await pasteList(page);
  await page.getByText("The server did not answer.").waitFor();
  assert.deepEqual(await axeFindings(page), []);
  await page.reload();
  await page.getByText("The server did not answer.").waitFor();
  await page.unroute("**/account/lists/*/rows");
  await context.setOffline(true);
  await context.setOffline(false);
  await page.getByRole("heading", { name: "Every entry" }).waitFor();
  assert.deepEqual(complaints, []);
  await context.close();
});

testInBrowser(
  "a file of 20 MB, a column without addresses and a blocked clipboard are reported",
  async () => {
    const cookie = await accountCookie("refused@gatepost.example");
    const { page, context, complaints } = await visit("/lists", { cookie });
    const sent: string[] = [];
    page.on("request", (request) => {
      if (request.method() === "POST") sent.push(request.url());
    });
    const file = page.locator('input[type="file"]');
    const buffer = Buffer.alloc(20_000_001, "a@b.example\n");
    await file.setInputFiles({ name: "large.csv", mimeType: "text/csv", buffer });
    await page.getByRole("alert").getByText("larger than 20 MB").waitFor();
    const csv = "Name,E-mail\nAnn,ann@good.example\n,bob@good.example\n";
    await file.setInputFiles({ name: "two.csv", mimeType: "text/csv", buffer: Buffer.from(csv) });
    await page.getByLabel("Column with the addresses").selectOption("0");
    await page
      .getByText("Most of this column looks like neither an address nor a domain.")
      .waitFor();
    await page.getByLabel("Column with the addresses").selectOption("1");
    await button(page, "Check 2 entries").waitFor();
    assert.deepEqual(sent, [], "nothing was sent");
    await goTo(page, `${world.url}/guide`);
    await page.evaluate(
      "Object.defineProperty(navigator, 'clipboard', { value: { writeText: () => Promise.reject(new Error('no')) } })",
    );
    const press = (told: RegExp) =>
      Promise.all([button(page, told).first().waitFor(), button(page, /^Copy/).first().click()]);
    const text = await page.getByRole("region").first().innerText();
    await press(/^Copied/);
    assert.equal(await page.evaluate("String(getSelection())"), text, "by the fallback");
    await page.evaluate("document.execCommand = () => false");
    await press(/^Selected/);
    assert.deepEqual(complaints, []);
    await context.close();
  },
);
