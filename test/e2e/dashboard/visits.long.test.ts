import { strict as assert } from "node:assert";
import type { Page } from "playwright-core";
import { axeFindings, focusOn, goTo, openPage, testInBrowser } from "../browser.ts";
import { button, visit, world } from "./usual-dashboard.ts";

testInBrowser("a stale link leads to a page that says so; a program gets JSON", async () => {
  const { page, context } = await visit("/list");
  await page.getByRole("heading", { name: "There is no such page" }).waitFor();
  assert.deepEqual(await axeFindings(page), []);
  await page.getByRole("link", { name: "Go to Check" }).click();
  await page.getByRole("heading", { name: "Real addresses in." }).waitFor();
  const ask = async (path: string, accept: string): Promise<readonly [number, string]> => {
    const { status, headers } = await fetch(`${world.url}${path}`, { headers: { accept } });
    return [status, headers.get("content-type") ?? ""];
  };
  const [html, json] = ["text/html; charset=utf-8", "application/json"];
  assert.deepEqual(await ask("/list", "text/html,*/*"), [404, html]);
  assert.deepEqual(await ask("/pricing/", "text/html,*/*"), [200, html]);
  for (const path of ["/list", "/pricing/"]) assert.deepEqual(await ask(path, "*/*"), [404, json]);
  for (const path of ["/api/list", "/account/list", "/assets/list.js"]) {
    assert.deepEqual(await ask(path, "text/html,*/*"), [404, json], path);
  }
  await context.close();
});

testInBrowser("a page opened from the navigation has the focus on its heading", async () => {
  const { page, context } = await visit("/");
  await page.getByRole("link", { name: "Guide" }).first().focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "One check" }).waitFor();
  await focusOn(page, "Guide");
  assert.equal(await page.evaluate("document.activeElement.tagName"), "H1");
  await context.close();
});

testInBrowser("a shown secret has the focus, then the heading gets it", async () => {
  const cookie = await world.cookieOf(await world.addAccount("secret@gatepost.example"));
  const { page, context } = await visit("/webhooks", { cookie, width: 360 });
  await page.getByLabel("Address", { exact: true }).fill("https://hooks.example/in");
  await button(page, "Save").click();
  await page.getByText("This is the only time it is shown.").waitFor();
  await focusOn(page, "The signing secret");
  const top = await page.evaluate("document.querySelector('.secret').getBoundingClientRect().top");
  assert.ok(Number(top) >= 0, "it is in view");
  await button(page, "I have kept it").click();
  await focusOn(page, "Webhooks");
  await context.close();
});

testInBrowser(
  "a link opened where the browser has forgotten its account is checked once",
  async () => {
    const cookie = await world.cookieOf(await world.addAccount("once@gatepost.example"));
    const { page, context } = await visit("/pricing", { cookie });
    const asked: string[] = [];
    page.on("request", (request) => void asked.push(new URL(request.url()).pathname));
    await page.evaluate("localStorage.clear()");
    await page.goto("about:blank");
    await goTo(page, `${world.url}/#jane@throwaway.example`);
    await page.getByText("jane@throwaway.example").first().waitFor();
    await page.locator(".verdict .acts").waitFor();
    await page.getByRole("link", { name: "Keys" }).first().waitFor();
    await page.waitForLoadState("networkidle");
    assert.equal(asked.filter((path) => path === "/account/check").length, 1);
    await context.close();
  },
);

testInBrowser("a link is asked about while it is not known who opened it, and once", async () => {
  const cookie = await world.cookieOf(await world.addAccount("early@gatepost.example"));
  for (const view of [{}, { cookie }]) {
    const { page, context } = await openPage(world.url, view);
    let asked = 0;
    let checked = (): void => undefined;
    const isChecked = new Promise<void>((resolve) => {
      checked = resolve;
    });
    await page.route("**/account/session", async (route) => {
      await isChecked;
      await route.continue();
    });
    page.on("response", (response) => {
      if (!response.url().endsWith("/account/check")) return;
      asked += 1;
      checked();
    });
    await page.goto(`${world.url}/#%20jane@throwaway.example`);
    await page.locator(".verdict .acts").waitFor();
    await page.waitForLoadState("networkidle");
    assert.equal(asked, 1);
    await context.close();
  }
});

