// Time to the first verdict in Chromium, from nothing in the browser's cache, as this machine is and on a CPU
// slowed 4 times (CDP `Emulation.setCPUThrottlingRate`). Run it alone: the browser and the server share the machine.
// "link": a link with an address opened, until its verdict is on the page. "typed": from Enter in a page that is open.
import { chromium, type Browser, type Page } from "playwright-core";
import { dashboardWorld } from "../test/dashboard/dashboard-world.ts";

/** More checks than 30 in a minute would be refused. */
const ROUNDS = 6;
const ADDRESS = "jane@throwaway.example";
const SLOW = 4;
const WINDOW_MS = 1_500;

/** Notes when the frame with the verdict is drawn, in ms since the navigation began. */
const WATCH = `
  window.verdictMs = new Promise((resolve) => {
    new MutationObserver((_, observer) => {
      if (document.querySelector(".verdict .acts") === null) return;
      observer.disconnect();
      requestAnimationFrame(() =>
        // Right after the frame: a timer would wait for what the page does with its own.
        scheduler.postTask(() => resolve(performance.now()), { priority: "user-blocking" }));
    }).observe(document, { childList: true, subtree: true });
  });
  addEventListener("keydown", ({ key }) => { if (key === "Enter") window.enterMs = performance.now(); }, true);`;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

async function openPage(browser: Browser, slowed: number): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 900 } });
  const page = await context.newPage();
  await page.addInitScript(WATCH);
  const session = await context.newCDPSession(page);
  // Each new window loads some two hundred files of Chromium's own address bar first.
  await page.waitForTimeout(WINDOW_MS);
  await session.send("Emulation.setCPUThrottlingRate", { rate: slowed });
  return page;
}

async function verdictMs(page: Page): Promise<number> {
  const script = "window.verdictMs.then((ms) => ms - (window.enterMs ?? 0))";
  const ms = Number(await page.evaluate(script));
  await page.context().close();
  return ms;
}

async function byLink(browser: Browser, url: string, slowed: number): Promise<number> {
  const page = await openPage(browser, slowed);
  await page.goto(`${url}/#${ADDRESS}`);
  return verdictMs(page);
}

async function byTyping(browser: Browser, url: string, slowed: number): Promise<number> {
  const page = await openPage(browser, slowed);
  await page.goto(url);
  await page.getByLabel("Address or domain").fill(ADDRESS);
  await page.keyboard.press("Enter");
  return verdictMs(page);
}

const middle = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

const world = await dashboardWorld({ known: { curated: ["throwaway.example"] } });
const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run"],
});
await byTyping(browser, world.url, 1); // warms up the server and the browser's own files
for (const [name, measure] of [
  ["link", byLink],
  ["typed", byTyping],
] as const) {
  const plain: number[] = [];
  const slowed: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    plain.push(await measure(browser, world.url, 1));
    slowed.push(await measure(browser, world.url, SLOW));
  }
  const worst = Math.max(...slowed);
  print(
    `${name}: ${middle(plain).toFixed(0)} ms; slowed ${String(SLOW)} times ${middle(slowed).toFixed(0)} ms, worst of ${String(ROUNDS)} ${worst.toFixed(0)} ms`,
  );
}
await browser.close();
await world.close();
