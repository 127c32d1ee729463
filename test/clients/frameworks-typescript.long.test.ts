import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import type { RequestListener } from "node:http";
import { createRequire } from "node:module";
import { test, type TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import { gatepostPlugin } from "../../clients/typescript/src/better-auth.ts";
import * as express from "../../clients/typescript/src/express.ts";
import { decisionOf, guardSignUp } from "../../clients/typescript/src/fastify.ts";
import { createGatepost, type Gatepost } from "../../clients/typescript/src/index.ts";
import { languageOf } from "../../clients/typescript/src/language.ts";
import { guardAction } from "../../clients/typescript/src/next.ts";
import { testWith } from "../process/require-tool.ts";
import { httpPeer } from "../http/peer.ts";

const FOLDER = new URL("../../../clients/typescript/frameworks/", import.meta.url);
const installed = createRequire(new URL("package.json", FOLDER));

/** The frameworks are no dependencies of the service: `npm ci` in their folder installs them. */
function withFramework(name: string, what: string, body: (t: TestContext) => Promise<void>): void {
  const isHere = existsSync(new URL(`node_modules/${name}/package.json`, FOLDER));
  const install = `${name} (npm ci in clients/typescript/frameworks)`;
  testWith([install], isHere ? [] : [install], what, body);
}

const framework = async (name: string): Promise<Record<string, unknown>> =>
  (await import(pathToFileURL(installed.resolve(name)).href)) as Record<string, unknown>;

/** By the address's user. */
const ANSWERS: Readonly<Record<string, object>> = {
  good: { decision: "accept", reason: "ok" },
  look: { decision: "review", reason: "role" },
  typo: {
    decision: "challenge",
    reason: "typo",
    message: "Did you mean jo@gmail.com?",
    did_you_mean: "jo@gmail.com",
  },
  bad: {
    decision: "reject",
    reason: "disposable",
    message: "Please use a permanent email address.",
  },
};

/** The client, with a service that answers by the address's user, or not at all for "away". */
function gate(): { readonly gatepost: Gatepost; readonly asked: Record<string, unknown>[] } {
  const asked: Record<string, unknown>[] = [];
  const answered: typeof fetch = (_, init) => {
    const body = JSON.parse(init?.body as string) as Record<string, unknown>;
    asked.push(body);
    const answer = ANSWERS[String(body["email"]).split("@")[0] ?? ""];
    if (answer === undefined) return Promise.reject(new TypeError("fetch failed"));
    const policy = { name: "default", version: 1 };
    return Promise.resolve(Response.json({ ...answer, complete: true, policy }));
  };
  const url = "https://gatepost.example";
  return { gatepost: createGatepost({ url, fetch: answered }), asked };
}

const TYPO_BODY = {
  error: "Did you mean jo@gmail.com?",
  decision: "challenge",
  reason: "typo",
  did_you_mean: "jo@gmail.com",
};
const BAD_BODY = { error: "Please use a permanent email address.", decision: "reject", reason: "disposable" }; // prettier-ignore

/** A form, the status, and the answer of the guard or what the guard told the handler. */
const FORMS: readonly (readonly [form: Record<string, string>, status: number, body: unknown])[] = [
  [{ email: "good@x.example" }, 201, "accept service"],
  [{ email: "look@x.example" }, 201, "review service"],
  [{ email: "typo@x.example" }, 422, TYPO_BODY],
  [{ email: "typo@x.example", confirmed: "" }, 422, TYPO_BODY],
  [{ email: "typo@x.example", confirmed: "on" }, 201, "challenge service"],
  [{ email: "bad@x.example" }, 422, BAD_BODY],
  [{ email: "bad@x.example", confirmed: "on" }, 422, BAD_BODY],
  [{ email: "away@x.example" }, 201, "accept away"],
  [{ email: "away@trash.example" }, 201, "accept away"],
  [{ email: " " }, 201, "not asked"],
  [{}, 201, "not asked"],
];

const MALFORMED_BODY = { error: "Please enter a complete email address.", decision: "reject", reason: "format" }; // prettier-ignore

/** What is there and no text, or longer than an address, is refused without asking. */
const MALFORMED: readonly unknown[] = [
  ["bad@x.example"],
  { at: "bad@x.example" },
  5,
  true,
  `${"bad".repeat(400)}@x.example`,
];

const tell = (decision: { decision: string; source: string } | undefined): string =>
  decision === undefined ? "not asked" : `${decision.decision} ${decision.source}`;

async function post(url: string, form: Record<string, string>): Promise<readonly unknown[]> {
  const answer = await fetch(url, { method: "POST", body: new URLSearchParams(form) });
  const text = await answer.text();
  return [answer.status, text.startsWith("{") ? JSON.parse(text) : text];
}

interface ExpressApp extends RequestListener {
  use(part: unknown): void;
  post(path: string, ...parts: unknown[]): void;
}

interface Guarded {
  readonly gatepost?: { decision: string; source: string };
}

withFramework("express", "Express: the middleware stops what must not sign up", async (t) => {
  const { default: made } = await framework("express");
  const create = made as { (): ExpressApp; json(): unknown; urlencoded(options: object): unknown };
  const { gatepost, asked } = gate();
  const app = create();
  app.use(create.urlencoded({ extended: false }));
  app.use(create.json());
  const done = (
    request: Guarded,
    response: { status(code: number): { send(text: string): void } },
  ) => response.status(201).send(tell(request.gatepost));
  app.post("/sign-up", express.guardSignUp(gatepost, { form: "join" }), done);
  const { url, close } = await httpPeer(app);
  t.after(close);
  for (const [form, status, body] of FORMS) {
    assert.deepEqual(await post(`${url}/sign-up`, form), [status, body], JSON.stringify(form));
  }
  assert.equal(asked[0]?.["form"], "join");
  for (const email of MALFORMED) {
    const body = JSON.stringify({ email, confirmed: "on" });
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${url}/sign-up`, { method: "POST", headers, body });
    assert.deepEqual([answer.status, await answer.json()], [422, MALFORMED_BODY]);
  }
  await fetch(`${url}/sign-up`, {
    method: "POST",
    headers: { "accept-language": "fr;q=0.4, pt-BR, en;q=0.8" },
    body: new URLSearchParams({ email: "good@x.example" }),
  });
  assert.equal(asked.at(-1)?.["language"], "pt-BR");
});

test("the language is the one that the browser likes best", () => {
  const rows: readonly (readonly [header: unknown, language: string | undefined])[] = [
    ["de-CH,de;q=0.9,en;q=0.8", "de-CH"],
    ["en;q=0.2, fr ; q=0.7", "fr"],
    ["*", undefined],
    ["*, nl;q=0.5", "nl"],
    ["de;q=0", undefined],
    ["de;q=x, it;q=0.1", "it"],
    ["", undefined],
    [undefined, undefined],
    [["de", "en"], undefined],
    [`x${"y".repeat(50)}, "><script>`, undefined],
  ];
  for (const [header, language] of rows) assert.equal(languageOf(header), language, String(header));
});

interface FastifyReplyLike {
  readonly code: (status: number) => FastifyReplyLike;
  readonly send: (body: unknown) => unknown;
}

interface FastifyApp {
  readonly addContentTypeParser: (
    type: string,
    options: object,
    parse: (request: unknown, text: string, done: (error: null, body: unknown) => void) => void,
  ) => void;
  readonly post: (
    path: string,
    options: object,
    handle: (request: Parameters<typeof decisionOf>[0], reply: FastifyReplyLike) => unknown,
  ) => void;
  readonly inject: (request: object) => Promise<{
    readonly statusCode: number;
    readonly body: string;
    readonly json: () => unknown;
  }>;
  readonly close: () => Promise<void>;
}

withFramework("fastify", "Fastify: the preHandler stops what must not sign up", async (t) => {
  const { gatepost, asked } = gate();
  const { fastify } = await framework("fastify");
  const app = (fastify as () => FastifyApp)();
  t.after(() => app.close());
  const parse = (text: string): unknown => Object.fromEntries(new URLSearchParams(text));
  app.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string" },
    (_, text, done) => done(null, parse(String(text))),
  );
  app.post("/sign-up", { preHandler: guardSignUp(gatepost) }, (request, reply) =>
    reply.code(201).send(tell(decisionOf(request))),
  );
  for (const [form, status, body] of FORMS) {
    const answer = await app.inject({
      method: "POST",
      url: "/sign-up",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      payload: new URLSearchParams(form).toString(),
    });
    assert.equal(answer.statusCode, status, JSON.stringify(form));
    assert.deepEqual(status === 422 ? answer.json() : answer.body, body, JSON.stringify(form));
  }
  for (const email of MALFORMED) {
    const payload = { email, confirmed: "on" };
    const answer = await app.inject({ method: "POST", url: "/sign-up", payload });
    assert.deepEqual([answer.statusCode, answer.json()], [422, MALFORMED_BODY]);
  }
  const headers = { "accept-language": "nl, en;q=0.5" };
  await app.inject({
    method: "POST",
    url: "/sign-up",
    headers,
    payload: { email: "good@x.example" },
  });
  assert.equal(asked.at(-1)?.["language"], "nl");
});

