/**
 * `npm run bench:pages`: the dashboard in Chromium. On slow 3G: from the opened front page to its largest paint, beside a
 * page of as many octets that draws one line, and from the press on *Check* to the first paint of the answer. A checked
 * list of 100,000 rows: the server's CPU to open it, and from a key in *Search* to the next frame, beside a page of as
 * many elements.
 */
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Browser as Chromium, chromium, type Page } from "playwright-core";
import { Browser } from "../test/dashboard/dashboard-client.ts";
import { startNameServer } from "../test/dns/numbered-names.ts";
import {
  gatepost,
  makeHome,
  type ServiceProcess,
  startService,
} from "../test/e2e/service-process.ts";
import { sized } from "./short.ts";
import { cpuOf, median } from "./usage.ts";

const ROWS = sized(100_000, 200);
const ROUNDS = sized(5, 1);
const WITHIN_MS = 150_000;
const PASSWORD = "correct horse battery";
const CHROMIUM = "/usr/lib/chromium/chromium-headless-shell";

/** As the developer tools of browsers have it: 400 ms for a round trip, 400 kbit/s. */
const RATES = { downloadThroughput: 50_000, uploadThroughput: 50_000 };
const SLOW_3G = { offline: false, latency: 400, ...RATES };

const PAINTS = `new PerformanceObserver((list) => {
  for (const { startTime } of list.getEntries()) window.painted = startTime;
}).observe({ type: "largest-contentful-paint", buffered: true });`;

const CONTROL = '<!doctype html><body><script src="a.js"></script>';

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const shown = (ms: readonly number[]): string => `${median(ms).toFixed(0)} ms`;

async function slowPage(browser: Chromium): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  page.setDefaultTimeout(WITHIN_MS);
  const session = await page.context().newCDPSession(page);
  await session.send("Network.emulateNetworkConditions", SLOW_3G);
  await page.addInitScript(PAINTS);
  return page;
}

/** A page whose script has as many octets as all that the front page fetches. */
async function openControl(octets: number): Promise<{ readonly url: string; close(): unknown }> {
  const script = `document.body.append("Gatepost " + "${"x".repeat(octets)}".length);`;
  const server = createServer(({ url }, response) => {
    const [type, text] = url === "/a.js" ? ["javascript", script] : ["html", CONTROL];
    response.setHeader("content-type", `text/${type}`).end(text);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${String(port)}/`, close: () => server.close() };
}

const OCTETS =
  "performance.getEntriesByType('resource').reduce((sum, one) => sum + one.transferSize, 0)";

async function largestPaint(browser: Chromium, url: string) {
  const page = await slowPage(browser);
  await page.goto(url, { waitUntil: "networkidle" });
  const ms = Number(await page.evaluate("window.painted"));
  const octets = Number(await page.evaluate(OCTETS));
  return { page, ms, octets };
}

/** From the press, in the page's own time, to the frame that shows the answer. */
const PRESS = `new Promise((resolve) => {
  const began = performance.now();
  const look = () => document.querySelector(".verdict .postmark:not(.blank)")
    ? requestAnimationFrame(() => resolve(performance.now() - began)) : requestAnimationFrame(look);
  document.querySelector(".ask button").click();
  look();
})`;

async function slowLines(browser: Chromium, url: string): Promise<void> {
  const [front, control, press]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    const { page, ms, octets } = await largestPaint(browser, url);
    front.push(ms);
    await page.getByLabel("Address or domain").fill(`jo@n${String(round)}.example`);
    press.push(Number(await page.evaluate(PRESS)));
    await page.context().close();
    const other = await openControl(octets);
    const bare = await largestPaint(browser, other.url);
    control.push(bare.ms);
    await bare.page.context().close();
    other.close();
  }
  say(
    `slow 3G: largest paint ${shown(front)}, control ${shown(control)}; answer after the press ${shown(press)}`,
  );
}

/** From a key to the frame after it, while the page is quiet. */
const KEY = `new Promise((resolve) => {
  const box = document.querySelector("input[type=search]");
  box.focus();
  const began = performance.now();
  box.value += "u";
  box.dispatchEvent(new InputEvent("input", { bubbles: true }));
  requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)));
})`;

async function keys(page: Page): Promise<string> {
  const took: number[] = [];
  for (let at = 0; at < 2 * ROUNDS; at += 1) {
    await page.waitForTimeout(500); // the search of the key before is done
    took.push(Number(await page.evaluate(KEY)));
  }
  return shown(took);
}

async function listLines(browser: Chromium, service: ServiceProcess, own: Browser): Promise<void> {
  const rows = Array.from(
    { length: ROWS },
    (_, at) => `user${String(at)}@${String(at % 1_000)}.example`,
  );
  const { id } = (await own.upload("lists", "a.csv", rows.join("\n"))).json as { id: string };
  await own.post(`lists/${id}/check`);
  const page = await browser.newPage();
  const [name = "", value = ""] = own.cookie.split("=");
  await page.context().addCookies([{ name, value, url: service.url }]);
  page.setDefaultTimeout(WITHIN_MS);
  let cpuMs = 0;
  for (let times = 0; times < 2; times += 1) {
    const before = cpuOf(service.child);
    await page.goto("about:blank");
    await page.goto(`${service.url}/lists#${id}`);
    await page.getByRole("heading", { name: "Every row" }).waitFor();
    await page.locator(".skeleton").first().waitFor({ state: "detached" });
    cpuMs = (cpuOf(service.child) - before) / 1_000; // of the second time: the first waits for the check
  }
  const quiet = await keys(page);
  const elements = Number(await page.evaluate("document.querySelectorAll('body *').length"));
  await page.setContent(`<input type="search">${"<p>row</p>".repeat(elements)}`);
  say(
    `${String(ROWS)} rows: opened by ${cpuMs.toFixed(0)} ms of the server's CPU; a key shows after ${quiet}, control ${await keys(page)}`,
  );
}

async function run(): Promise<void> {
  const dns = await startNameServer({ delayMs: 0, lossShare: 0, deadEvery: 0 });
  const home = makeHome({ GATEPOST_DNS_SERVERS: dns.address, GATEPOST_DNS_CANARIES: "off" });
  const words = ["account", "create", "b@good.example", "--tier", "pro", "--password-stdin"];
  gatepost(home, words, `${PASSWORD}\n`);
  const service = await startService(home);
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  const own = new Browser(service);
  await own.signIn("b@good.example", PASSWORD);
  await slowLines(browser, service.url);
  await listLines(browser, service, own);
  await browser.close();
  await service.stop();
  dns.stop();
  home.remove();
}

if (existsSync(CHROMIUM)) await run();
else say("skipped: chromium-headless-shell is not installed");
