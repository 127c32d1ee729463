// What the dashboard shows while PostgreSQL is stopped and while the resolver's port is closed.
import { strict as assert } from "node:assert";
import type { Page } from "playwright-core";
import { Browser } from "../../dashboard/dashboard-client.ts";
import { startDnsServer } from "../../dns/dns-server.ts";
import { postgresPrograms, startPostgres } from "../../services/postgres.ts";
import { until } from "../../time/until.ts";
import { axeFindings, goTo, openPage, testInBrowser } from "../browser.ts";
import { gatepost, makeHome, type Settings, startService } from "../service-process.ts";
import { PASSWORD } from "./shown-service.ts";

const MAIL = "ops@company.example";

/** A service with an administrator, looked at by a browser. */
async function openOperated(settings: Settings) {
  const home = makeHome({ GATEPOST_DNS_CANARIES: "off", ...settings });
  const order = ["account", "create", MAIL, "--tier", "pro", "--admin", "--password-stdin"];
  assert.equal(gatepost(home, order, `${PASSWORD}\n`).code, 0);
  const service = await startService(home);
  const browser = new Browser(service);
  assert.equal((await browser.signIn(MAIL, PASSWORD)).status, 204);
  const { page, context } = await openPage(service.url, { cookie: browser.cookie });
  return {
    service,
    browser,
    page,
    close: async (): Promise<void> => {
      await context.close();
      await service.stop();
      home.remove();
    },
  };
}

const note = (page: Page) => page.locator("section.notice");
const light = (page: Page, name: string) =>
  page.locator(".live li", { hasText: name }).locator(".mark");

const verdictNames = (page: Page, server: string): Promise<void> =>
  page.locator("section.verdict").getByText(`DNS server ${server} does not answer`).waitFor();

/** Every light, as it is read. */
const lights = async (page: Page): Promise<Record<string, string>> =>
  Object.fromEntries(
    await Promise.all(
      ["Database", "DNS", "Duties"].map(
        async (name) => [name, await light(page, name).innerText()] as const,
      ),
    ),
  );

testInBrowser(
  "a stopped PostgreSQL is named on every page, and nothing green is said of it",
  async () => {
    const dns = await startDnsServer({});
    const postgres = await startPostgres();
    const settings = {
      DATABASE_URL: await postgres.createDatabase(),
      GATEPOST_SECRET_KEY: Buffer.alloc(32, 7).toString("base64"),
      GATEPOST_DNS_SERVERS: `127.0.0.1:${String(dns.port)}`,
    };
    const { page, browser, service, close } = await openOperated(settings);
    try {
      await goTo(page, `${service.url}/admin/system`);
      await light(page, "Database").getByText("Answers").waitFor();
      await postgres.stop("fast");
      await note(page).getByText("does not answer, or takes no writes.").waitFor();
      assert.deepEqual(await lights(page), {
        Database: "Broken",
        DNS: "Answers",
        Duties: "Not known",
      });
      await note(page).getByText("Since just now. Start PostgreSQL").waitFor();
      assert.deepEqual(await axeFindings(page), []);
      const refused = await browser.post("keys", { name: "Shop" });
      assert.equal(refused.status, 503);
      assert.match(refused.text, /^\{"error":"The database of this service does not answer/);
      await page.getByRole("link", { name: "Keys" }).first().click();
      await page.getByRole("alert").getByText("The database of this service").waitFor();
      await page.getByRole("link", { name: /^System \d broken/ }).waitFor();
      await page.setViewportSize({ width: 360, height: 900 });
      await page.getByRole("button", { name: /broken More$/ }).waitFor();
      await page.setViewportSize({ width: 1_280, height: 900 });
      await goTo(page, `${service.url}/admin/system`);
      await note(page).getByText("Start PostgreSQL").waitFor();
      await postgres.start();
      await light(page, "Database").getByText("Answers").waitFor();
      await page.getByText("No requests in these days.").first().waitFor();
    } finally {
      await close();
      await postgres.close();
      await dns.close();
    }
  },
  postgresPrograms() === undefined ? ["postgresql"] : [],
);

testInBrowser("a closed port of the resolver is not the domain's fault", async () => {
  const dns = await startDnsServer({});
  const server = `127.0.0.1:${String(dns.port)}`;
  const { page, service, close } = await openOperated({ GATEPOST_DNS_SERVERS: server });
  try {
    await dns.close();
    await goTo(page, `${service.url}/#jo@good.example`);
    await verdictNames(page, server);
    await page.locator("main > .notice", { hasText: server }).getByText("See what to do").waitFor();
    assert.equal(await page.getByText("name servers often answer").count(), 0);
    await page.getByRole("link", { name: /^System 1 broken/ }).click();
    await note(page).getByText(`DNS server ${server} does not answer`).waitFor();
    await light(page, "DNS").getByText("Broken").waitFor();
    await until(async () => (await page.getByText("No answer").count()) > 0);
    assert.deepEqual(await axeFindings(page), []);
  } finally {
    await close();
  }
});

/** Far more than a check may take, and less than a hanging one does. */
const ENDED_WITHIN_MS = 60_000;

testInBrowser("a silent resolver is named, and each check ends as could not tell", async () => {
  const dns = await startDnsServer({});
  const server = `127.0.0.1:${String(dns.port)}`;
  const { page, service, close } = await openOperated({ GATEPOST_DNS_SERVERS: server });
  dns.mute();
  try {
    const began = Date.now();
    await goTo(page, `${service.url}/#jo@good.example`);
    await page.getByRole("img", { name: /^Verdict: Could not tell/ }).waitFor();
    const { status, body } = await service.get("/api/email/jo@other.example");
    assert.ok(Date.now() - began < ENDED_WITHIN_MS);
    const answer = JSON.parse(body) as { dns: boolean; signals: string[]; disposable: boolean };
    assert.deepEqual([status, answer.dns, answer.disposable], [200, false, false]);
    assert.ok(answer.signals.includes("dns_indeterminate"), body);
    await page.getByRole("link", { name: /^System 1 broken/ }).waitFor();
    await page.getByRole("button", { name: "Check again" }).click();
    await verdictNames(page, server);
    assert.ok(dns.asked.length > 0, "it was asked, and kept silent");
  } finally {
    await close();
    await dns.close();
  }
});
