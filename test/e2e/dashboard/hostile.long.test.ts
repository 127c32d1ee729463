import { strict as assert } from "node:assert";
import type { Page } from "playwright-core";
import { Browser } from "../../dashboard/dashboard-client.ts";
import { dashboardWorld, PASSWORD } from "../../dashboard/dashboard-world.ts";
import type { Zone } from "../../dns/zone-lookup.ts";
import { isReservedName } from "../../../src/core/reserved-name.ts";
import { goTo, openPage, settled, testInBrowser } from "../browser.ts";
import { HOSTILE } from "../hostile.ts";

const OWN = "own@gatepost.example";

const mail = (name: string): Zone => ({
  [name]: { mx: [`10 mx.${name}`] },
  [`mx.${name}`]: { a: ["203.0.113.5"] },
});

testInBrowser("thirty hostile strings are text wherever they are shown", async () => {
  const world = await dashboardWorld({ zone: mail("good.example") });
  try {
    const id = await world.addAccount("target@gatepost.example", { tier: "pro" });
    const names = HOSTILE.map((text) => text.replaceAll(/\p{C}/gu, "").slice(0, 100)).filter(
      (name) => name.trim() !== "" && !isReservedName(name.trim()),
    );
    for (const name of names) {
      await world.store.keys.create(id, name);
      await world.store.credits.grant(id, 1, name);
    }
    const { page, context, complaints } = await openPage(world.url, {
      cookie: await world.cookieOf(id),
    });
    for (const path of ["keys", "usage"]) {
      await goTo(page, `${world.url}/${path}`);
      const text = String(await page.evaluate("document.body.innerText")).replaceAll(/\s+/g, " ");
      for (const name of names)
        assert.ok(text.includes(name.replaceAll(/\s+/g, " ").trim()), `${path}: ${name}`);
      await harmless(page, path);
    }
    await goTo(page, `${world.url}/`);
    for (const text of HOSTILE) {
      await page.getByLabel("Address or domain").fill(text);
      await page.getByRole("button", { name: "Check", exact: true }).click();
      await page.locator(".postmark:not(.blank)").waitFor();
      await harmless(page, `check: ${text}`);
    }
    assert.deepEqual(complaints, []);
    await context.close();
  } finally {
    await world.close();
  }
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
    await goTo(page, `${other.url}/settings`);
    await page.getByText("Its answer").first().click();
    await page.locator(".lines pre").first().waitFor();
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
