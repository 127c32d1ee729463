// Records what a build of the service answers to some 2,000 requests, so that a refactoring can be compared with the state
// before it: `node scripts/record-answers.mjs FOLDER OUT.json`, where FOLDER is a built checkout; then `--diff A.json B.json`.
// Values that differ in each run (times, ids, tokens) are replaced by their kind. It is deleted when the refactoring is done.
import { execFileSync, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

function diff(before, after) {
  const [a, b] = [before, after].map((file) => JSON.parse(readFileSync(file, "utf8")));
  let count = 0;
  for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const [one, two] = [a[name], b[name]].map((answer) => JSON.stringify(answer));
    if (one === two) continue;
    count += 1;
    if (count <= 400) console.log(`${name}\n  - ${one?.slice(0, 700)}\n  + ${two?.slice(0, 700)}`);
  }
  console.log(`${count} of ${Object.keys(a).length} differ`);
}

function zone() {
  const mail = { a: ["192.0.43.7"] };
  const mx = (host) => ({ mx: [`10 ${host}`] });
  return {
    "good.test": { ...mx("mail.good.test"), txtStrings: [["v=spf1 include:_spf.good.test -all"]] },
    "mail.good.test": mail,
    "_spf.good.test": { txtStrings: [["v=spf1 ip4:192.0.43.0/24 ~all"]] },
    "_dmarc.good.test": { txtStrings: [["v=DMARC1; p=reject; pct=50; rua=mailto:d@good.test"]] },
    "default._domainkey.good.test": { txtStrings: [["v=DKIM1; k=rsa; p=MIGf"]] },
    "gmail.com": mx("gmail-smtp-in.l.google.com"),
    "gmail-smtp-in.l.google.com": { a: ["142.250.27.26"] },
    "mailinator.com": mx("mail.mailinator.com"),
    "mail.mailinator.com": { a: ["23.239.11.30"] },
    "nomx.test": { a: ["192.0.43.8"] },
    "nullmx.test": { mx: ["0 ."] },
    "empty.test": {},
    "servfail.test": { behave: "servfail" },
    "private.test": mx("mail.private.test"),
    "mail.private.test": { a: ["10.1.2.3"] },
    "sub.good.test": mx("mail.good.test"),
    "tempmail.test": mx("mail.good.test"),
    "xn--mnchen-3ya.test": mx("mail.good.test"),
    "privaterelay.appleid.com": mx("mail.good.test"),
  };
}

const FORM = "application/x-www-form-urlencoded";
const ENTRIES = [
  "jo@good.test",
  "JO@Good.Test",
  " jo@good.test ",
  "jo+tag@good.test",
  "jo@gmail.com",
  "j.o.h.n.n@gmail.com",
  "jo@gmial.com",
  "jo@mailinator.com",
  "jo@sub.mailinator.com",
  "info@good.test",
  "abuse@good.test",
  "jo@nomx.test",
  "jo@nullmx.test",
  "jo@empty.test",
  "jo@missing.test",
  "jo@servfail.test",
  "jo@private.test",
  "jo@sub.good.test",
  "jo@tempmail.test",
  "jo@münchen.test",
  "jo@privaterelay.appleid.com",
  "jo@iana.invalid",
  "jo@localhost",
  "jo@host.local",
  "jo",
  "@",
  "jo@",
  "@good.test",
  "jo@@good.test",
  "jo@good..test",
  "jo@[127.0.0.1]",
  '"j o"@good.test',
  "jö@good.test",
  "good.test",
  "mailinator.com",
  "sub.good.test",
  "http://good.test/",
  "127.0.0.1",
  "good.test.",
  "-bad.test",
  "a/b@good.test",
  "jo/spf@good.test",
  "__proto__",
  "constructor",
  "%",
  "jo@good.test,",
  "jo＠good.test",
  "mailto:jo@good.test",
  "<jo@good.test>",
];
const FEATURES = [
  "spf",
  "dkim,dmarc",
  "spf,dkim,dmarc,deliverability",
  "inbox_provider",
  "domain_age",
  "smtp,catch_all",
  "nothing",
  "SPF, dkim",
];

