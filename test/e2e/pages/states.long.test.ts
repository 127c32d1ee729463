// Every page in every state: accessible in both themes, at 360 and 1,280 px and at 200 % zoom, and steady while it loads.
import { strict as assert } from "node:assert";
import { after, before } from "node:test";
import type { Page } from "playwright-core";
import { PAGE_SOURCES } from "../../../src/http/account/dashboard-pages.ts";
import { axeFindings, goTo, openPage, settled, testInBrowser } from "../browser.ts";
import { openShownService, type ShownService, type Who } from "./shown-service.ts";
import { type State, statesOf } from "./states.ts";

let shown: ShownService;

before(async () => {
  shown = await openShownService();
});

after(() => shown.close());

/** The layout shifts without input since the page began: how far, and what moved. */
const SHIFTS = `
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries())
      if (!hadRecentInput) window.shifts.push([value, sources.map(({ node }) => node?.className || node?.nodeName).join(" ")]);
  }).observe({ type: "layout-shift", buffered: true });`;

const SHIFT_MAX = 0.02;

/** Text that ends beyond the window and cannot be scrolled to, and the page's own width. */
const CUT = `(() => {
  const scrolls = (node) => {
    for (let at = node; at !== null; at = at.parentElement)
      if (/auto|scroll/.test(getComputedStyle(at).overflowX)) return true;
    return false;
  };
  const found = document.documentElement.scrollWidth > innerWidth ? ["the page"] : [];
  for (const node of document.querySelectorAll("body *:not(svg *, script, .unseen, .skip)")) {
    const isText = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim() !== "");
    if (!isText && !node.matches("button, input, select, textarea")) continue;
    const { left, right, width } = node.getBoundingClientRect();
    if (width > 1 && (right > innerWidth + 1 || left < -1) && !scrolls(node))
      found.push(node.tagName + " " + (node.textContent || node.ariaLabel));
  }
  return found;
})()`;

type Width = 360 | 1_280;

/** 1,280 x 720 at 200 %. */
const ZOOMED = { width: 640, height: 360 };

async function faultsOf(page: Page, state: State, width: Width): Promise<readonly string[]> {
  await page.evaluate("sessionStorage.clear()"); // a list of the state before is not found again
  await state.before?.(page);
  await goTo(page, `${shown.service.url}${state.path}`);
  await state.act?.(page);
  await settled(page);
  const shifts = (await page.evaluate("window.shifts")) as readonly (readonly [number, string])[];
  const shifted = shifts.reduce((sum, [value]) => sum + value, 0);
  const faults = shifted > SHIFT_MAX ? [`moved by ${String(shifted)}: ${shifts.join("; ")}`] : [];
  // Each theme is looked at whole in one width; of the other, the colours can differ alone.
  const [first, second] =
    width === 360 ? (["dark", "light"] as const) : (["light", "dark"] as const);
  await page.emulateMedia({ colorScheme: first });
  faults.push(...(await axeFindings(page)));
  await page.emulateMedia({ colorScheme: second });
  faults.push(...(await axeFindings(page, ["color-contrast"])));
  faults.push(...((await page.evaluate(CUT)) as readonly string[]));
  if (width === 1_280) {
    await page.setViewportSize(ZOOMED);
    faults.push(...((await page.evaluate(CUT)) as readonly string[]).map((cut) => `200 %: ${cut}`));
  }
  await page.unrouteAll();
  return faults;
}

const WHO: readonly Who[] = ["visitor", "fresh", "own", "admin"];

for (const width of [360, 1_280] as const) {
  for (const who of WHO) {
    testInBrowser(
      `${who} at ${String(width)} px: no state is inaccessible, cut off or unsteady`,
      async () => {
        const cookie = shown.cookieOf(who);
        const view = { width, ...(cookie !== undefined && { cookie }) };
        const { page, context, complaints } = await openPage(shown.service.url, view);
        await page.addInitScript(SHIFTS);
        await page.goto(shown.service.url);
        const found: Record<string, readonly string[]> = {};
        for (const state of statesOf(shown.ids.own).filter((one) => one.who === who)) {
          await page.setViewportSize({ width, height: 900 });
          const faults = await faultsOf(page, state, width);
          if (faults.length > 0) found[state.name] = faults;
        }
        assert.deepEqual(found, {});
        assert.deepEqual(complaints, []);
        await context.close();
      },
    );
  }
}

testInBrowser("the table of states has every page", async () => {
  const paths = new Set(statesOf("x").map(({ path }) => path.replace(/#.*/, "")));
  assert.deepEqual(
    Object.keys(PAGE_SOURCES).filter((path) => !paths.has(path)),
    [],
  );
  await Promise.resolve();
});
