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
  await page.getByRole("heading", { name: "Every row" }).waitFor();
  const [list] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Download 1 row" }).click(),
  ]);
  const [, good] = readFileSync((await list.path()) ?? "", "utf8").split("\r\n");
  assert.match(good ?? "", /^Ann,ann@good\.example,valid,/);
  await page.goBack();
  await page.getByRole("heading", { name: "Check a list" }).waitFor();
  await page.goForward();
  await page.getByRole("heading", { name: "people.csv" }).waitFor();
  assert.deepEqual(complaints, []);
  await context.close();
});

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

testInBrowser("a blocked clipboard is reported", async () => {
  const cookie = await accountCookie("refused@gatepost.example");
  const { page, context, complaints } = await visit("/guide", { cookie });
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
});
