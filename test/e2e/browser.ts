import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after } from "node:test";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { builtFolder } from "../../src/main/dashboard.ts";
import { testWith } from "../process/require-tool.ts";
import { PATIENCE_MS, until } from "../time/until.ts";

/** Debian's: the engine alone, and the whole browser, which takes up to twice the CPU. */
const BROWSERS = ["/usr/lib/chromium/chromium-headless-shell", "/usr/bin/chromium"];
const BROWSER = BROWSERS.find((path) => existsSync(path));
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

let running: Promise<Browser> | undefined;

after(async () => (await running)?.close());

/** Runs a test that needs a browser of Debian's and the built pages; skipped with a reason without them, and without `more`. */
export function testInBrowser(
  name: string,
  body: () => Promise<void>,
  more: readonly string[] = [],
): void {
  const missing = [
    ...more,
    ...(BROWSER === undefined ? [BROWSERS.join(" or ")] : []),
    ...(builtFolder("dashboard", "index.html") === undefined
      ? ["the built dashboard (npm run build)"]
      : []),
  ];
  testWith(["chromium-headless-shell", "the built dashboard"], missing, name, body);
}

export interface View {
  readonly width?: number;
  readonly theme?: "light" | "dark";
  readonly cookie?: string;
  /** The browser's language; English unless set. */
  readonly locale?: string;
  /** Off in some browsers. */
  readonly javaScriptEnabled?: boolean;
  /** On for a server with the tests' certificate. */
  readonly ignoreHTTPSErrors?: boolean;
}

export interface Opened {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of the page and violations of its Content-Security-Policy. */
  readonly complaints: readonly string[];
}

const launch = (executablePath = ""): Promise<Browser> =>
  chromium.launch({ executablePath, args: FLAGS, timeout: 2 * PATIENCE_MS });

/** A new profile with one page. `cookie` is "name=value" of a session. */
export async function openPage(url: string, view: View = {}): Promise<Opened> {
  running ??= launch(BROWSER);
  const { width = 1_440, theme = "light", cookie, locale = "en-US" } = view;
  const { javaScriptEnabled = true, ignoreHTTPSErrors = false } = view;
  const context = await (
    await running
  ).newContext({
    viewport: { width, height: 900 },
    colorScheme: theme,
    reducedMotion: "reduce",
    locale,
    javaScriptEnabled,
    ignoreHTTPSErrors,
    acceptDownloads: true,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  if (cookie !== undefined) {
    const [name = "", value = ""] = cookie.split("=");
    await context.addCookies([{ name, value, url, httpOnly: true, sameSite: "Strict" }]);
  }
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    // A refusal that the page shows is an error in the console too.
    const isRefusal = message.text().startsWith("Failed to load resource");
    if (message.type() === "error" && !isRefusal) complaints.push(message.text());
  });
  page.on("dialog", (dialog) => {
    // A page that shows a secret asks before it is left.
    if (dialog.type() === "beforeunload") return void dialog.accept();
    complaints.push(`a dialog: ${dialog.message()}`);
    return void dialog.dismiss();
  });
  return { page, context, complaints };
}

/** Opens one page of the dashboard and waits until it has loaded. */
export async function goTo(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.locator("h1").waitFor();
  await settled(page);
}

/** Nothing is loading any more. */
export async function settled(page: Page): Promise<void> {
  await page.locator(".skeleton").first().waitFor({ state: "detached" });
}

/** Waits until the text of the focused element begins with `text`. */
export async function focusOn(page: Page, text: string): Promise<void> {
  const look = async (): Promise<boolean> =>
    String(await page.evaluate("document.activeElement.textContent")).startsWith(text);
  await until(look, { what: `the focus on ${text}`, withinMs: PATIENCE_MS });
}

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Of the rules only what breaks them is told; nothing is fetched for rules that read other sites' styles. */
const AXE_OPTIONS = { resultTypes: ["violations"], preload: false, iframes: false };

/** What axe-core finds wrong, one line each. `only`: the rules that are asked, instead of all. */
export async function axeFindings(
  page: Page,
  only?: readonly string[],
): Promise<readonly string[]> {
  if ((await page.evaluate("'axe' in window")) !== true) await page.evaluate(AXE);
  const options = JSON.stringify({ ...AXE_OPTIONS, ...(only && { runOnly: only }) });
  const found = await page.evaluate(`axe.run(${options}).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ": " + html)))`);
  return found as readonly string[];
}
