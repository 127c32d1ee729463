import { strict as assert } from "node:assert";
import { test } from "node:test";
import { worldFor, ZONE, linesOf, EMAIL } from "../../../test/dashboard/account-world.ts";

test("a check sends the core facts first, then what the API would answer, for one unit", async (t) => {
  const { world, signedIn } = await worldFor(t, { zone: ZONE });
  const id = await world.addAccount(EMAIL, { tier: "pro" });
  const browser = await signedIn(EMAIL);
  const features = ["spf", "smtp"];
  const { text } = await browser.post("check", { entry: " ann@good.example ", features });
  const [core, full] = linesOf(text);
  assert.deepEqual([core?.["step"], full?.["step"]], ["core", "full"]);
  const { api_key: apiKey } = (await browser.post("keys", { name: "k" })).json as {
    api_key: string;
  };
  const api = await browser.call("GET", "/api/email/ann@good.example?features=spf,smtp", {
    headers: { "x-api-key": apiKey },
  });
  assert.deepEqual(full?.["result"], api.json);
  const advice = full?.["advice"] as { check: string }[];
  assert.deepEqual(
    advice.map(({ check }) => check),
    ["spf", "spam_trap"],
  );
  const receipt = await world.admission.charge(
    {
      caller: { owner: { kind: "account", accountId: id }, tier: "pro", clientAddress: "x" },
      hasCredits: false,
    },
    1,
  );
  assert.equal(receipt.paidBy, "plan");
});

test("a check says what was wrong with the format, and a plan without premium what it lacks", async (t) => {
  const { world, signedIn } = await worldFor(t, { zone: ZONE });
  await world.addAccount(EMAIL);
  const browser = await signedIn(EMAIL);
  const bad = linesOf((await browser.post("check", { entry: "a..b@x", features: [] })).text);
  assert.deepEqual([bad.length, typeof bad[0]?.["problem"]], [1, "string"]);
  const [only, ...more] = linesOf(
    (await browser.post("check", { entry: "good.example", features: ["spf"] })).text,
  );
  assert.equal(more.length, 0);
  const result = only?.["result"] as { requires_upgrade: string[]; upgrade_url: string };
  assert.deepEqual(result.requires_upgrade, ["spf"]);
  assert.equal(result.upgrade_url, "http://gatepost.example/pricing");
});

test("a check says that the service's own name server is away, where DNS did not answer", async (t) => {
  const { world, signedIn } = await worldFor(t, {
    zone: { ...ZONE, "silent.example": { unknown: true } },
  });
  await world.addAccount(EMAIL);
  const browser = await signedIn(EMAIL);
  for (const [entry, silence] of [
    ["jo@silent.example", "DNS server 192.0.2.53:53 does not answer."],
    ["good.example", undefined],
  ] as const) {
    const [only] = linesOf((await browser.post("check", { entry, features: [] })).text);
    assert.equal(only?.["dns_down"], silence, entry);
  }
});

const meants = [
  ["a misspelling", "jo@gmail.con", "jo@gmail.com"],
  ["an at sign written out", "anna(at)web.de", "anna@web.de"],
  ["a dot for the at sign", "luis.garcia.gmail.com", "luis.garcia@gmail.com"],
  ["a domain that takes mail", "good.example", undefined],
] as const;

test("a check says what was probably meant", async (t) => {
  const { world, signedIn } = await worldFor(t, { zone: ZONE });
  await world.addAccount(EMAIL);
  const browser = await signedIn(EMAIL);
  for (const [name, entry, meant] of meants) {
    const [only] = linesOf((await browser.post("check", { entry, features: [] })).text);
    assert.equal(only?.["meant"], meant, name);
  }
});

test("a check beyond the quota is refused with its status before any line", async (t) => {
  const { world, signedIn } = await worldFor(t, { zone: ZONE });
  const id = await world.addAccount(EMAIL);
  const browser = await signedIn(EMAIL);
  const caller = {
    owner: { kind: "account", accountId: id },
    tier: "free",
    clientAddress: "x",
  } as const;
  await world.admission.charge({ caller, hasCredits: false }, 10_000);
  const { status, json } = await browser.post("check", { entry: "good.example", features: [] });
  assert.equal(status, 429);
  assert.equal((json as { error: string }).error, "Daily quota exceeded.");
});

const badChecks = [
  ["an empty entry", { entry: "  ", features: [] }],
  ["an entry that is a list", { entry: ["a@x.example"], features: [] }],
  ["features that are a text", { entry: "x.example", features: "spf" }],
  ["too many features", { entry: "x.example", features: Array(21).fill("spf") }],
  ["an entry of 2,001 characters", { entry: "a".repeat(2_001), features: [] }],
] as const;

test("a check with a body of another shape is refused", async (t) => {
  const { world, signedIn } = await worldFor(t);
  await world.addAccount(EMAIL);
  const browser = await signedIn(EMAIL);
  for (const [name, body] of badChecks) {
    assert.equal((await browser.post("check", body)).status, 400, name);
  }
});

test("forms, broken JSON and large bodies are refused", async (t) => {
  const { world, signedIn } = await worldFor(t);
  await world.addAccount(EMAIL);
  const browser = await signedIn(EMAIL);
  const raw = (type: string, body: string) =>
    fetch(`${world.url}/account/keys`, {
      method: "POST",
      headers: { origin: world.url, cookie: browser.cookie, "content-type": type },
      body,
    }).then(({ status }) => status);
  assert.equal(await raw("application/x-www-form-urlencoded", "name=k"), 415);
  const part = '--x\r\nContent-Disposition: form-data; name="name"\r\n\r\nk\r\n--x--\r\n';
  assert.equal(await raw("multipart/form-data; boundary=x", part), 415);
  assert.equal(await raw("text/plain", '{"name":"k"}'), 415);
  assert.equal(await raw("application/json", '{"name":'), 400);
  assert.equal(await raw("application/json", `{"name":"${"k".repeat(70_000)}"}`), 413);
  assert.deepEqual((await browser.get("keys")).json, { keys: [] });
});

test("a check names each list behind a signal, since when, and its fetch", async (t) => {
  const { world, signedIn } = await worldFor(t, { known: { curated: ["bad.example"] } });
  await world.addAccount(EMAIL);
  const browser = await signedIn(EMAIL);
  const { text } = await browser.post("check", { entry: "bad.example", features: [] });
  const evidence = linesOf(text).at(-1)?.["evidence"] as {
    signal: string;
    by: string;
    lists: object[];
  }[];
  const listed = evidence.find(({ signal }) => signal === "blacklist_exact");
  assert.equal(listed?.by, "lists");
  assert.deepEqual(Object.keys(listed?.lists[0] ?? {}), ["id", "curated", "since", "fetched_at"]);
});
