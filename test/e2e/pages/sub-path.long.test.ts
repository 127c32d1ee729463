// The dashboard behind a proxy that serves it below a path and takes the path away.
import { strict as assert } from "node:assert";
import { once } from "node:events";
import { createServer, request } from "node:http";
import { freePort } from "../../services/free-port.ts";
import { focusOn, openPage, settled, testInBrowser } from "../browser.ts";
import { createAccount, startServiceWorld } from "../service-world.ts";

const PREFIX = "/gatepost";
const EMAIL = "mark@company.example";
const PASSWORD = "correct horse battery";

/** Passes on what begins with the prefix, without it, and says 404 to all else. */
const proxyTo = (port: string) =>
  createServer((asked, answer) => {
    const { method, url = "", headers } = asked;
    if (!url.startsWith(`${PREFIX}/`)) return answer.writeHead(404).end();
    const path = url.slice(PREFIX.length);
    const inner = request({ host: "127.0.0.1", port, method, path, headers }, (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(answer);
    });
    inner.on("error", () => answer.destroy());
    return asked.pipe(inner);
  });

testInBrowser("below a path: checks, signs in, reloads every page and signs out", async () => {
  const port = await freePort();
  const base = `http://127.0.0.1:${String(port)}${PREFIX}`;
  const world = await startServiceWorld({
    settings: { GATEPOST_PUBLIC_URL: base, GATEPOST_TRUST_PROXY: "127.0.0.1" },
    prepare: (home) => createAccount(home, EMAIL, ["--admin", "--password-stdin"], `${PASSWORD}\n`),
  });
  const proxy = proxyTo(new URL(world.service.url).port).listen(port, "127.0.0.1");
  try {
    await once(proxy, "listening");
    const { page, context, complaints } = await openPage(base);
    const missed: string[] = [];
    page.on("response", (response) => {
      if (response.status() === 404) missed.push(response.url());
    });
    await page.goto(`${base}/`);
    await page.getByLabel("Address or domain").fill("someone@mailinator.com");
    await page.keyboard.press("Enter");
    await page.getByRole("img", { name: "Verdict: Disposable" }).waitFor();
    assert.equal(page.url(), `${base}/#${encodeURIComponent("someone@mailinator.com")}`);
    await page.goto(`${base}/gate/hooks`);
    await page.getByLabel("Email address").fill(EMAIL);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Hooks and keys for pages" }).waitFor();
    const rail = page.getByRole("navigation", { name: "Main", exact: true }).getByRole("link");
    for (const link of await rail.all()) {
      const name = await link.innerText();
      await link.click();
      await settled(page);
      const heading = await page.locator("h1").innerText();
      assert.ok(page.url().startsWith(`${base}/`), `${name}: ${page.url()}`);
      await page.reload();
      await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
      await settled(page);
    }
    await page.goto(`${base}/keys`);
    await page.getByRole("button", { name: "Create a key" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("First");
    await page.keyboard.press("Enter");
    await focusOn(page, "Your new secret key");
    const command = await page.getByRole("region", { name: "curl" }).innerText();
    assert.ok(command.startsWith(`curl ${base}/api/email`), command);
    await page.getByRole("button", { name: /account menu/ }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("link", { name: "Sign in" }).first().waitFor();
    assert.equal(page.url(), `${base}/`);
    assert.deepEqual([missed, complaints], [[], []]);
    await context.close();
  } finally {
    proxy.closeAllConnections();
    proxy.close();
    await world.close();
  }
});
