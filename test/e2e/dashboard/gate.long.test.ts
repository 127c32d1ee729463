import { strict as assert } from "node:assert";
import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { axeFindings, goTo, openPage, testInBrowser } from "../browser.ts";
import { gatepost } from "../service-process.ts";
import { createAccount, serviceWorld } from "../service-world.ts";

const EMAIL = "ops@gatepost.example";
const PASSWORD = "correct horse battery";

const world = serviceWorld({
  prepare: (home) =>
    void createAccount(home, EMAIL, ["--admin", "--password-stdin"], `${PASSWORD}\n`),
});

const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name });

/** Signs in where the page asks for it. */
async function visit(path: string) {
  const opened = await openPage(world.service.url);
  const { page } = opened;
  await goTo(page, `${world.service.url}${path}`);
  await page.getByLabel("Email address").fill(EMAIL);
  await page.getByLabel("Password").fill(PASSWORD);
  await button(page, "Sign in").click();
  return opened;
}

testInBrowser("a new key's request is copied and run, and the page sees it come", async () => {
  const { page, context, complaints } = await visit("/keys");
  await button(page, "Create a key").click();
  await page.getByLabel("Name").fill("Shop");
  await button(page, /^Create$/).click();
  await page.getByText("Waiting for your first request").waitFor();
  assert.deepEqual(await axeFindings(page), []);
  const command = await page.getByRole("region", { name: "curl" }).textContent();
  const { stdout } = await promisify(execFile)("sh", ["-c", command ?? ""]);
  assert.equal((JSON.parse(stdout) as { format?: boolean }).format, true);
  await page.getByText("The first request came").waitFor();
  assert.deepEqual(complaints, []);
  await context.close();
});

testInBrowser("a publishable key has origins, which change, and a sample for a page", async () => {
  const { page, context } = await visit("/keys");
  await button(page, "Create a key").click();
  await page.getByLabel("Name").fill("Page");
  await page.getByLabel("Publishable key").check();
  const origins = page.getByRole("textbox", { name: "Origins" });
  await origins.fill("shop.example");
  await button(page, /^Create$/).click();
  await page.locator("dialog .fault, dialog [role=alert]").waitFor();
  await origins.fill("https://shop.example\nhttps://www.shop.example");
  await page.getByLabel("Form", { exact: true }).fill("join");
  await page.getByLabel("Decisions a day").fill("500");
  await page.getByLabel("Policy").selectOption("default");
  assert.deepEqual(await axeFindings(page), []);
  await button(page, /^Create$/).click();
  await page.getByText("Anybody may see it").waitFor();
  const [made] = JSON.parse(gatepost(world.home, ["key", "list", EMAIL, "--json"]).out).filter(
    ({ name }: { name: string }) => name === "Page",
  );
  assert.deepEqual([made.policy, made.form, made.daily], ["default", "join", 500]);
  const sample = page.getByRole("region", { name: "HTML" });
  assert.match((await sample.textContent()) ?? "", /widget\.js" data-key="gp_pub_\w{40}"/);
  await page.getByText("https://shop.example, https://www.shop.example").waitFor();
  await button(page, "Origins Page").click();
  await origins.fill("https://shop.example");
  await button(page, "Save").click();
  await page.getByText("Publishable: https://shop.example", { exact: true }).waitFor();
  await context.close();
});

testInBrowser("a token secret is made, shown once, and signs the account's tokens", async () => {
  const { page, context, complaints } = await visit("/keys");
  await button(page, "Make a token secret").click();
  await page.getByRole("dialog").getByRole("button", { name: "Make a token secret" }).click();
  const shown = page.getByRole("group", { name: "Your token secret" });
  const secret = (await shown.locator("code").textContent()) ?? "";
  assert.match(secret, /^gp_sign_[\w-]{43}$/);
  assert.deepEqual(await axeFindings(page), []);
  const made = gatepost(world.home, ["key", "create", EMAIL, "--json"]);
  const { api_key: key } = JSON.parse(made.out) as { readonly api_key: string };
  const form = "email=jo%40good.example&token=true";
  const { body } = await world.service.post("/api/decide", form, { "x-api-key": key });
  const { token = "" } = JSON.parse(body) as { readonly token?: string };
  const [head, claims, signature] = token.split(".");
  const mac = createHmac("sha256", secret).update(`${head}.${claims}`).digest("base64url");
  assert.equal(signature, mac);
  await button(page, "I have kept it").click();
  assert.equal(await shown.count(), 0);
  assert.deepEqual(complaints, []);
  await context.close();
});

testInBrowser("a hook is made, tested, shown with its last call, and removed", async () => {
  const { page, context, complaints } = await visit("/hooks");
  await page.getByText("No hooks yet").waitFor();
  await button(page, "Create a hook").click();
  await page.getByLabel("Identity system").selectOption("supabase");
  assert.deepEqual(await axeFindings(page), []);
  await button(page, /^Create$/).click();
  await page.getByRole("group", { name: "The hook's secret" }).waitFor();
  await page.getByText("Waiting for the first call").first().waitFor();
  await button(page, "Send a test").click();
  await page.getByText("The system would receive: status 200").waitFor();
  await page.getByText("Refused by the policy").first().waitFor();
  assert.deepEqual(await axeFindings(page), []);
  await button(page, /^Remove the hook/).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove the hook" }).click();
  await page.getByText("No hooks yet").waitFor();
  assert.deepEqual(complaints, []);
  await context.close();
});

testInBrowser("a rule is moved by its number or by its buttons", async () => {
  const { page, context, complaints } = await visit("/policy");
  const rule = (number: number) => page.getByLabel(`Rule ${String(number)}: condition`);
  await rule(3).waitFor();
  const order = (): Promise<readonly string[]> =>
    Promise.all([1, 2, 3].map((number) => rule(number).inputValue()));
  const [first = "", second = "", third = ""] = await order();
  const rows = page.locator(".policy-rules > li");
  await rows.first().locator(".rule-number").dragTo(rows.nth(2));
  assert.deepEqual(await order(), [second, third, first]);
  await button(page, "Move rule 3 up").click();
  assert.deepEqual(await order(), [second, first, third]);
  assert.deepEqual(complaints, []);
  await context.close();
});
