import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { after, before } from "node:test";
import { type DashboardWorld, dashboardWorld } from "../../dashboard/dashboard-world.ts";
import { axeFindings, goTo, openPage, settled, testInBrowser } from "../browser.ts";
import { HOSTILE } from "../hostile.ts";

let world: DashboardWorld;
let admin = { id: "", cookie: "" };

before(async () => {
  world = await dashboardWorld();
  const id = await world.addAccount("admin@gatepost.example", { isAdmin: true });
  admin = { id, cookie: await world.cookieOf(id) };
});

after(() => world.close());

async function listsPage(width = 1_440) {
  const { page, context, complaints } = await openPage(world.url, { cookie: admin.cookie, width });
  await goTo(page, `${world.url}/admin/lists`);
  return {
    page,
    end: async () => {
      assert.deepEqual(complaints, []);
      await context.close();
    },
  };
}

testInBrowser("a rule is added by keyboard, found, exported and deleted", async () => {
  const { page, end } = await listsPage();
  await page.getByText("No entries yet").waitFor();
  await page.getByRole("button", { name: "Add an entry" }).focus();
  await page.keyboard.press("Enter");
  await page.keyboard.type("a..b");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("Not a domain").waitFor();
  assert.deepEqual(await axeFindings(page), []);
  await page.getByLabel("Domain, mail server or address").fill("bad.example");
  await page.getByLabel("Note", { exact: true }).fill("Asked by sales");
  await page.getByLabel("Last day").fill("2099-01-31");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("cell", { name: "bad.example", exact: true }).waitFor();
  await page.getByText("Asked by sales").waitFor();
  await page.getByLabel("Search in entries and notes").fill("nothing like it");
  await page.getByText("No entry fits").waitFor();
  await page.getByLabel("Search in entries and notes").fill("SALES");
  await page.getByRole("cell", { name: "bad.example", exact: true }).waitFor();
  const [exported] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Export" }).click(),
  ]);
  assert.equal(
    readFileSync((await exported.path()) ?? "", "utf8"),
    "deny bad.example until 2099-01-31\n",
  );
  await page.getByRole("button", { name: "Forget bad.example" }).click();
  await page.getByRole("button", { name: "Forget it" }).click();
  await page.getByText("No entry fits").waitFor();
  await end();
});

testInBrowser("a file is refused with its wrong line, then imported", async () => {
  const { page, end } = await listsPage(360);
  await page.getByRole("button", { name: "Import a file" }).click();
  const take = (text: string) =>
    page
      .getByLabel("File", { exact: true })
      .setInputFiles({ name: "own.txt", mimeType: "text/plain", buffer: Buffer.from(text) });
  await take("x".repeat(5_000_001));
  await page.getByRole("alert").getByText("larger than 5 MB").waitFor();
  assert.equal(await page.getByRole("button", { name: "Import it" }).isDisabled(), true);
  await take("one.example\nno..domain");
  await page.getByRole("button", { name: "Import it" }).click();
  await page.getByRole("alert").getByText("Line 2 is not a domain").waitFor();
  await take("allow one.example\ntwo.example # new");
  await page.getByText("2 lines to import.").waitFor();
  assert.deepEqual(await axeFindings(page), []);
  await page.getByRole("button", { name: "Import it" }).click();
  await page.getByRole("cell", { name: "two.example", exact: true }).waitFor();
  await page.getByLabel("Which entries").selectOption("allow");
  await page.getByText("1 entry").waitFor();
  for (const entry of ["one.example", "two.example"]) await world.lists.operator.forget(entry);
  await end();
});

testInBrowser("sources show why they were refused; a fetch shows its result", async () => {
  const { page, end } = await listsPage();
  await page.getByText("Its size changed too much at once").waitFor();
  world.lists.outcomes = [
    { id: "curated-one", kind: "accepted" },
    { id: "gone", kind: "refused", why: "bad_status", detail: "404" },
  ];
  await page.getByRole("button", { name: "Fetch them now" }).click();
  await page.getByText("2 lists asked: 1 new, 1 not taken.").waitFor();
  assert.deepEqual(await axeFindings(page), []);
  await page.route("**/account/admin/lists", (route) => route.abort());
  await page.reload();
  await page.getByRole("alert").getByText("The server did not answer.").waitFor();
  await page.unroute("**/account/admin/lists");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("cell", { name: /^curated-one/ }).waitFor();
  await end();
});

testInBrowser("a feed is switched off and on beside its row", async () => {
  const { page, end } = await listsPage();
  await page.getByRole("button", { name: "Switch off curated-one" }).click();
  await page.getByText("curated-one is off.").waitFor();
  const [rule] = await world.lists.operator.entries();
  assert.deepEqual([rule?.subject, rule?.word], ["feed:curated-one", "off"]);
  await world.lists.operator.forget("feed:curated-one");
  await end();
});

testInBrowser(
  "a list that shrank is accepted on the operator's order, with an explanation",
  async () => {
    const { page, end } = await listsPage(360);
    await page.getByRole("button", { name: "Take it all the same for halved" }).click();
    await page.getByRole("dialog").getByText("4,410 names, 9,120 before").waitFor();
    assert.deepEqual(await axeFindings(page), []);
    assert.deepEqual(world.lists.accepted, []);
    world.lists.outcomes = [{ id: "halved", kind: "accepted" }];
    await page.getByRole("button", { name: "Take it", exact: true }).click();
    await page.getByText("1 list asked: 1 new.").waitFor();
    assert.deepEqual(world.lists.accepted, ["halved"]);
    await end();
  },
);

testInBrowser("hostile notes, reasons and fetch errors are text", async () => {
  const lines = HOSTILE.map((text) => text.replaceAll(/\p{C}/gu, " ").slice(0, 300));
  for (const [at, text] of lines.entries()) {
    const entry = `h${String(at)}.example`;
    await world.lists.operator.save(entry, "deny", { note: text, author: text });
  }
  world.lists.sources = lines.map((text) => ({
    id: text,
    curated: false,
    names: 0,
    from: "nowhere",
    refusal: { why: "not_fetched", detail: text },
  }));
  const { page, end } = await listsPage(360);
  await settled(page);
  const found = await page.evaluate(`({
    hit: window.hit ?? 0,
    elements: document.querySelectorAll("main :is(script, iframe, object, embed, base, style, img, svg, form[action], [onerror], [onclick])").length,
    wide: document.documentElement.scrollWidth,
  })`);
  assert.deepEqual(found, { hit: 0, elements: 0, wide: 360 });
  const text = String(await page.evaluate("document.body.innerText")).replaceAll(/\s+/g, " ");
  for (const line of lines) assert.ok(text.includes(line.replaceAll(/\s+/g, " ").trim()), line);
  await end();
});