function* requests({ pro, free, cookie, cases }) {
  const keys = {
    none: {},
    free: { "x-api-key": free },
    pro: { "x-api-key": pro },
    bearer: { authorization: `Bearer ${pro}` },
  };
  const get = (path, headers = {}) => ["GET", path, headers];
  const form = (path, fields, headers = {}) => [
    "POST",
    path,
    { "content-type": FORM, ...headers },
    new URLSearchParams(fields).toString(),
  ];
  const json = (path, body, headers = {}) => [
    "POST",
    path,
    { "content-type": "application/json", ...headers },
    typeof body === "string" ? body : JSON.stringify(body),
  ];
  const e = (text) => encodeURIComponent(text.toWellFormed());
  for (const entry of ENTRIES) {
    for (const headers of [keys.none, keys.free, keys.pro, keys.bearer]) {
      yield get(`/api/email/${e(entry)}`, headers);
      yield get(`/api/domain/${e(entry)}`, headers);
    }
    yield form("/api/email", { email: entry });
    yield json("/api/email", { email: entry }, keys.pro);
    yield form("/api/domain", { domain: entry }, keys.pro);
    yield json("/api/domain", { domain: entry });
    yield get(`/api/email/${e(entry)}/spf/dmarc`, keys.pro);
    yield get(`/api/email?email=${e(entry)}`);
    yield get(`/api/explain/${e(entry)}`, keys.pro);
    for (const headers of [keys.none, keys.pro]) {
      yield json("/api/decide", { email: entry, deadline_ms: 5000 }, headers);
      yield form(
        "/api/decide",
        { email: entry, language: "de", form: "signup", deadline_ms: 5000 },
        headers,
      );
    }
    yield json(
      "/api/decide",
      { email: entry, facts: { plan: "free" }, language: "fr-CH", deadline_ms: 5000 },
      keys.pro,
    );
  }
  for (const feature of FEATURES) {
    for (const entry of ["jo@good.test", "jo@gmail.com", "jo@missing.test", "jo@servfail.test"]) {
      yield form("/api/email", { email: entry, features: feature }, keys.pro);
      yield form("/api/email", { email: entry, features: feature }, keys.free);
      yield get(`/api/domain/${entry.slice(3)}?features=${e(feature)}`, keys.pro);
    }
  }
  for (const { input } of cases) {
    yield form("/api/email", { email: input });
    yield get(`/api/email/${e(input)}`, keys.free);
  }
  const lists = [
    ENTRIES.slice(0, 20).join("\n"),
    "a@good.test, b@good.test a@good.test",
    "good.test,mailinator.com",
    "",
    ",,",
    "x".repeat(300),
    "a+b@good.test",
  ];
  for (const list of lists) {
    for (const headers of [keys.none, keys.pro]) {
      yield form("/api/email", { bulk: "1", email: list }, headers);
      yield form("/api/email", { bulk: "true", json: "1", email: list }, headers);
      yield form("/api/domain", { bulk: "1", domain: list, json: "true" }, headers);
      yield json("/api/email", { bulk: true, json: true, email: list.split("\n") }, headers);
      yield get(`/api/email/${e(list)}/mass`, headers);
      yield get(`/api/email/${e(list)}/mass?json=1`, headers);
      yield get(`/api/domain/${e(list)}/bulk`, headers);
      yield [
        "POST",
        "/api/bulk/upload",
        { ...headers, "content-type": "text/csv" },
        `name,email\nJo,${list.replaceAll("\n", "\nJo,")}`,
      ];
    }
  }
  for (const suffix of [
    "",
    "/download",
    "/separator",
    "/comma/download",
    "/json",
    "/csv",
    "/events",
    "/nothing",
    "?download=1&separator=1",
  ]) {
    yield get(`/api/view/${"0".repeat(32)}${suffix}`);
    yield get(`/api/view/SESSION${suffix}`, keys.pro);
  }
  yield ["DELETE", "/api/view/SESSION", keys.pro];
  yield get("/api/view/SESSION", keys.pro);
  const paths = [
    "/",
    "/api",
    "/api/",
    "/api/email",
    "/api/email/",
    "/api/domain",
    "/api/domain/",
    "/api/decide",
    "/api/explain/",
    "/api/explain",
    "/api/feedback",
    "/api/decisions",
    "/api/bulk/upload",
    "/api/view/",
    "/api/nothing",
    "/healthz",
    "/readyz",
    "/openapi.json",
    "/docs",
    "/docs/",
    "/pricing",
    "/llms.txt",
    "/robots.txt",
    "/favicon.ico",
    "/widget.js",
    "/nothing",
    "/hooks/nothing",
    "/hooks/",
    "/compat",
    "/compat/nothing",
    "/feeds",
    "/disposable.txt",
    "/metrics",
    "/setup",
    "/sign-in",
    "/account",
    "/account/",
    "/account/nothing",
    "/account/me",
    "/account/session",
    "/account/keys",
    "/account/webhook",
    "/account/policies",
    "/account/usage",
    "/account/admin/accounts",
    "/account/admin/rules",
    "/account/admin/feeds",
    "/account/admin/system",
  ];
  for (const path of paths) {
    for (const method of ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"]) {
      if (method === "GET" && path === "/metrics") continue;
      yield [method, path, {}];
    }
    yield get(path, { cookie });
  }
  for (const headers of [
    { "x-api-key": "" },
    { "x-api-key": "gp_live_x" },
    { authorization: "Bearer " },
    { authorization: "Basic eDp5" },
    { authorization: `Bearer ${free}`, "x-api-key": "wrong" },
  ]) {
    yield get("/api/email/jo@good.test", headers);
    yield json("/api/decide", { email: "jo@good.test" }, headers);
  }
  for (const body of [
    "{",
    "[]",
    "null",
    '"x"',
    '{"email":1}',
    '{"email":null}',
    '{"email":{}}',
    '{"email":["a@good.test"]}',
    '{"email":"jo@good.test","features":["spf"]}',
    '{"email":"jo@good.test","email":"b@good.test"}',
    '{"__proto__":{"email":"x"}}',
    "",
    " ",
  ]) {
    yield json("/api/email", body);
    yield json("/api/decide", body, keys.pro);
    yield ["POST", "/api/email", { "content-type": "text/plain" }, body];
    yield ["POST", "/api/email", { "content-type": "application/xml" }, body];
  }
  const decide = [
    { policy: "none" },
    { policy: "default" },
    { deadline_ms: 10 },
    { deadline_ms: 9999 },
    { deadline_ms: "x" },
    { language: "xx" },
    { language: "a".repeat(40) },
    { form: "f".repeat(65) },
    { facts: [] },
    { facts: { A: 1 } },
    { token: true },
    { token: "maybe" },
  ];
  for (const more of decide)
    yield json("/api/decide", { email: "jo@good.test", ...more }, keys.pro);
  for (const service of [
    "kickbox-open/v1/disposable/",
    "kickbox/v2/verify?email=",
    "debounce-free/?email=",
    "debounce/v1/?email=",
    "usercheck/email/",
    "mailcheck-ai/email/",
    "zerobounce/v2/validate?email=",
    "neverbounce/v4/single/check?email=",
    "emailable/v1/verify?email=",
    "abstract/v1/?email=",
    "mailgun/v4/address/validate?address=",
    "aftership/v1/",
    "block-temporary-email/check/email/",
    "usercheck/domain/",
    "mailcheck-ai/domain/",
  ]) {
    for (const entry of [
      "jo@good.test",
      "jo@gmial.com",
      "jo@mailinator.com",
      "jo@servfail.test",
      "jo@missing.test",
      "bad",
      "",
    ]) {
      yield get(`/compat/${service}${e(entry)}`, keys.pro);
      yield get(`/compat/${service}${e(entry)}`);
    }
  }
  for (const email of ["jo@good.test", "jo@mailinator.com", "bad"])
    yield json("/compat/reacher/v0/check_email", { to_email: email }, keys.pro);
}

