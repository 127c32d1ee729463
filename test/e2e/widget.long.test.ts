import { strict as assert } from "node:assert";
import { after, before } from "node:test";
import { axeFindings, focusOn, openPage, testInBrowser } from "./browser.ts";
import {
  decided,
  openWidgetWorld,
  tokenOf,
  typeAddress,
  type WidgetWorld,
} from "./widget-world.ts";

const WELCOME = `<!doctype html><html lang="en"><title>Welcome</title><main><h1>Welcome</h1></main>`;

const formPage = (script: string): string => `<!doctype html>
<html lang="en"><head><title>Sign up</title>
${script}</head>
<body><main><h1>Sign up</h1><form method="post" action="/sign-up">
<label for="email">Email</label>
<input id="email" name="email" type="email" autocomplete="email" aria-describedby="hint" data-gatepost="page">
<p id="hint">We send one letter.</p>
<label for="name">Name</label><input id="name" name="name" autocomplete="name">
<button>Join</button></form></main></body></html>`;

let world: WidgetWorld;

before(async () => {
  world = await openWidgetWorld(
    (script) => ({
      "/": formPage(script()),
      "/enforce": formPage(script(" data-enforce")),
      "/clobbered": formPage(script()).replace(
        "<body>",
        `<body><img name="currentScript" src="" alt="" data-url="/elsewhere">`,
      ),
    }),
    WELCOME,
  );
});

after(() => world.close());

const open = async (path = "/") => {
  const opened = await openPage(world.siteUrl);
  await opened.page.goto(`${world.siteUrl}${path}`);
  return opened;
};

const formsOf = (address: string): readonly URLSearchParams[] =>
  world.signUps.filter((form) => form.get("email") === address);

testInBrowser(
  "the widget offers what was meant, by keyboard alone, under a strict policy",
  async () => {
    const { page, context, complaints } = await open();
    assert.deepEqual(await axeFindings(page), []);
    await typeAddress(page, "jo@gmial.com");
    const note = page.getByRole("status");
    await note.getByText("Did you mean jo@gmail.com?").waitFor();
    assert.equal(await note.getAttribute("aria-live"), "polite");
    const described = (await page.locator("#email").getAttribute("aria-describedby")) ?? "";
    assert.deepEqual(described.split(" "), ["hint", await note.getAttribute("id")]);
    assert.deepEqual(await axeFindings(page), []);
    await focusOn(page, "");
    await page.keyboard.press("Shift+Tab");
    await focusOn(page, "jo@gmail.com");
    await page.keyboard.press("Enter");
    assert.equal(await page.locator("#email").inputValue(), "jo@gmail.com");
    assert.equal(await page.evaluate("document.activeElement.id"), "email");
    await decided(page);
    assert.equal(await note.textContent(), "");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Welcome" }).waitFor();
    const [form] = formsOf("jo@gmail.com");
    const claims = claimsOf(form?.get("gatepost-token") ?? "");
    assert.deepEqual([claims["dec"], claims["form"]], ["accept", "join"]);
    assert.deepEqual(complaints, []);
    await context.close();
  },
);

function claimsOf(token: string): Record<string, unknown> {
  const [, claims = ""] = token.split(".");
  return JSON.parse(Buffer.from(claims, "base64url").toString()) as Record<string, unknown>;
}

testInBrowser(
  "a rejected address is marked, and sent all the same without data-enforce",
  async () => {
    const { page, context, complaints } = await open();
    await typeAddress(page, "soft@bad.example");
    await page.getByRole("status").getByText("Please use a permanent email address.").waitFor();
    assert.equal(await page.locator("#email").getAttribute("aria-invalid"), "true");
    assert.deepEqual(await axeFindings(page), []);
    await page.getByRole("button", { name: "Join" }).click();
    await page.getByRole("heading", { name: "Welcome" }).waitFor();
    assert.equal(
      claimsOf(formsOf("soft@bad.example")[0]?.get("gatepost-token") ?? "")["dec"],
      "reject",
    );
    assert.deepEqual(complaints, []);
    await context.close();
  },
);

testInBrowser("with data-enforce a rejected address is not sent, and the next one is", async () => {
  const { page, context, complaints } = await open("/enforce");
  await typeAddress(page, "hard@bad.example");
  await page.getByRole("status").getByText("Please use a permanent email address.").waitFor();
  const join = page.getByRole("button", { name: "Join" });
  await join.click();
  assert.equal(await page.evaluate('document.querySelector("#email").checkValidity()'), false);
  assert.equal(await page.getByRole("heading", { level: 1 }).textContent(), "Sign up");
  assert.deepEqual(formsOf("hard@bad.example"), []);
  await typeAddress(page, "hard@good.example");
  await decided(page);
  assert.equal(await page.locator("#email").getAttribute("aria-invalid"), null);
  await join.click();
  await page.getByRole("heading", { name: "Welcome" }).waitFor();
  assert.equal(formsOf("hard@good.example").length, 1);
  assert.deepEqual(complaints, []);
  await context.close();
});

