import { strict as assert } from "node:assert";
import type { Page } from "playwright-core";
import { PASSWORD } from "../../dashboard/dashboard-world.ts";
import { axeFindings, goTo, settled, testInBrowser } from "../browser.ts";
import { OWN, world, accountCookie, visit } from "./seeded-dashboard.ts";

const verdicts = [
  ["jane@good.example", "Looks good"],
  ["jane@throwaway.example", "Disposable"],
  ["jane@silent.example", "Could not tell"],
  ["jane@missing.example", "No mail server"],
  ["jane..doe@good.example", "Bad format"],
  ["maria@gmial.com", "Misspelt"],
  [
    `${"a".repeat(64)}@${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(53)}.example`,
    "No mail server",
  ],
] as const;

for (const who of ["a visitor", "an account"] as const) {
  testInBrowser(`${who} sees every kind of verdict as text`, async () => {
    const { page, end } = await visit(
      "/",
      who === "an account" ? { cookie: accountCookie, width: 360 } : {},
    );
    for (const [entry, stamp] of verdicts) {
      await page.getByLabel("Address or domain").fill(entry);
      await page.getByRole("button", { name: "Check", exact: true }).click();
      await page.getByRole("img", { name: `Verdict: ${stamp}` }).waitFor();
      await settled(page);
      assert.deepEqual(await axeFindings(page), [], entry);
      const wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
      assert.ok(Number(wide) <= 0, entry);
    }
    await end();
  });
}

testInBrowser("the JSON tab and the curl tab are reached with arrow keys", async () => {
  const { page, end } = await visit("/", { cookie: accountCookie });
  await page.getByLabel("Address or domain").fill("jane@good.example");
  await page.keyboard.press("Enter");
  await page.getByRole("tab", { name: "JSON" }).focus();
  const json = await page.getByRole("region", { name: "JSON" }).innerText();
  assert.equal((JSON.parse(json) as { domain: string }).domain, "good.example");
  await page.keyboard.press("ArrowRight");
  const curl = await page.getByRole("region", { name: "curl" }).innerText();
  assert.match(curl, /^curl http:\/\/gatepost\.example\/api\/email /);
  await end();
});

/** Presses Tab until the element with this name has the focus; a page has no more than 80 stops. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 80; presses += 1) {
    await page.keyboard.press("Tab");
    const text = await page.evaluate(`(() => {
      const at = document.activeElement;
      return at.getAttribute("aria-label") ?? at.labels?.[0]?.innerText ?? at.innerText ?? "";
    })()`);
    if (String(text).trim().startsWith(name)) {
      const ring = await page.evaluate(
        `(() => { const { outlineStyle } = getComputedStyle(document.activeElement); const { outlineStyle: around } = getComputedStyle(document.activeElement.closest("form") ?? document.activeElement); return outlineStyle !== "none" || around !== "none"; })()`,
      );
      assert.ok(ring === true, `the focus on ${name} is visible`);
      return;
    }
  }
  throw new Error(`the keyboard never reached ${name}`);
}

testInBrowser("by keyboard only: sign in, check, create a key, revoke it, sign out", async () => {
  await world.addAccount("keyboard@gatepost.example");
  const { page, end } = await visit("/sign-in");
  await tabTo(page, "Email address");
  await page.keyboard.type("keyboard@gatepost.example");
  await tabTo(page, "Password");
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Check", exact: true }).waitFor();
  await tabTo(page, "Address or domain");
  await page.keyboard.type("jane@throwaway.example");
  await page.keyboard.press("Enter");
  await page.getByRole("img", { name: "Verdict: Disposable" }).waitFor();
  await page.getByText("The list came with this version.").first().waitFor();
  await goTo(page, `${world.url}/keys`);
  await tabTo(page, "Create a key");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.equal(await page.locator(":focus").innerText(), "Create a key", "the focus comes back");
  await page.keyboard.press("Enter");
  await page.keyboard.type("By hand");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Your new key" }).waitFor();
  await tabTo(page, "I have kept it");
  await page.keyboard.press("Enter");
  await tabTo(page, "Revoke");
  await page.keyboard.press("Enter");
  await tabTo(page, "Revoke the key");
  await page.keyboard.press("Enter");
  await page
    .getByText(/^Revoked/)
    .first()
    .waitFor();
  await tabTo(page, "keyboard@gatepost.example");
  await page.keyboard.press("Enter");
  await tabTo(page, "Sign out");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Sign in" }).first().waitFor();
  await end();
});

testInBrowser(
  "sign-up leads to the keys; the key is shown once and hidden after a reload",
  async () => {
    const { page, end } = await visit("/sign-up");
    await page.getByLabel("Email address").fill("fresh@gatepost.example");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Create the account" }).click();
    await page.getByText("No keys yet").waitFor();
    await page.getByRole("button", { name: "Create a key" }).click();
    await page.getByLabel("Name").fill("First");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    const key = await page.locator(".secret code").innerText();
    assert.match(key, /^gp_live_\w{40}$/);
    await page.reload();
    await page.getByRole("cell", { name: "First", exact: true }).waitFor();
    assert.equal((await page.content()).includes(key), false);
    await end();
  },
);

testInBrowser(
  "a wrong password is reported, and an ended sign-in leads back to the form",
  async () => {
    const { page, end } = await visit("/keys");
    await page.getByLabel("Email address").fill(OWN);
    await page.getByLabel("Password").fill("not the password");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").getByText("Email address or password is wrong.").waitFor();
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("cell", { name: "Sign-up form", exact: true }).waitFor();
    await page.getByText("checks today").first().waitFor(); // nothing is loading any more
    await page.context().clearCookies();
    await page.getByRole("link", { name: "Credits" }).first().click();
    await page.getByRole("button", { name: "Leave the page" }).click();
    await page.getByText("Your session has ended. Sign in again.").waitFor();
    await end();
  },
);

testInBrowser(
  "an error is shown with a next step, and loading content keeps its space",
  async () => {
    const { page, end } = await visit("/", { cookie: accountCookie });
    await page.route("**/account/keys", (route) => route.abort());
    await page.getByRole("link", { name: "Keys" }).first().click();
    await page.getByRole("alert").getByText("The server did not answer.").waitFor();
    assert.deepEqual(await axeFindings(page), []);
    await page.unroute("**/account/keys");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("cell", { name: "Sign-up form", exact: true }).waitFor();
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    await page.route("**/account/credits", async (route) => {
      await held;
      await route.continue();
    });
    await page.getByRole("link", { name: "Credits" }).first().click();
    await page.getByRole("heading", { name: "Credits" }).waitFor();
    await page.locator(".bones").waitFor();
    assert.deepEqual(await axeFindings(page), []);
    letGo();
    await page.getByText("Granted: Welcome").waitFor();
    await end();
  },
);
