import { strict as assert } from "node:assert";
import { Browser } from "../../dashboard/dashboard-client.ts";
import { PASSWORD } from "../../dashboard/dashboard-world.ts";
import { axeFindings, goTo, testInBrowser } from "../browser.ts";
import { world, adminCookie, accountCookie, visit } from "./seeded-dashboard.ts";

testInBrowser(
  "a webhook is refused with a reason, saved, tested, renewed and removed",
  async () => {
    const { page, end } = await visit("/webhooks", { cookie: accountCookie });
    const address = page.getByLabel("Address", { exact: true });
    await address.fill("https://inside.test.internal/");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("alert").waitFor();
    await address.fill("https://hooks.example/in");
    await page.getByRole("button", { name: "Save" }).click();
    const secret = await page.locator(".secret code").innerText();
    assert.match(secret, /^[0-9a-f]{64}$/);
    await page.getByRole("button", { name: "Send a test" }).click();
    await page.getByText(/^It arrived: your server answered 200/).waitFor();
    await page.getByText("test.ping").last().waitFor();
    await page.getByRole("button", { name: "Make a new secret" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Make a new secret" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    assert.notEqual(await page.locator(".secret code").innerText(), secret);
    assert.deepEqual(await axeFindings(page), []);
    await page.getByRole("button", { name: "Remove the webhook" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove it" }).click();
    await page.getByRole("heading", { name: "Where to send it" }).waitFor();
    await end();
  },
);

testInBrowser("usage has a table behind every chart", async () => {
  const { page, end } = await visit("/usage", { cookie: accountCookie });
  const plots = page.getByRole("slider");
  await plots.nth(1).waitFor();
  await plots.first().focus();
  await page.keyboard.press("ArrowLeft");
  assert.match((await plots.first().getAttribute("aria-valuetext")) ?? "", /^\d+ \w+: /);
  await page.getByText("Figures by day").first().click();
  await page.locator("details table tbody tr").first().waitFor();
  await page.getByRole("button", { name: "400 days" }).click();
  // The account has 40 days, in two tables.
  await page.locator("details table tbody tr").nth(79).waitFor({ state: "attached" });
  assert.equal(await page.locator("details table tbody tr").count(), 80);
  await end();
});

testInBrowser("an account's first day has figures and no chart of one bar", async () => {
  const id = await world.addAccount("today@gatepost.example");
  const day = Math.floor(Date.now() / 86_400_000);
  const used = { units: 12, requests: 10, refusals: 0, latency: [10, 0, 0, 0, 0, 0, 0] };
  await world.usage.add([{ owner: `account:${id}`, day, ...used }]);
  const { page, end } = await visit("/usage", { cookie: await world.cookieOf(id) });
  await page.getByText("The chart begins tomorrow.").first().waitFor();
  await page.getByText("From the plan: 12").waitFor();
  assert.equal(await page.getByRole("slider").count(), 0);
  await end();
});

testInBrowser(
  "a password is changed, another browser signed out, and the account deleted",
  async () => {
    const email = "leaver@gatepost.example";
    const id = await world.addAccount(email);
    const other = await world.cookieOf(id);
    const { page, end } = await visit("/settings", { cookie: await world.cookieOf(id) });
    await page
      .getByRole("button", { name: /^Sign out A browser|^Sign out/ })
      .first()
      .waitFor();
    await page.getByLabel("Current password").fill(PASSWORD);
    await page.getByLabel("New password").fill("another fine password");
    await page.getByRole("button", { name: "Change it" }).click();
    await page.getByText("Your password is changed.").waitFor();
    const stranger = new Browser(world);
    stranger.cookie = other;
    assert.equal((await stranger.get("keys")).status, 401);
    await page.getByRole("button", { name: "Delete the account" }).click();
    await page.getByLabel("Your password, to be sure it is you").fill("another fine password");
    await page.getByRole("button", { name: "Delete it" }).click();
    await page.getByRole("link", { name: "Sign in" }).first().waitFor();
    assert.equal(await world.store.accounts.find(email), undefined);
    await end();
  },
);

testInBrowser(
  "an administrator promotes an account of a sign-up and sees its new password once",
  async () => {
    const email = "squatted@gatepost.example";
    const order = { email, password: PASSWORD };
    assert.equal((await new Browser(world).post("sign-up", order)).status, 204);
    const id = (await world.store.accounts.find(email))?.id ?? "";
    const { page, end } = await visit(`/admin/accounts#${id}`, { cookie: adminCookie });
    await page.getByText("registered by a sign-up").waitFor();
    await page.getByLabel("Your own password").last().fill(PASSWORD);
    await page.getByRole("button", { name: "Make an administrator" }).click();
    const secret = page.getByRole("group", { name: "The account's new password" });
    await page.getByRole("button", { name: "Take the administrator rights away" }).waitFor();
    const password = await secret.locator("code").innerText();
    await secret.getByRole("button", { name: "I have kept it" }).click();
    await secret.waitFor({ state: "detached" });
    assert.equal((await new Browser(world).signIn(email, PASSWORD)).status, 401);
    assert.equal((await new Browser(world).signIn(email, password)).status, 204);
    await end();
  },
);

testInBrowser(
  "an administrator finds an account and changes plan, credits and switch",
  async () => {
    const id = await world.addAccount("customer@gatepost.example");
    const { page, end } = await visit("/admin/accounts", { cookie: adminCookie });
    await page.getByLabel("Search by email address or id").fill("CUSTOMER@");
    await page.getByText("1 account", { exact: true }).waitFor();
    await page.getByLabel("Which accounts").selectOption("admin");
    await page.getByText("Nobody found").waitFor();
    await page.getByLabel("Which accounts").selectOption("");
    await page.getByRole("link", { name: "customer@gatepost.example" }).click();
    await page.getByRole("heading", { name: "customer@gatepost.example" }).waitFor();
    assert.deepEqual(await axeFindings(page), []);
    const press = (name: string) => page.getByRole("button", { name }).click();
    await page.getByLabel("Plan").selectOption("pro");
    await press("Change the plan");
    await page.getByText("Pro, made").waitFor();
    await page.getByLabel("Credits to add").fill("250");
    await page.getByLabel("Reason").fill("Goodwill");
    await press("Move the credits");
    await page.getByText("250 credits now.").waitFor();
    await page.getByLabel("Your own password").last().fill(PASSWORD);
    await press("Make an administrator");
    await page.getByText("An administrator's plan is Pro.").waitFor();
    await press("Take the administrator rights away");
    await page.getByRole("button", { name: "Make an administrator" }).waitFor();
    await press("Switch the account off");
    await page.getByRole("button", { name: "Switch the account on" }).waitFor();
    const account = await world.store.accounts.find(id);
    assert.deepEqual(
      [account?.tier, account?.creditBalance, account?.isDisabled],
      ["pro", 250, true],
    );
    await goTo(page, `${world.url}/admin/system`);
    await page.getByText("Credits moved: 250, Goodwill").waitFor();
    await end();
  },
);