testInBrowser("a page that cancels the event shows the decision itself", async () => {
  const { page, context, complaints } = await open("/enforce");
  await page.evaluate(`document.addEventListener("gatepost:decision", (event) => {
    event.preventDefault();
    document.querySelector("h1").textContent = event.detail.decision + " " + event.target.id;
  })`);
  await typeAddress(page, "own@bad.example");
  await page.getByRole("heading", { name: "reject email" }).waitFor();
  assert.equal(await page.getByRole("status").textContent(), "");
  assert.equal(await page.locator("#email").getAttribute("aria-invalid"), null);
  assert.notEqual(await tokenOf(page), "");
  await page.getByRole("button", { name: "Join" }).click();
  await page.getByRole("heading", { name: "Welcome" }).waitFor();
  assert.deepEqual(complaints, []);
  await context.close();
});

testInBrowser("a review is not told: the form goes on with its token", async () => {
  const { page, context, complaints } = await open("/enforce");
  const headers = { "access-control-allow-origin": "*", "content-type": "application/json" };
  const body = JSON.stringify({ decision: "review", message: "We look at it.", token: "t" });
  await page.route(`${world.gateUrl}/api/decide`, (route) => route.fulfill({ body, headers }));
  await typeAddress(page, "look@good.example");
  await decided(page);
  assert.equal(await page.getByRole("status").textContent(), "");
  await page.getByRole("button", { name: "Join" }).click();
  await page.getByRole("heading", { name: "Welcome" }).waitFor();
  assert.equal(formsOf("look@good.example")[0]?.get("gatepost-token"), "t");
  assert.deepEqual(complaints, []);
  await context.close();
});

const FAULTS: readonly (readonly [name: string, answer: { status: number; body: string }])[] = [
  ["a fault", { status: 500, body: '{"error":"Internal error."}' }],
  ["a spent rate", { status: 429, body: '{"error":"Rate limit exceeded."}' }],
  ["a decision it does not know", { status: 200, body: '{"decision":"banish","message":"No."}' }],
  ["no JSON", { status: 200, body: "<html>" }],
];

for (const [name, answer] of FAULTS) {
  testInBrowser(`the form goes on after ${name}, enforced or not`, async () => {
    const { page, context } = await open("/enforce");
    const headers = { "access-control-allow-origin": "*", "content-type": "application/json" };
    await page.route(`${world.gateUrl}/api/decide`, (route) =>
      route.fulfill({ ...answer, headers }),
    );
    const address = `${name.replaceAll(" ", ".")}@bad.example`;
    const answered = page.waitForResponse(`${world.gateUrl}/api/decide`);
    await typeAddress(page, address);
    await (await answered).finished();
    assert.equal(await page.getByRole("status").textContent(), "");
    await page.getByRole("button", { name: "Join" }).click();
    await page.getByRole("heading", { name: "Welcome" }).waitFor();
    assert.equal(formsOf(address)[0]?.get("gatepost-token"), "");
    await context.close();
  });
}

testInBrowser("the form submits while the service is silent, and after it was killed", async () => {
  const { page, context } = await open("/enforce");
  await page.route(`${world.gateUrl}/api/decide`, () => new Promise<void>(() => undefined));
  await typeAddress(page, "silent@bad.example");
  await page.getByRole("button", { name: "Join" }).click();
  await page.getByRole("heading", { name: "Welcome" }).waitFor();
  assert.equal(formsOf("silent@bad.example").length, 1);
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await page.goto(`${world.siteUrl}/enforce`);
  await world.stopGate();
  const failed = page.waitForEvent("requestfailed");
  await typeAddress(page, "killed@bad.example");
  await failed;
  await page.getByRole("button", { name: "Join" }).click();
  await page.getByRole("heading", { name: "Welcome" }).waitFor();
  await page.goto(`${world.siteUrl}/enforce`);
  await typeAddress(page, "never@bad.example");
  await page.getByRole("button", { name: "Join" }).click();
  await page.getByRole("heading", { name: "Welcome" }).waitFor();
  assert.deepEqual(
    [formsOf("killed@bad.example").length, formsOf("never@bad.example").length],
    [1, 1],
  );
  await context.close();
});

testInBrowser("an image that calls itself the page's script is not believed", async () => {
  const { page, context } = await open("/clobbered");
  assert.equal(await page.evaluate("document.currentScript instanceof HTMLImageElement"), true);
  const asked: string[] = [];
  page.on("request", (request) => void asked.push(request.url()));
  await typeAddress(page, "clobbered@bad.example");
  await page.getByRole("button", { name: "Join" }).click();
  await page.getByRole("heading", { name: "Welcome" }).waitFor();
  assert.deepEqual(
    asked.filter((url) => url.includes("decide")),
    [],
  );
  assert.equal(formsOf("clobbered@bad.example")[0]?.get("gatepost-token"), null);
  await context.close();
});
