import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { axeFindings, testInBrowser } from "../browser.ts";
import { LIST_DOMAINS, accountCookie, visit } from "./seeded-dashboard.ts";

/** Sets a long text in a field at once; `fill` takes chromium seconds, on a busy machine a minute. */
async function paste(page: Page, label: string, text: string): Promise<void> {
  await page.getByLabel(label).focus();
  await page.evaluate(`(() => {
    const field = document.activeElement;
    field.value = ${JSON.stringify(text)};
    field.dispatchEvent(new Event("input", { bubbles: true }));
  })()`);
}

/** Waits until a list shows only this entry. */
async function oneRow(page: Page, entry: string): Promise<void> {
  await page.locator(".grid-row").nth(1).waitFor({ state: "detached" });
  await page.locator(".grid-row").getByText(entry).waitFor();
}

testInBrowser(
  "a batch of 2,000 from paste to file: cost, progress, chart, filter, search, CSV",
  async () => {
    const { page, end } = await visit("/lists", { cookie: accountCookie });
    const entries = Array.from({ length: LIST_DOMAINS }, (_, at) => `user@d${String(at)}.example`);
    const pasted = ["jane@throwaway.example", "x@silent.example", "=cmd|x", ...entries];
    await paste(page, "Or paste addresses and domains", pasted.join("\n"));
    await page.getByRole("button", { name: "Look at the list" }).click();
    await page.getByRole("button", { name: "Check 2,003 entries" }).click();
    await page.getByRole("heading", { name: "Every entry" }).waitFor();
    await page
      .getByRole("img", { name: /^good 2,000, disposable 1, .*could not tell 1, bad format 1$/ })
      .waitFor();
    assert.ok((await page.locator(".grid-row").count()) < 80, "only the rows in view are there");
    assert.deepEqual(await axeFindings(page), []);
    await page.getByRole("button", { name: /^All/ }).click();
    await page.locator(".grid-body").focus();
    await page.keyboard.press("End");
    await page.getByText("user@d1999.example").waitFor();
    await page.getByRole("button", { name: "Disposable 1" }).click();
    await oneRow(page, "jane@throwaway.example");
    await page.getByRole("button", { name: /^All/ }).click();
    await page.getByLabel("Search in the entries").fill("D17.EXAMPLE");
    await oneRow(page, "user@d17.example");
    const [csv] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV", exact: true }).click(),
    ]);
    const lines = readFileSync((await csv.path()) ?? "", "utf8").split("\r\n");
    assert.equal(lines[0], "Entry,verdict,confidence,signals,reason,suggestion");
    const why = "It is not written like an address or a domain.";
    assert.equal(lines[3], `'=cmd|x,Bad format,0,,${why},`);
    await page.getByLabel("Search in the entries").fill("");
    await page.getByLabel("Which reason").selectOption(why);
    await oneRow(page, "=cmd|x");
    await page.getByText("1 entry shown").waitFor();
    assert.deepEqual(await axeFindings(page), []);
    await page.setViewportSize({ width: 320, height: 700 });
    assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 320);
    const [part] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV of these" }).click(),
    ]);
    const partial = readFileSync((await part.path()) ?? "", "utf8");
    assert.deepEqual(partial.split("\r\n"), [lines[0], lines[3], ""]);
    const [list] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Download valid list" }).click(),
    ]);
    assert.equal(readFileSync((await list.path()) ?? "", "utf8").split("\n").length, 2_000);
    await page.getByRole("button", { name: "Delete now" }).click();
    await page.getByRole("button", { name: "Keep it as it is" }).click();
    await page.getByText("1 entry shown").waitFor();
    await page.getByRole("button", { name: "Delete now" }).click();
    await page.getByRole("button", { name: "Delete them" }).click();
    await page.getByRole("heading", { name: "Check a list" }).waitFor();
    await end();
  },
);

testInBrowser(
  "a CSV file shows its columns before anything is sent; a reload finds the list again",
  async () => {
    const { page, end } = await visit("/lists", { cookie: accountCookie, width: 360 });
    const csv = "Name,E-mail,Old\nAnn,ann@d1.example,x.example\nBob,bob@d2.example,\n,,\n";
    await page
      .locator('input[type="file"]')
      .setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer: Buffer.from(csv) });
    await page.getByRole("heading", { name: "people.csv" }).waitFor();
    assert.equal(await page.getByLabel("Column with the addresses").inputValue(), "1");
    assert.deepEqual(await axeFindings(page), []);
    await page.getByRole("button", { name: "Check 2 entries" }).click();
    await page.getByText("2 rows, column “E-mail”").waitFor();
    assert.deepEqual(await axeFindings(page), []);
    await page.reload();
    await page.getByRole("heading", { name: "people.csv" }).waitFor();
    await page.getByText("bob@d2.example").waitFor();
    await end();
  },
);