test("Next.js: a guarded server action gives the error to the form, or runs", async () => {
  const { gatepost } = gate();
  const formOf = (fields: Record<string, string>): FormData => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    return form;
  };
  const withState = guardAction(gatepost, (state: number, form: FormData) => ({
    made: form.get("email"),
    state,
  }));
  const plain = guardAction(gatepost, async (form: FormData) => Promise.resolve(form.get("email")));
  for (const [fields, status, body] of FORMS) {
    const made = fields["email"] ?? null;
    const form = formOf(fields);
    assert.deepEqual(await withState(7, form), status === 422 ? body : { made, state: 7 });
    assert.deepEqual(await plain(form), status === 422 ? body : made);
  }
  const file = new FormData();
  file.set("email", new Blob(["bad@x.example"]));
  assert.deepEqual(await plain(file), MALFORMED_BODY);
});

withFramework("better-auth", "better-auth: the plugin stops a user before it is made", async () => {
  const { betterAuth } = await framework("better-auth");
  const { memoryAdapter } = await framework("better-auth/adapters/memory");
  const plugins = await framework("better-auth/plugins");
  const made = plugins as Readonly<Record<string, (options?: object) => object>>;
  const tables: Record<
    "user" | "session" | "account" | "verification" | "walletAddress",
    { email?: string; id?: string }[]
  > = { user: [], session: [], account: [], verification: [], walletAddress: [] };
  const { gatepost, asked } = gate();
  let code = "";
  const mailed: string[] = [];
  let asksEmail = false;
  const nonce = "0123456789abcdef";
  const authFor = (options?: {
    readonly challenge: "reject";
  }): { handler(request: Request): Promise<Response> } =>
    (betterAuth as (options: object) => ReturnType<typeof authFor>)({
      baseURL: "http://127.0.0.1:3000",
      secret: "a secret of the test, which nothing else has",
      database: (memoryAdapter as (tables: object) => object)(tables),
      emailAndPassword: { enabled: true },
      user: { changeEmail: { enabled: true, updateEmailWithoutVerification: true } },
      rateLimit: { enabled: false },
      telemetry: { enabled: false },
      logger: { disabled: true },
      plugins: [
        gatepostPlugin(gatepost, options),
        made["magicLink"]?.({
          sendMagicLink: ({ email }: { email: string }) => void mailed.push(email),
        }),
        made["emailOTP"]?.({
          sendVerificationOTP: ({ email }: { email: string }) => void mailed.push(email),
        }),
        made["anonymous"]?.(),
        made["siwe"]?.({
          domain: "shop.example",
          anonymous: !asksEmail,
          emailDomainName: "bad.example",
          getNonce: () => Promise.resolve(nonce),
          verifyMessage: () => Promise.resolve(true),
        }),
        made["phoneNumber"]?.({
          sendOTP: (sent: { code: string }) => void (code = sent.code),
          signUpOnVerification: {
            getTempEmail: (phone: string) => `bad@${phone.slice(1)}.example`,
          },
        }),
      ],
    });
  let cookie = "";
  const post = async (
    path: string,
    body: object,
    auth = authFor(),
  ): Promise<readonly unknown[]> => {
    const answer = await auth.handler(
      new Request(`http://127.0.0.1:3000/api/auth${path}`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "accept-language": "de-AT, en;q=0.5",
          origin: "http://127.0.0.1:3000",
          cookie,
        },
        body: JSON.stringify(body),
      }),
    );
    cookie =
      answer.headers
        .getSetCookie()
        .map((each) => each.split(";")[0])
        .join("; ") || cookie;
    const { code, message } = (await answer.json()) as Record<string, unknown>;
    return [answer.status, code, message];
  };
  const signUp = (email: string, auth?: ReturnType<typeof authFor>): Promise<readonly unknown[]> =>
    post("/sign-up/email", { email, password: "correct horse battery", name: "Jo" }, auth);
  const bad = [422, "GATEPOST_DISPOSABLE", "Please use a permanent email address."];
  const typo = [422, "GATEPOST_TYPO", "Did you mean jo@gmail.com?"];
  const fine = [200, undefined, undefined];
  assert.deepEqual(await signUp("good@x.example"), fine);
  assert.deepEqual(await signUp("bad@x.example"), bad);
  assert.deepEqual(await signUp("typo@x.example", authFor({ challenge: "reject" })), typo);
  assert.deepEqual(await signUp("typo@x.example"), fine);
  assert.deepEqual(await signUp("away@x.example"), fine);
  const emails = tables.user.map(({ email }) => email);
  assert.deepEqual(emails, ["good@x.example", "typo@x.example", "away@x.example"]);
  const change = (newEmail: string): Promise<readonly unknown[]> =>
    post("/change-email", { newEmail });
  assert.deepEqual(await change("bad@x.example"), bad);
  assert.deepEqual((await change("good@other.example"))[0], 200);
  assert.ok(tables.user.some(({ email }) => email === "good@other.example"));

  const link = (email: unknown) => post("/sign-in/magic-link", { email });
  const otp = (email: unknown) =>
    post("/email-otp/send-verification-otp", { email, type: "sign-in" });
  assert.deepEqual(await link("bad@x.example"), bad);
  assert.deepEqual(await otp("bad@x.example"), bad);
  assert.equal((await link(["bad@x.example"]))[0], 400);
  assert.deepEqual(mailed, [], "no message goes to an address that is refused");
  tables.user.push({ ...tables.user[0], id: "old", email: "bad@old.example" });
  for (const send of [link, otp]) {
    assert.deepEqual(await send("good@z.example"), fine);
    assert.deepEqual(await send("bad@old.example"), fine, "who has an account signs in");
  }
  assert.deepEqual(mailed, ["good@z.example", "bad@old.example", "good@z.example", "bad@old.example"]); // prettier-ignore

  assert.equal(asked[0]?.["language"], "de-AT");
  const before = asked.length;
  cookie = "";
  assert.equal((await post("/sign-in/anonymous", {}))[0], 200);
  cookie = "";
  const phoneNumber = "+15550100";
  await post("/phone-number/send-otp", { phoneNumber });
  assert.equal((await post("/phone-number/verify", { phoneNumber, code }))[0], 200);
  const wallet = async (n: number, email?: string): Promise<readonly unknown[]> => {
    cookie = "";
    await post("/siwe/nonce", {});
    const message = `shop.example wants you to sign in with your Ethereum account:
0x${String(n).repeat(40)}

URI: https://shop.example
Version: 1
Chain ID: 1
Nonce: ${nonce}`;
    return post("/siwe/verify", { message, signature: "0x00", email });
  };
  assert.deepEqual(await wallet(1), fine);
  assert.equal(asked.length, before, "an address that better-auth made up is not asked about");
  asksEmail = true;
  assert.deepEqual(await wallet(2, "bad@x.example"), bad);
  assert.deepEqual(await wallet(3, "Good@x.example"), fine);
  cookie = "";
  const forged = { newEmail: "another@x.example", name: "Jo", password: "correct horse battery" };
  const email = "bad@x.placeholder.invalid";
  assert.deepEqual(await post("/sign-up/email", { ...forged, email }), bad);
});
