import { strict as assert } from "node:assert";
import type { Page } from "playwright-core";
import { PAGE_SOURCES } from "../../../src/http/account/dashboard-pages.ts";
import { axeFindings, goTo, openPage, testInBrowser } from "../browser.ts";
import { visit, world } from "./usual-dashboard.ts";

testInBrowser("the browser's language is the page's, until another is chosen", async () => {
  const { page, context } = await visit("/#jane@throwaway.example", {
    locale: "de-AT",
    width: 360,
  });
  await page.getByRole("heading", { name: "Das ist eine Wegwerfadresse." }).waitFor();
  assert.equal(await page.evaluate("document.documentElement.lang"), "de");
  assert.deepEqual(await axeFindings(page), []);
  const wide = await page.evaluate("document.documentElement.scrollWidth");
  assert.ok(Number(wide) <= 360, `${String(wide)} px wide`);
  await page.getByLabel("Sprache").selectOption("fr");
  await page.getByRole("heading", { name: "Cette adresse est jetable." }).waitFor();
  await goTo(page, `${world.url}/sign-in`);
  await page.getByRole("heading", { name: "Se connecter" }).waitFor();
  await page.getByLabel("Adresse e-mail").fill("nobody@gatepost.example");
  await page.getByLabel("Mot de passe").fill("not the password");
  await page.getByRole("button", { name: "Se connecter" }).click();
  await page.getByText("L'adresse e-mail ou le mot de passe est faux.").waitFor();
  await context.close();
});

testInBrowser("a language that is not there is English", async () => {
  const { page, context } = await visit("/", { locale: "fi-FI" });
  await page.getByRole("heading", { name: "Real addresses in." }).waitFor();
  assert.equal(await page.evaluate("document.documentElement.lang"), "en");
  await context.close();
});

/** What is no sentence: names, figures, what was typed, and what the server's machine says of itself. */
const DATA =
  /Gatepost|Deutsch|English|Español|Français|Ctrl K|Pro\b|Starter|Webhooks?|[\w.*+-]*@[\w.-]+|0\.0\.0-test|v\d+\.\d+\.\d+|[a-z-]+\.example\S*|UTC|Chrome|Linux|\bpro\b|account\.created|PHP|curl|Python|Node|CSV|JSON|Database|DNS|a las|\b(?:names|before|curated|one|halved|packed|gone)\b/g;

const MONTHS = new RegExp(
  ["long", "short"]
    .flatMap((month) =>
      Array.from({ length: 12 }, (_, at) =>
        new Date(Date.UTC(2026, at, 15)).toLocaleDateString("es", { month } as never),
      ),
    )
    .join("|"),
  "g",
);

/** Text of the page that is in no brackets, and the names that only screen readers hear. */
const UNSAID = `(() => {
  const copy = document.body.cloneNode(true);
  for (const node of copy.querySelectorAll("code, pre, time, .mono, script, svg, noscript")) node.remove();
  const heard = [...copy.querySelectorAll("[aria-label], [title], [placeholder]")].flatMap((node) =>
    ["aria-label", "title", "placeholder"].map((name) => node.getAttribute(name) ?? ""));
  return [copy.textContent, ...heard].join("\\n");
})()`;

async function unsaid(page: Page): Promise<string> {
  let text = String(await page.evaluate(UNSAID));
  for (let before = ""; before !== text;) {
    before = text;
    text = text.replace(/⟦[^⟦⟧]*⟧/g, " ");
  }
  return (
    text
      .replace(DATA, " ")
      .replace(MONTHS, " ")
      .match(/\p{L}{3,}/gu) ?? []
  ).join(" ");
}

const VISITED = ["/guide", "/pricing", "/sign-in", "/sign-up"];
const OWNED = Object.keys(PAGE_SOURCES).filter(
  (path) => !VISITED.includes(path) && !["/", "/setup", "/policy", "/hooks"].includes(path),
);

testInBrowser("every word of every page comes from the catalogue", async () => {
  const id = await world.addAccount("all@gatepost.example", { isAdmin: true, tier: "pro" });
  const cookie = await world.cookieOf(id);
  const visits = [
    [VISITED, {}],
    [OWNED, { cookie }],
  ] as const;
  for (const [paths, view] of visits) {
    const { page, context } = await openPage(world.url, { ...view, locale: "es-ES" });
    await page.route(/\/assets\/words-.*\.js$/, async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace(
        /:\s*(["'`])((?:\\.|(?!\1)[^\\])*)\1/g,
        ":$1⟦$2⟧$1",
      );
      await route.fulfill({ response, body });
    });
    await goTo(page, `${world.url}/#jane@throwaway.example`);
    await page.locator(".verdict .postmark, .verdict svg").first().waitFor();
    const found = [`a verdict: ${await unsaid(page)}`];
    for (const path of paths) {
      await goTo(page, `${world.url}${path}`);
      found.push(`${path}: ${await unsaid(page)}`);
    }
    assert.deepEqual(
      found.filter((text) => !text.endsWith(": ")),
      [],
    );
    await context.close();
  }
});
