import { strict as assert } from "node:assert";
import { after, before } from "node:test";
import type { Page } from "playwright-core";
import { type DashboardWorld, dashboardWorld, PASSWORD } from "../../dashboard/dashboard-world.ts";
import type { Zone } from "../../dns/zone-lookup.ts";
import { goTo, openPage, testInBrowser } from "../browser.ts";

const ENTRIES = 3_000;

let world: DashboardWorld;

before(async () => {
  const names = Array.from({ length: ENTRIES }, (_, at) => `d${String(at)}.example`);
  const zone: Zone = {
    "mx.all.example": { a: ["203.0.113.5"] },
    "good.example": { mx: ["10 mx.all.example"] },
    ...Object.fromEntries(names.map((name) => [name, { mx: ["10 mx.all.example"] }])),
  };
  world = await dashboardWorld({ zone });
});

after(() => world.close());

const cookieOf = async (email: string): Promise<string> =>
  world.cookieOf(await world.addAccount(email, { tier: "pro" }));

const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name });

testInBrowser("a revoked key disappears from the panel that showed it", async () => {
  const { page, context } = await openPage(world.url, {
    cookie: await cookieOf("panel@gatepost.example"),
  });
  await goTo(page, `${world.url}/keys`);
  await button(page, "Create a key").first().click();
  await page.getByLabel("Name").fill("First");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Your new key" }).waitFor();
  await button(page, /^Revoke First/).click();
  await button(page, "Revoke the key").click();
  await page.getByText(/^Revoked/).waitFor();
  assert.equal(await page.getByText("Your new key").count(), 0);
  await context.close();
});

testInBrowser("the message about a refused webhook address disappears on edit", async () => {
  const { page, context } = await openPage(world.url, {
    cookie: await cookieOf("stale@gatepost.example"),
  });
  await goTo(page, `${world.url}/webhooks`);
  await page.getByLabel("Address", { exact: true }).fill("https://hooks.internal.test/x");
  await button(page, "Save").click();
  await page.getByRole("alert").waitFor();
  await page.getByLabel("Address", { exact: true }).fill("https://hooks.good.example/x");
  await page.getByRole("alert").waitFor({ state: "detached" });
  await context.close();
});

testInBrowser("a deep link and its query survive signing in", async () => {
  await world.addAccount("deep@gatepost.example");
  const { page, context } = await openPage(world.url);
  await goTo(page, `${world.url}/guide#one-check`);
  await page.getByRole("link", { name: "Sign in", exact: true }).first().click();
  await page.getByLabel("Email address").fill("deep@gatepost.example");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(`${world.url}/guide#one-check`);
  for (const wanted of ["//evil.example/", "https://evil.example/", "/\\evil.example"]) {
    await context.clearCookies();
    await goTo(page, `${world.url}/sign-in?next=${encodeURIComponent(wanted)}`);
    await page.getByLabel("Email address").fill("deep@gatepost.example");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL(`${world.url}/`);
  }
  await context.close();
});

testInBrowser("a page that cannot load offline says so, and loads when online", async () => {
  const { page, context } = await openPage(world.url, {
    cookie: await cookieOf("offline@gatepost.example"),
  });
  await goTo(page, `${world.url}/`);
  await context.setOffline(true);
  await page.getByRole("link", { name: "Usage" }).first().click();
  await page.getByText("The server did not answer.").first().waitFor();
  assert.equal(await page.getByText("updated").count(), 0);
  await context.setOffline(false);
  await button(page, "Try again").click();
  await page.getByRole("heading", { name: "Usage", exact: true }).waitFor();
  await context.close();
});
