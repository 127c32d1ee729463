import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { after, before } from "node:test";
import type { Page } from "playwright-core";
import { Browser } from "../../dashboard/dashboard-client.ts";
import { type DashboardWorld, dashboardWorld, PASSWORD } from "../../dashboard/dashboard-world.ts";
import type { Zone } from "../../dns/zone-lookup.ts";
import { axeFindings, goTo, openPage, settled, testInBrowser, type View } from "../browser.ts";
import { HOSTILE } from "../hostile.ts";

const mail = (name: string, host = `mx.${name}`): Zone => ({
  [name]: { mx: [`10 ${host}`] },
  [host]: { a: ["203.0.113.5"] },
});

const LIST_DOMAINS = 2_000;

const ZONE: Zone = {
  ...mail("good.example"),
  ...mail("throwaway.example"),
  ...mail("gmial.com"),
  "silent.example": { unknown: true },
  ...Object.assign(
    {},
    ...Array.from({ length: LIST_DOMAINS }, (_, at) =>
      mail(`d${String(at)}.example`, "mx.all.example"),
    ),
  ),
};

let world: DashboardWorld;
let adminCookie = "";
let accountCookie = "";
const ADMIN = "admin@gatepost.example";
const OWN = "own@gatepost.example";

before(async () => {
  world = await dashboardWorld({ zone: ZONE, known: { curated: ["throwaway.example"] } });
  const adminId = await world.addAccount(ADMIN, { isAdmin: true, tier: "pro" });
  const ownId = await world.addAccount(OWN, { tier: "pro" });
  adminCookie = await world.cookieOf(adminId);
  accountCookie = await world.cookieOf(ownId);
  const today = Math.floor(Date.now() / 86_400_000);
  for (const id of [adminId, ownId]) {
    const days = Array.from({ length: 40 }, (_, at) => ({
      owner: `account:${id}`,
      day: today - at,
      units: 1_000 + at * 30,
      credits: at % 5,
      requests: 400 + at * 10,
      refusals: at % 7,
      latency: [300, 60, 30, 6, 3, 1, 0],
    }));
    await world.usage.add(days);
    await world.store.credits.grant(id, 500, "Welcome");
    await world.store.keys.create(id, "Sign-up form");
  }
});

after(() => world.close());

async function visit(
  path: string,
  view: View = {},
): Promise<{ page: Page; end: () => Promise<void> }> {
  const { page, context, complaints } = await openPage(world.url, view);
  await goTo(page, `${world.url}${path}`);
  return {
    page,
    end: async () => {
      assert.deepEqual(complaints, []);
      await context.close();
    },
  };
}

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

testInBrowser("thirty hostile strings are text wherever they are shown", async () => {
  const email = "target@gatepost.example";
  const id = await world.addAccount(email, { tier: "pro" });
  const names = HOSTILE.map((text) => text.replaceAll(/\p{C}/gu, "").slice(0, 100)).filter(
    (name) => name.trim() !== "",
  );
  for (const name of names) {
    assert.equal((await world.store.keys.create(id, name)).kind, "created");
    await world.store.credits.grant(id, 1, name);
  }
  const cookie = await world.cookieOf(id);
  const { page, end } = await visit("/keys", { cookie });
  const shows = async (where: string): Promise<void> => {
    const text = String(await page.evaluate("document.body.innerText")).replaceAll(/\s+/g, " ");
    for (const name of names)
      assert.ok(text.includes(name.replaceAll(/\s+/g, " ").trim()), `${where}: ${name}`);
    await harmless(page, where);
  };
  await shows("keys");
  await goTo(page, `${world.url}/credits`);
  await shows("credits");
  await goTo(page, `${world.url}/lists`);
  await page.getByLabel("Or paste addresses and domains").fill(HOSTILE.join("\n"));
  await page.getByRole("button", { name: "Look at the list" }).click();
  await page.getByRole("button", { name: /^Check \d+ entr/ }).click();
  await page.getByRole("heading", { name: "Every entry" }).waitFor();
  await harmless(page, "lists");
  await goTo(page, `${world.url}/`);
  for (const text of HOSTILE) {
    await page.getByLabel("Address or domain").fill(text);
    await page.getByRole("button", { name: "Check", exact: true }).click();
    await page.locator(".postmark:not(.blank)").waitFor();
    await harmless(page, `check: ${text}`);
  }
  await end();
});

testInBrowser("hostile DNS text and delivery answers are text", async () => {
  const text = HOSTILE.join(" ").slice(0, 900);
  const zone: Zone = {
    ...mail("evil.example"),
    "evil.example": {
      mx: ["10 mx.evil.example"],
      txt: [`v=spf1 ${text.repeat(5).slice(0, 4_000)} -all`],
    },
    "_dmarc.evil.example": { txt: [`v=DMARC1; p=none; rua=mailto:${text}`] },
  };
  const other = await dashboardWorld({ zone });
  try {
    await other.addAccount(OWN, { tier: "pro" });
    const browser = new Browser(other);
    await browser.signIn(OWN, PASSWORD);
    other.receiver.answerNext({
      ok: true,
      value: { status: 500, headers: {}, body: new TextEncoder().encode(text), cut: false },
    });
    await browser.post("webhook", { url: "https://hooks.example/", events: [] });
    await browser.post("webhook/ping");
    const { page, context, complaints } = await openPage(other.url, {
      cookie: browser.cookie,
      width: 360,
    });
    await goTo(page, `${other.url}/webhooks`);
    await page.locator(".delivery summary").first().click();
    await page.locator(".delivery pre").first().waitFor();
    await harmless(page, "delivery log");
    await goTo(page, `${other.url}/`);
    await page.getByLabel("Address or domain").fill("evil.example");
    await page.keyboard.press("Enter");
    await page.getByText("How its mail is set up").waitFor();
    await settled(page);
    const records = await page.locator(".facts-grid summary").all();
    assert.ok(records.length > 0);
    for (const record of records) await record.click();
    await harmless(page, "records");
    const wide = await page.evaluate("document.documentElement.scrollWidth");
    assert.ok(Number(wide) <= 360, "4,000 characters of SPF wrap");
    assert.deepEqual(complaints, []);
    await context.close();
  } finally {
    await other.close();
  }
});

/** No script ran, and no text became an element. */
async function harmless(page: Page, where: string): Promise<void> {
  const found = await page.evaluate(`({
    hit: window.hit ?? 0,
    elements: document.querySelectorAll("main :is(script, iframe, object, embed, base, style, img, form[action], svg [onload], [onerror], [onclick], [onload])").length,
    links: [...document.querySelectorAll("main a")].filter(({ protocol }) => !/^https?:$/.test(protocol)).length,
  })`);
  assert.deepEqual(found, { hit: 0, elements: 0, links: 0 }, where);
}
