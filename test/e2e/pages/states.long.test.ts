// Every page in every state: accessible in both themes, at 360 and 1,280 px and at 200 % zoom, and steady while it loads.
// A state is loaded and reached once: its width and theme are switched where it stands, which costs a tenth of that.
import { strict as assert } from "node:assert";
import { after, before, suite } from "node:test";
import type { Page } from "playwright-core";
import { PAGE_SOURCES } from "../../../src/http/account/dashboard.ts";
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

/** Rules that a theme can break. */
const COLOURS = ["color-contrast", "link-in-text-block"];

const VIEWS = [
  [360, "light"],
  [1_280, "dark"],
] as const;

/** 1,280 x 720 at 200 %. */
const ZOOMED = { width: 640, height: 360 };

async function reach(page: Page, state: State, width: number): Promise<void> {
  await page.setViewportSize({ width, height: 900 });
  await page.evaluate("sessionStorage.clear(), localStorage.clear()"); // a list of the state before is not found again
  await state.before?.(page);
  if (state.path.includes("#")) await page.goto("about:blank"); // one that differs behind it alone loads nothing
  await goTo(page, `${shown.service.url}${state.path}`);
  await state.act?.(page);
  await settled(page);
}

/** What moved by itself since the page began, when it was too much. */
async function unsteady(page: Page, width: number): Promise<readonly string[]> {
  const shifts = (await page.evaluate("window.shifts")) as readonly (readonly [number, string])[];
  const moved = shifts.reduce((sum, [value]) => sum + value, 0);
  if (moved <= SHIFT_MAX) return [];
  return [`${String(width)}: moved by ${String(moved)}: ${shifts.join("; ")}`];
}

/** What is wrong with the page as it stands, at every width and in both themes. */
async function faultsAround(page: Page): Promise<readonly string[]> {
  const faults: string[] = [];
  const look = async (name: string, script: string): Promise<void> => {
    for (const one of (await page.evaluate(script)) as readonly string[])
      faults.push(`${name}: ${one}`);
  };
  for (const [width, colorScheme] of VIEWS) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    for (const found of await axeFindings(page)) faults.push(`${String(width)}: ${found}`);
    await look(String(width), CUT);
    await page.emulateMedia({ colorScheme: colorScheme === "light" ? "dark" : "light" });
    for (const found of await axeFindings(page, COLOURS)) faults.push(`${String(width)}: ${found}`);
  }
  await page.setViewportSize(ZOOMED);
  await look("200 %", CUT);
  return faults;
}

async function faultsOf(page: Page, state: State): Promise<readonly string[]> {
  const [[narrow], [wide]] = VIEWS;
  await reach(page, state, narrow);
  const faults = [...(await unsteady(page, narrow)), ...(await faultsAround(page))];
  // What is pressed for may move the page; the same page was steady without it.
  if (state.act === undefined || state.path.includes("#")) {
    await reach(page, state, wide);
    faults.push(...(await unsteady(page, wide)));
  }
  await page.unrouteAll({ behavior: "wait" });
  return faults;
}

/** Who has the most states comes first. */
const WHO: readonly Who[] = ["own", "visitor", "fresh", "admin"];

/** Looks at every second state of somebody. */
async function look(who: Who, half: number): Promise<void> {
  const cookie = shown.cookieOf(who);
  const { url } = shown.service;
  const { page, context, complaints } = await openPage(url, cookie === undefined ? {} : { cookie });
  await page.addInitScript(SHIFTS);
  await page.goto(url);
  const found: Record<string, readonly string[]> = {};
  const states = statesOf(shown.ids.own).filter((one) => one.who === who);
  for (const state of states.filter((_, at) => at % 2 === half)) {
    const faults = await faultsOf(page, state);
    if (faults.length > 0) found[state.name] = faults;
  }
  assert.deepEqual(found, {});
  assert.deepEqual(complaints, []);
  await context.close();
}

// Two pages of one browser at a time, as most machines have two cores.
suite("no state is inaccessible, cut off or unsteady", { concurrency: 2 }, () => {
  for (const who of WHO)
    for (const half of [0, 1])
      testInBrowser(`${who}, ${String(half + 1)} of 2`, () => look(who, half));
});

testInBrowser("the table of states has every page", async () => {
  const paths = new Set(statesOf("x").map(({ path }) => path.replace(/#.*/, "")));
  assert.deepEqual(
    Object.keys(PAGE_SOURCES).filter((path) => !paths.has(path)),
    [],
  );
  await Promise.resolve();
});
