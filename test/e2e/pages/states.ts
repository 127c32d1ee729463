import type { Page } from "playwright-core";
import type { ListState } from "../../../src/http/account/shapes.ts";
import type { Who } from "./shown-service.ts";

/** A page in one of its states, as somebody sees it. */
export interface State {
  readonly name: string;
  readonly who: Who;
  readonly path: string;
  /** Answers that the service would give elsewhere: a webhook on a public host, a list that runs. */
  readonly before?: (page: Page) => Promise<void>;
  /** From the opened page to the state. */
  readonly act?: (page: Page) => Promise<void>;
}

const press = (name: string | RegExp) => (page: Page) =>
  page.getByRole("button", { name }).first().click();

/** Presses a button and waits for the dialog. */
const ask = (name: string | RegExp) => async (page: Page) => {
  await press(name)(page);
  await page.getByRole("dialog").waitFor();
};

const verdict = (entry: string): Pick<State, "path" | "act"> => ({
  path: `/#${entry}`,
  act: (page) => page.locator(".postmark:not(.blank)").first().waitFor(),
});

const CSV = [
  "Name,E-mail",
  "Ann,ann@good.example",
  "Maria,maria@gmail.con",
  "Mia,mia@gmail.con",
  "Lost,lost.gmail.com",
  "Bad,x8@mailinator.com",
  "None,info@nowhere.example",
  "Slow,info@silent.example",
  "Twice,ann@good.example",
  "Odd,not an address",
].join("\n");

async function choose(page: Page): Promise<void> {
  const file = { name: "spring.csv", mimeType: "text/csv", buffer: Buffer.from(CSV) };
  await page.locator('input[type="file"]').setInputFiles(file);
  await page.getByRole("button", { name: /^Check \d+ entries/ }).waitFor();
}

async function finish(page: Page): Promise<void> {
  await choose(page);
  await press(/^Check \d+ entries/)(page);
  await page.getByRole("heading", { name: "Every row" }).waitFor();
}

async function hold(page: Page): Promise<void> {
  const newest = [{ entry: "jo@good.example", class: "good", why: "" }];
  const half = { state: "running", entries: 1_200, processed: 600, expires_in_seconds: null };
  await page.route(/\/account\/lists\/[0-9a-f]{32}$/, async (route) => {
    const response = await route.fetch();
    const { read: _, ...known } = (await response.json()) as ListState;
    const json = { ...known, ...half, so_far: { good: 480, disposable: 60 }, newest };
    await route.fulfill({ response, json });
  });
}

async function run(page: Page): Promise<void> {
  const entries = Array.from({ length: 120 }, (_, at) => `user${String(at)}@good.example`);
  await page.getByLabel("Or paste addresses and domains").fill(entries.join("\n"));
  await press("Look at the list")(page);
  await page.getByText("600 of 1,200 entries checked").waitFor();
}

async function end(page: Page): Promise<void> {
  await run(page);
  await ask("Cancel")(page);
}

const AT = "2026-11-20T12:00:00.000Z";

async function webhook(page: Page): Promise<void> {
  const known = { url: "https://hooks.company.example/in", events: ["bulk.completed"] };
  const state = { webhook: known, known_events: ["bulk.completed", "test.ping"] };
  const sent = { event: "bulk.completed", session: null, attempted_at: AT, duration_ms: 112 };
  const deliveries = [
    { ...sent, id: "a", status: 200, error: null, response: "ok" },
    { ...sent, id: "b", status: 500, error: "The receiver answered 500.", response: "" },
  ];
  await page.route("**/account/webhook", (route) => route.fulfill({ json: state }));
  await page.route("**/webhook/deliveries", (route) => route.fulfill({ json: { deliveries } }));
}

async function askForCode(page: Page): Promise<void> {
  const headers = { "gatepost-error": "second_factor_needed" };
  const refused = { status: 401, headers, json: { error: "The password is right." } };
  await page.route("**/account/sign-in", (route) => route.fulfill(refused));
}

async function giveCode(page: Page): Promise<void> {
  await page.getByLabel("Email address").fill("ann@company.example");
  await page.getByLabel("Password").fill("correct horse battery");
  await press("Sign in")(page);
  await page.getByText("Six digits").waitFor();
}

/** Whom the proxy names has no account. */
async function nameUnknown(page: Page): Promise<void> {
  await page.route("**/account/session", async (route) => {
    const response = await route.fetch();
    const json = { ...((await response.json()) as object), proxy_email: "ann@company.example" };
    await route.fulfill({ response, json });
  });
}

async function answerFactor(page: Page): Promise<void> {
  const begun = { secret: "ABCDEFGH".repeat(4), uri: "otpauth://totp/x", set_up: "x" };
  const codes = Array.from({ length: 10 }, () => "ABCDEFGHIJKLMNOP");
  await page.route("**/account/second-factor", (route) => route.fulfill({ json: begun }));
  await page.route("**/account/second-factor/finish", (route) =>
    route.fulfill({ json: { codes } }),
  );
}

async function beginFactor(page: Page): Promise<void> {
  await ask("Set up a second factor")(page);
  await page.getByLabel("Current password").fill("correct horse battery");
  await page.getByRole("dialog").getByRole("button", { name: "Set up a second factor" }).click();
  await page.getByLabel("Code that the app shows now").fill("123456");
}

async function finishFactor(page: Page): Promise<void> {
  await beginFactor(page);
  await press("Switch it on")(page);
  await page.getByRole("heading", { name: "Your recovery codes" }).waitFor();
}

