import assert from "node:assert/strict";
import { test } from "node:test";
import { compatWorld, form, json } from "../../../test/compat/compat-world.ts";
import { readCompatHosts } from "../hosts.ts";
import { SHAPES } from "./services.ts";

const SERVICES = SHAPES.map(({ service }) => service);

test("a host name serves its shape at the root and below /compat, and other hosts do not", async (t) => {
  const hosts = readCompatHosts("Kickbox.mail.example=kickbox, 127.0.0.2=neverbounce", SERVICES);
  const { ask } = await compatWorld(t, { hosts });
  const url = "/v2/verify?email=jo@bad.example";
  for (const [host, at, status] of [
    ["kickbox.mail.example", url, 200],
    ["KICKBOX.mail.example:8443", url, 200],
    ["kickbox.mail.example", `/compat/kickbox${url}`, 200],
    ["kickbox.mail.example", `http://kickbox.mail.example${url}`, 200],
    ["kickbox.mail.example", "/api/email/jo@bad.example", 404],
    ["kickbox.mail.example", "/readyz", 404],
    ["other.mail.example", url, 404],
    ["other.mail.example", `/compat/kickbox${url}`, 200],
  ] as const) {
    const told = await ask({ url: at, headers: { host } });
    assert.equal(told.status, status, `${host} ${at}`);
  }
  const post = { ...form("email=jo@bad.example"), url: "/v4.2/single/check" };
  const told = await ask({ ...post, headers: { ...post.headers, host: "127.0.0.2" } });
  assert.equal((told.body as { result: string }).result, "disposable");
});

test("an unknown service is 404 in a plain shape", async (t) => {
  const { ask } = await compatWorld(t);
  for (const url of ["/compat", "/compat/", "/compat/nobody", "/compat/nobody/v1/x"]) {
    const { status, body } = await ask({ url });
    assert.deepEqual([status, body], [404, { error: "Not found." }], url);
  }
});

test("pages of other sites may read answers only where the original allows it", async (t) => {
  const { ask } = await compatWorld(t);
  for (const { service, cors = false } of SHAPES) {
    const url = `/compat/${service}/v1/disposable/good.example`;
    const headers = { origin: "https://shop.example", "access-control-request-method": "GET" };
    const asked = await ask({ method: "OPTIONS", url, headers });
    const told = await ask({ url, headers });
    const allowed = [asked, told].map((each) => each.headers["access-control-allow-origin"]);
    assert.deepEqual(allowed, cors ? ["*", "*"] : [undefined, undefined], service);
    assert.equal(asked.status === 204, cors, service);
  }
});

test("spent rate is refused in each service's words and status", async (t) => {
  const { ask } = await compatWorld(t);
  const wanted: Record<string, readonly [number, RegExp]> = {
    usercheck: [429, /^\{"status":429,"error":"Too many requests"\}$/],
    neverbounce: [200, /"status":"throttle_triggered"/],
    truemail: [200, /"success":true,"errors":null/],
  };
  for (let call = 0; call < 30; call += 1) await ask({ url: "/compat/kickbox" });
  for (const service of SERVICES) {
    const { status, headers, body } = await ask({ url: `/compat/${service}/v1/x` });
    const [wantedStatus, words] = wanted[service] ?? [429, /Rate limit exceeded/];
    assert.equal(status, wantedStatus, service);
    assert.match(JSON.stringify(body), words, service);
    assert.ok(Number(headers["retry-after"]) > 0, service);
  }
});