function send(port, [method, path, headers, body]) {
  return new Promise((done) => {
    const call = request(
      {
        host: "127.0.0.1",
        port,
        method,
        path,
        headers: {
          ...headers,
          ...(body !== undefined && { "content-length": Buffer.byteLength(body) }),
        },
      },
      (answer) => {
        const parts = [];
        answer.on("data", (part) => parts.push(part));
        answer.on("end", () =>
          done({
            status: answer.statusCode,
            headers: answer.headers,
            body: Buffer.concat(parts).toString("utf8"),
          }),
        );
        if (path.endsWith("/events")) setTimeout(() => answer.destroy(), 300);
        answer.on("error", () =>
          done({ status: answer.statusCode, headers: answer.headers, body: "" }),
        );
        answer.on("close", () =>
          done({ status: answer.statusCode, headers: answer.headers, body: "" }),
        );
      },
    );
    call.on("error", (error) => done({ error: error.code }));
    if (body !== undefined) call.write(body);
    call.end();
  });
}

const KINDS = [
  [/eyJ[\w-]+\.[\w-]+\.[\w-]*/g, "<token>"],
  [/\b[0-9a-f]{32,64}\b/g, "<hex>"],
  [/\b[0-9a-f]{8}-[0-9a-f-]{27}\b/g, "<uuid>"],
  [/\bm_[A-Z2-7]{26}\b/g, "<mailbox>"],
  [/\d{4}-\d\d-\d\d[T ][\d:.]+Z?/g, "<time>"],
  [/-[\w-]{8,10}\.(js|css)/g, "-<hash>.$1"],
  [/127\.0\.0\.1:\d+/g, "<host>"],
  [/"(retry_after|version|ms|duration_ms|seen)":\d+/g, '"$1":<n>'],
];
const plain = (text) => KINDS.reduce((now, [pattern, kind]) => now.replace(pattern, kind), text);