async function showHistory(page: Page): Promise<void> {
  const counts = { rows: 9_000, checked: 8_990, good: 8_000, disposable: 700, no_mail: 200 };
  const past = {
    name: `${"a long name ".repeat(12)}.csv`,
    ...counts,
    bad_format: 90,
    charged: 8_990,
  };
  const history = [{ ...past, created_at: AT }];
  await page.route("**/account/lists", (route) =>
    route.fulfill({ json: { lists: [], most: 10, history } }),
  );
}

async function makeKey(page: Page): Promise<void> {
  await ask("Create a key")(page);
  await page.getByLabel("Name").fill("Shop");
  await page.getByRole("dialog").getByRole("button", { name: "Create a key" }).click();
  await page.getByText("Waiting for your first request").waitFor();
}

async function editRules(page: Page): Promise<void> {
  await page.getByLabel("Rule 1: what to do").selectOption("review");
  await press("Remove rule 2")(page);
  await page.getByText("Rule 2 is removed from the draft.").waitFor();
}

async function publish(page: Page): Promise<void> {
  await page.getByLabel("Otherwise").selectOption("reject");
  await ask("Publish 3")(page);
}

async function tryPolicy(page: Page): Promise<void> {
  await page.getByPlaceholder("name@domain").fill("jo@mailinator.com");
  await press("Try it for 1 check")(page);
  await page.getByText("Rule 5:").waitFor();
}

async function showYear(page: Page): Promise<void> {
  await page.getByLabel("Days shown").selectOption("400 days");
  await page.waitForLoadState("networkidle");
}

/** Nothing of the account comes but who is signed in. */
async function offline(page: Page): Promise<void> {
  await page.route(/\/account\/(?!session)/, (route) => route.abort());
}

const by =
  (who: Who) =>
  (state: Omit<State, "who">): State => ({ ...state, who });

const VISITOR: readonly Omit<State, "who">[] = [
  { name: "front", path: "/" },
  { name: "plans asked for", path: "/pricing" },
  { name: "disposable", ...verdict("someone@mailinator.com") },
  { name: "misspelt", ...verdict("maria@gmail.con") },
  { name: "sign-in", path: "/sign-in" },
  { name: "code asked", path: "/sign-in", before: askForCode, act: giveCode },
  { name: "named by a proxy", path: "/sign-in", before: nameUnknown },
  { name: "sign-up", path: "/sign-up" },
  { name: "new password", path: "/new-password#x" },
  { name: "used set-up link", path: "/setup#0123" },
  { name: "no such page", path: "/nowhere" },
];

const FRESH: readonly Omit<State, "who">[] = [
  { name: "check", path: "/" },
  { name: "lists", path: "/lists" },
  { name: "list that is gone", path: `/lists#${"0".repeat(32)}` },
  { name: "own policy", path: "/gate" },
  { name: "no decisions", path: "/gate/decisions" },
  { name: "no use", path: "/usage" },
  { name: "no keys", path: "/keys" },
  { name: "no hooks", path: "/gate/hooks" },
  { name: "deleting", path: "/settings", act: ask("Delete the account") },
];

const OWN: readonly Omit<State, "who">[] = [
  { name: "good", ...verdict("info@iana.org") },
  { name: "could not tell", ...verdict("jo@silent.example") },
  { name: "bad format", ...verdict("jo..x@good.example") },
  { name: "chosen list", path: "/lists", act: choose },
  { name: "lists of the past", path: "/lists", before: showHistory },
  { name: "second factor begun", path: "/settings", before: answerFactor, act: beginFactor },
  { name: "recovery codes", path: "/settings", before: answerFactor, act: finishFactor },
  { name: "running list", path: "/lists", before: hold, act: run },
  { name: "finished list", path: "/lists", act: finish },
  { name: "ending a list", path: "/lists", before: hold, act: end },
  { name: "shadow", path: "/gate" },
  { name: "draft with a removed rule", path: "/gate", act: editRules },
  { name: "publishing more refusals", path: "/gate", act: publish },
  { name: "address tried", path: "/gate", act: tryPolicy },
  { name: "use", path: "/usage" },
  { name: "use of 400 days", path: "/usage", act: showYear },
  { name: "keys", path: "/keys" },
  { name: "revoking", path: "/keys", act: ask("Revoke Website sign-up") },
  { name: "hooks", path: "/gate/hooks" },
  { name: "new hook", path: "/gate/hooks", act: ask("Create a hook") },
  { name: "settings", path: "/settings" },
  { name: "settings with a webhook", path: "/settings", before: webhook },
  { name: "new address", path: "/settings", act: ask("Ask for another address") },
  ...["keys", "lists", "gate", "settings"].map((name) => ({
    name: `${name} that do not load`,
    path: `/${name}`,
    before: offline,
    act: (page: Page) => page.getByRole("alert").getByText("Try again").first().waitFor(),
  })),
];

const ADMIN: readonly Omit<State, "who">[] = [
  { name: "new key", path: "/keys", act: makeKey },
  { name: "system", path: "/admin/system" },
  { name: "accounts", path: "/admin/accounts" },
  { name: "new account", path: "/admin/accounts", act: ask("Create an account") },
  { name: "sign-up closed?", path: "/admin/accounts", act: ask("Close sign-up") },
  { name: "rules", path: "/admin/rules" },
  { name: "new rule", path: "/admin/rules", act: ask("Add a rule") },
  { name: "switching a list off", path: "/admin/rules", act: ask(/^Switch off/) },
];

/** Every page, and every state of it that looks different. `account` is one to be opened by an administrator. */
export const statesOf = (account: string): readonly State[] => [
  ...VISITOR.map(by("visitor")),
  ...FRESH.map(by("fresh")),
  ...OWN.map(by("own")),
  ...[
    ...ADMIN,
    { name: "one account", path: `/admin/accounts#${account}` },
    { name: "promoting", path: `/admin/accounts#${account}`, act: ask("Make an administrator") },
  ].map(by("admin")),
];