testInBrowser("the verdict of a link waits for no second script", async () => {
  const { page, context } = await openPage(world.url);
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  await page.route(/\/assets\/(?!first-)[^/]+\.js$/, async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(`${world.url}/#jane@throwaway.example`);
  await page.getByRole("img", { name: "Verdict: Disposable" }).waitFor();
  assert.equal(await page.getByRole("heading", { name: /^Why/ }).count(), 0);
  letGo();
  await page.getByRole("heading", { name: /^Why/ }).waitFor();
  await context.close();
});

testInBrowser("a result prints dark on white and without controls", async () => {
  const { page, context } = await visit("/#jane@throwaway.example", { theme: "dark", width: 760 });
  await page.getByRole("heading", { name: /^Why/ }).waitFor();
  const colour = (): Promise<unknown> =>
    page.evaluate('getComputedStyle(document.querySelector(".say")).color');
  const onScreen = await colour();
  await page.emulateMedia({ media: "print" });
  assert.notEqual(await colour(), onScreen);
  assert.equal(await colour(), "rgb(28, 32, 48)");
  const controls = page.locator("button, select, nav, footer, form, [role=tablist]");
  assert.equal(await controls.filter({ visible: true }).count(), 0);
  assert.ok(await page.getByRole("img", { name: "Verdict: Disposable" }).isVisible());
  await context.close();
});

testInBrowser("names of a hundred letters do not widen a page", async () => {
  const id = await world.addAccount("wide@gatepost.example");
  const name = "W".repeat(100);
  await world.store.keys.create(id, name);
  await world.store.credits.grant(id, 5, name);
  const cookie = await world.cookieOf(id);
  for (const width of [360, 768, 1_440]) {
    const { page, context } = await visit("/keys", { cookie, width });
    for (const path of ["/keys", "/credits", "/pricing", "/settings"]) {
      await goTo(page, `${world.url}${path}`);
      const wide = await page.evaluate("document.documentElement.scrollWidth");
      assert.ok(Number(wide) <= width, `${path} is ${String(wide)} px wide at ${String(width)}`);
    }
    await context.close();
  }
});

/** Drops a file on the page's heading. */
const drop = (page: Page, name: string, text: string): Promise<unknown> =>
  page.evaluate(
    `(() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}));
      const how = { dataTransfer, bubbles: true, cancelable: true };
      const taken = ["dragover", "drop"].map(
        (kind) => !document.querySelector("h1").dispatchEvent(new DragEvent(kind, how)));
      return taken.join();
    })()`,
  );

testInBrowser(
  "a file dropped on the front page waits until its visitor has an account",
  async () => {
    const { page, context } = await visit("/");
    await page.getByRole("heading", { name: "Clean a whole list" }).waitFor();
    assert.equal(await drop(page, "mine.csv", "email\r\nann@good.example\r\n"), "true,true");
    await page.getByLabel("Email address").fill("brings@gatepost.example");
    await page.getByLabel("Password").fill("correct horse battery staple");
    await button(page, "Create the account").click();
    await page.getByRole("heading", { name: "mine.csv" }).waitFor();
    await button(page, "Check 1 entry").waitFor();
    await context.close();
  },
);

testInBrowser("a file dropped anywhere on the page is read", async () => {
  const cookie = await world.cookieOf(await world.addAccount("drop@gatepost.example"));
  const { page, context, complaints } = await visit("/lists", { cookie });
  assert.equal(await drop(page, "people.xlsx", "PK\u0003\u0004\u0000"), "true,true");
  await page
    .getByRole("alert")
    .getByText(/workbook/)
    .waitFor();
  const columns = Array.from({ length: 40 }, (_, at) => `c${String(at)}`);
  const row = columns.map((_, at) => (at === 30 ? "ann@good.example" : "José"));
  await drop(page, "people.csv", [columns, row].map((cells) => cells.join(";")).join("\r\n"));
  await page.getByLabel("Column with the entries").waitFor();
  const isSeen = `(() => {
    const [cell, frame] = [".picked", ".scroll"].map((name) => document.querySelector(name).getBoundingClientRect());
    return cell.left >= frame.left && cell.right <= frame.right;
  })()`;
  assert.equal(await page.evaluate(isSeen), true, "the picked column is in view");
  assert.equal(await drop(page, "late.csv", "late@good.example"), "true,true", "it is not opened");
  await page.getByRole("heading", { name: "people.csv" }).waitFor();
  assert.deepEqual(complaints, []);
  await context.close();
});

testInBrowser("a tab reloads when the browser is signed in to another account", async () => {
  const first = await world.addAccount("first@gatepost.example");
  await world.store.keys.create(first, "Key of the first");
  const second = await world.addAccount("second@gatepost.example");
  const { page, context } = await visit("/keys", { cookie: await world.cookieOf(first) });
  await page.getByRole("cell", { name: "Key of the first", exact: true }).waitFor();
  const [name = "", value = ""] = (await world.cookieOf(second)).split("=");
  await context.addCookies([{ name, value, url: world.url, httpOnly: true, sameSite: "Strict" }]);
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
  await page.getByText("No keys yet").waitFor();
  await page.getByText("second@gatepost.example").first().waitFor();
  await context.close();
});

testInBrowser(
  "a check is shown again after going back, is read aloud, and only to its account",
  async () => {
    const cookie = await world.cookieOf(await world.addAccount("back@gatepost.example"));
    const { page, context } = await visit("/", { cookie });
    await page.getByLabel("Address or domain").fill("ann@good.example");
    await page.keyboard.press("Enter");
    const verdict = page.getByRole("img", { name: "Verdict: Looks good" });
    await verdict.waitFor();
    await page
      .getByText("ann@good.example: Looks good, accepts mail.")
      .waitFor({ state: "attached" });
    await page.getByRole("link", { name: "Guide" }).click();
    await page.getByRole("heading", { name: "One check" }).waitFor();
    await page.goBack();
    await verdict.waitFor();
    await button(page, /account menu/).click();
    await button(page, "Sign out").click();
    await page.getByRole("heading", { name: "Real addresses in." }).waitFor();
    assert.equal(await page.getByLabel("Address or domain").inputValue(), "");
    await context.close();
  },
);

const refusals = [
  [500, { error: "Internal error." }, /^Something went wrong in the service\. Try again;/],
  [503, { error: "Service temporarily unavailable" }, /^The service is busy, .* Try again in/],
  [
    429,
    { error: "Daily quota exceeded.", reset_at: "2999-01-01T00:00:00.000Z" },
    /^Daily quota exceeded\. It is renewed in \d+ years\.$/,
  ],
] as const;

testInBrowser("refusals and errors are shown with what to do", async () => {
  const cookie = await world.cookieOf(await world.addAccount("refused@gatepost.example"));
  const { page, context } = await visit("/", { cookie });
  for (const [status, json, want] of refusals) {
    await page.route("**/account/check", (route) => route.fulfill({ status, json }));
    await page.getByLabel("Address or domain").fill("ann@good.example");
    await page.keyboard.press("Enter");
    const told = page.getByRole("alert").locator("span");
    await told.filter({ hasText: want }).waitFor();
    await page.unroute("**/account/check");
  }
  await button(page, "Try again").click();
  await page.getByRole("img", { name: "Verdict: Looks good" }).waitFor();
  await context.close();
});
