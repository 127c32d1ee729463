import { strict as assert } from "node:assert";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { PASSWORD } from "../../dashboard/dashboard-world.ts";
import { goTo, testInBrowser } from "../browser.ts";
import { button, visit, world } from "./usual-dashboard.ts";

/** Counts what a person presses, also from one page to the next. */
const COUNT = `addEventListener("pointerdown", ({ isTrusted }) => {
  if (isTrusted) sessionStorage.setItem("clicks", String(Number(sessionStorage.getItem("clicks")) + 1));
}, true);`;

async function counted(path: string, cookie?: string) {
  const opened = await visit("/", cookie === undefined ? {} : { cookie });
  await opened.page.addInitScript(COUNT);
  await goTo(opened.page, `${world.url}${path}`);
  return opened;
}

const clicks = async (page: Page): Promise<number> =>
  Number(await page.evaluate(`sessionStorage.getItem("clicks")`));

testInBrowser("the first check takes one click", async () => {
  const { page, context, complaints } = await counted("/");
  await page.getByLabel("Address or domain").click();
  await page.keyboard.type("jane@throwaway.example");
  await page.keyboard.press("Enter");
  await page.getByRole("img", { name: "Verdict: Disposable" }).waitFor();
  assert.equal(await clicks(page), 1);
  assert.deepEqual(complaints, []);
  await context.close();
});

testInBrowser(
  "after sign-up, the first key is in a copied command after three clicks",
  async () => {
    const { page, context, complaints } = await counted("/sign-up");
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByLabel("Email address").fill("clicks@gatepost.example");
    await page.getByLabel("Password").fill(PASSWORD);
    await button(page, "Create the account").click();
    await button(page, "Create a key").waitFor();
    const before = await clicks(page);
    await button(page, "Create a key").click();
    await page.keyboard.type("First");
    await button(page, /^Create$/).click();
    await page.getByText("Waiting for your first request").waitFor();
    await Promise.all([
      page.getByText("Copied").first().waitFor(),
      button(page, "Copy curl").click(),
    ]);
    assert.equal((await clicks(page)) - before, 3);
    const copied = String(await page.evaluate("navigator.clipboard.readText()"));
    const command = copied.replace("http://gatepost.example", world.url);
    assert.match(command, /X-Api-Key: gp_live_\w{40}/);
    const { stdout } = await promisify(execFile)("sh", ["-c", command]);
    assert.equal((JSON.parse(stdout) as { format: boolean }).format, true);
    await page.getByText("The first request came").waitFor();
    assert.deepEqual(complaints, []);
    await context.close();
  },
);

testInBrowser("a list is up and its cleaned file down after four clicks", async () => {
  const cookie = await world.cookieOf(await world.addAccount("four@gatepost.example"));
  const { page, context, complaints } = await counted("/", cookie);
  await page.getByRole("link", { name: "Lists" }).first().click();
  const [chooser] = await Promise.all([
    page.waitForEvent("filechooser"),
    page.getByText("Choose a file").first().click(),
  ]);
  const text = "Name,Mail\nAnn,ann@good.example\nBob,bob@throwaway.example\n";
  await chooser.setFiles({ name: "people.csv", mimeType: "text/csv", buffer: Buffer.from(text) });
  await button(page, "Check 2 entries").click();
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    button(page, /^Download 1 row$/).click(),
  ]);
  assert.equal(file.suggestedFilename(), "people-cleaned.csv");
  const cleaned = readFileSync((await file.path()) ?? "", "utf8");
  assert.match(cleaned, /^\ufeff?Name,Mail/);
  assert.ok(cleaned.includes("ann@good.example") && !cleaned.includes("bob@"));
  assert.equal(await clicks(page), 4);
  assert.deepEqual(complaints, []);
  await context.close();
});