test("a disabled account is refused as a wrong key, a spent quota in its own words", async (t) => {
  const { ask, account, store, admission } = await compatWorld(t);
  const { id, apiKey } = await account("a@shop.example", "free");
  const admitted = await admission.enter({ apiKey: [apiKey], authorization: [] }, "192.0.2.9");
  await admission.charge(admitted, 10_000);
  const check = (service: string, path: string) => ask({ url: `/compat/${service}/${path}` });
  const query = `email=jo@good.example`;
  for (const [service, path, status] of [
    ["zerobounce", `v2/validate?api_key=${apiKey}&${query}`, 200],
    ["kickbox", `v2/verify?apikey=${apiKey}&${query}`, 429],
  ] as const) {
    assert.equal((await check(service, path)).status, status, service);
  }
  const batch = json({ api_key: apiKey, email_batch: [{ email_address: "jo@good.example" }] });
  const told = await ask({ ...batch, url: "/compat/zerobounce/v2/validatebatch" });
  assert.match(
    JSON.stringify(told.body),
    /"email_batch":\[\],"errors":\[\{"error":"Invalid API Key or/,
  );
  await store.accounts.disable(id);
  assert.equal((await check("kickbox", `v2/verify?apikey=${apiKey}&${query}`)).status, 403);
});

test("a batch costs one unit for each address, a single check one", async (t) => {
  const { ask, account } = await compatWorld(t);
  const { apiKey } = await account("a@shop.example", "free");
  const rows = ["a", "b", "c"].map((user) => ({ email_address: `${user}@good.example` }));
  const batch = json({ api_key: apiKey, email_batch: rows });
  const told = await ask({ ...batch, url: "/compat/zerobounce/v2/validatebatch" });
  const { email_batch: found } = told.body as { email_batch: { address: string }[] };
  assert.deepEqual(
    found.map(({ address }) => address),
    ["a@good.example", "b@good.example", "c@good.example"],
  );
  const left = await ask({ url: `/compat/zerobounce/v2/getcredits?api_key=${apiKey}` });
  assert.deepEqual(left.body, { Credits: "9997" });
});

test("a batch counts as one request of the rate for each 20 addresses", async (t) => {
  const { ask, account } = await compatWorld(t);
  const { apiKey } = await account("a@shop.example", "free");
  const rows = Array.from({ length: 45 }, (_, at) => ({ email_address: `a${String(at)}` }));
  const url = "/compat/zerobounce/v2/validatebatch";
  await ask({ ...json({ api_key: apiKey, email_batch: rows }), url });
  const after = await ask({ url: `/compat/zerobounce/v2/getcredits?api_key=${apiKey}` });
  assert.equal(after.headers["x-ratelimit-remaining"], "56");
});

test("Misskey lets in whom a spent quota or a fault of ours says nothing of", async (t) => {
  const { ask, account, admission, refusals } = await compatWorld(t);
  const { apiKey } = await account("a@shop.example", "free");
  const headers = { authorization: apiKey };
  const url = "/compat/truemail?email=Jo+x@bad.example";
  const letIn = { email: "Jo+x@bad.example", success: true, errors: null };
  const admitted = await admission.enter({ apiKey: [apiKey], authorization: [] }, "192.0.2.9");
  await admission.charge(admitted, 10_000);
  const spent = await ask({ method: "POST", url, headers });
  assert.deepEqual([spent.status, spent.body, refusals()], [200, letIn, 1]);
  assert.equal(spent.headers["gatepost-error"], "quota_exceeded");
  Object.defineProperty(admission, "enter", { value: () => Promise.reject(new Error("away")) });
  const broken = await ask({ method: "POST", url, headers });
  assert.deepEqual([broken.status, broken.body], [200, letIn]);
  assert.equal(broken.headers["gatepost-error"], "internal_error");
});

test("a job of Verifalia shows which of its entries could not be paid", async (t) => {
  const { ask, account, admission } = await compatWorld(t);
  const { apiKey } = await account("a@shop.example", "free");
  const admitted = await admission.enter({ apiKey: [apiKey], authorization: [] }, "192.0.2.9");
  await admission.charge(admitted, 9_999);
  const entries = ["a", "b"].map((user) => ({ inputData: `${user}@bad.example` }));
  const job = json({ entries });
  const headers = { ...job.headers, authorization: `Bearer ${apiKey}` };
  const submit = () => ask({ ...job, headers, url: "/compat/verifalia/v2.6/email-validations" });
  const { body } = await submit();
  const { data } = (body as { entries: { data: { status: string }[] } }).entries;
  const statuses = data.map(({ status }) => status).sort();
  assert.deepEqual(statuses, ["DomainIsWellKnownDea", "UnhandledException"]);
  assert.equal((await submit()).status, 402);
});

test("a refusal that is sent with 200 counts as a refusal", async (t) => {
  const { ask, refusals } = await compatWorld(t);
  const { status } = await ask({ url: "/compat/neverbounce/v4/single/check?key=wrong" });
  assert.deepEqual([status, refusals()], [200, 1]);
  await ask({ url: "/compat/neverbounce/v4/single/check?email=jo@good.example" });
  assert.equal(refusals(), 1);
});

test("a body over 64 KiB is refused in the shape's words; one of an unknown type is read", async (t) => {
  const { ask } = await compatWorld(t);
  const url = "/compat/reacher/v0/check_email";
  const large = await ask({ ...json({ to_email: "x".repeat(70_000) }), url });
  assert.equal(large.status, 413);
  const typed = await ask({
    method: "POST",
    url,
    headers: { "content-type": "text/csv" },
    payload: "x",
  });
  assert.equal(typed.status, 400, "it holds no address");
});

const mistakes = [
  ["kickbox.example", /"kickbox\.example" is not HOST=SERVICE/],
  ["kickbox.example=nobody", /"nobody" is not one of kickbox-open, kickbox, /],
  ["a b=kickbox", /"a b=kickbox" is not HOST=SERVICE/],
  ["a.example=kickbox,A.example=reacher", /"a\.example" is named twice/],
] as const;

for (const [text, why] of mistakes) {
  test(`GATEPOST_COMPAT_HOSTS="${text}" is refused`, () => {
    assert.throws(() => readCompatHosts(text, SERVICES), why);
  });
}