async function record(folder, out) {
  const home = mkdtempSync(join(tmpdir(), "gatepost-record-"));
  const dns = fork(join(folder, "dist/test/dns/dns-server-process.js"));
  dns.send({ zone: zone(), options: {} });
  const [{ port: dnsPort }] = await once(dns, "message");
  const none = { rate_per_minute: null, daily: null, monthly: null };
  writeFileSync(
    join(home, "tiers.json"),
    JSON.stringify({ anonymous: none, free: none, pro: none }),
  );
  const env = {
    ...process.env,
    GATEPOST_DATA_DIR: home,
    GATEPOST_LISTS_REFRESH: "off",
    GATEPOST_DNS_SERVERS: `127.0.0.1:${dnsPort}`,
    GATEPOST_DNS_CANARIES: "good.test,gmail.com",
    GATEPOST_TIERS_FILE: join(home, "tiers.json"),
    GATEPOST_RDAP_BOOTSTRAP_URL: "http://127.0.0.1:9/",
    PORT: "0",
    LOG_LEVEL: "info",
  };
  const program = join(folder, "dist/run/gatepost.js");
  const keyOf = (email, tier) =>
    JSON.parse(
      execFileSync(
        process.execPath,
        [program, "account", "create", email, "--tier", tier, "--json", "--password-stdin"],
        { env, input: "a long enough password\n" },
      ),
    ).api_key;
  const [pro, free] = [keyOf("pro@good.test", "pro"), keyOf("free@good.test", "free")];
  const service = spawn(process.execPath, [program, "serve"], {
    env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  let log = "";
  let port;
  for await (const part of service.stdout.iterator({ destroyOnReturn: false })) {
    log += part;
    port = /"url":"http:\/\/127\.0\.0\.1:(\d+)"/.exec(log)?.[1];
    if (port !== undefined) break;
  }
  service.stdout.resume();
  const signedIn = await send(port, [
    "POST",
    "/account/sign-in",
    { "content-type": "application/json", origin: `http://127.0.0.1:${port}` },
    JSON.stringify({ email: "pro@good.test", password: "a long enough password" }),
  ]);
  const cookie = (signedIn.headers?.["set-cookie"] ?? [""])[0].split(";")[0];
  const { cases } = JSON.parse(
    readFileSync(join(folder, "test/fixtures/email-format-cases.json"), "utf8"),
  );
  const answers = {};
  let session = "0".repeat(32);
  let at = 0;
  for (const made of requests({ pro, free, cookie, cases })) {
    const [method, path, headers, body] = made;
    const answer = await send(port, [method, path.replace("SESSION", session), headers, body]);
    if (headers["x-api-key"] === pro)
      session = /"session":"([0-9a-f]{32})"/.exec(answer.body ?? "")?.[1] ?? session;
    const { date: _date, "content-length": _length, etag: _etag, ...kept } = answer.headers ?? {};
    const text = plain(answer.body ?? "");
    const named = plain(JSON.stringify([headers, body ?? ""]))
      .replaceAll(pro, "<pro>")
      .replaceAll(free, "<free>")
      .replaceAll(cookie || "none", "<cookie>");
    answers[`${method} ${path} ${named} #${at}`] = {
      status: answer.status ?? answer.error,
      headers: JSON.parse(plain(JSON.stringify(kept))),
      body: text.length > 20_000 ? `${text.slice(0, 2_000)}... ${text.length}` : text,
    };
    at += 1;
  }
  writeFileSync(out, JSON.stringify(answers, null, 1));
  console.log(`${at} answers in ${out}`);
  service.kill("SIGTERM");
  dns.kill();
  await once(service, "exit");
  rmSync(home, { recursive: true, force: true });
}

const words = process.argv.slice(2);
if (words[0] === "--diff") {
  diff(words[1], words[2]);
} else {
  await record(resolve(words[0] ?? "."), words[1] ?? "answers.json");
}
