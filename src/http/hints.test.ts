import { strict as assert } from "node:assert";
import { test } from "node:test";
import { inject, type InjectOptions } from "../../test/http/inject.ts";
import { gateWorld } from "../../test/policy/gate-world.ts";
import { appDeps } from "../../test/http/http-app.ts";
import { buildApp } from "./app.ts";
import { isSeveral } from "./params.ts";

const FORM = { "content-type": "application/x-www-form-urlencoded" };
const JSON_BODY = '{"email":"jo@good.example"}';
const JSON_SAID = /^The body looks like JSON; send it with Content-Type: application\/json\.$/;
const SEVERAL = /^One entry is checked; send bulk=1 to check several\.$/;

const posted = (payload: string | object, headers = FORM): InjectOptions => ({
  method: "POST",
  url: "/api/email",
  payload,
  ...(typeof payload === "string" && { headers }),
});

const HINTS: readonly (readonly [string, InjectOptions | string, number, RegExp | undefined])[] = [
  ["nothing odd", posted({ email: "jo@good.example" }), 200, undefined],
  ["a form", posted("email=jo%40good.example&features=mx"), 200, undefined],
  ["JSON sent as a form", posted(JSON_BODY), 400, JSON_SAID],
  [
    "a near name",
    posted({ emial: "jo@good.example" }),
    400,
    /^Unknown parameter emial; did you mean email\.$/,
  ],
  [
    "a near name of a form",
    posted("emails%5B%5D=a&emails[]=jo@good.example"),
    400,
    /^Unknown parameter emails; did you mean email\.$/,
  ],
  [
    "a name of the query",
    "/api/email/jo@good.example?feature=mx",
    200,
    /^Unknown parameter feature; did you mean features\.$/,
  ],
  ["an entirely other name", "/api/email/jo@good.example?zzz=1", 200, /^Unknown parameter zzz\.$/],
  [
    "many names",
    "/api/email/jo@good.example?za=1&zb=2&zc=3&zd=4",
    200,
    /^Unknown parameter za\. Unknown parameter zb\. Unknown parameter zc\.$/,
  ],
  [
    "names that no header holds",
    "/api/email/jo@good.example?%0d%0aSet-Cookie:x=1&jo@x=2&__proto__=3",
    200,
    undefined,
  ],
  [
    "a key where a name stands",
    `/api/email/jo@good.example?gp_live_${"a".repeat(40)}`,
    200,
    undefined,
  ],
  ["several addresses", posted({ email: "jo@good.example, al@good.example" }), 200, SEVERAL],
  ["several addresses of a path", "/api/email/jo@good.example;al@good.example", 200, SEVERAL],
  [
    "an array of addresses",
    posted({ email: ["jo@good.example", "al@good.example"] }),
    200,
    SEVERAL,
  ],
];

for (const [name, asked, status, hint] of HINTS) {
  test(`a check's hint: ${name}`, async () => {
    const { statusCode, headers } = await inject(buildApp(appDeps()), asked);
    const said = headers["gatepost-notice"];
    assert.equal(statusCode, status);
    if (hint === undefined) assert.equal(said, undefined);
    else assert.match(String(said), hint);
  });
}

const DECISIONS: readonly (readonly [string, object, RegExp | undefined])[] = [
  ["an old name", { deadline: 500 }, /^Unknown parameter deadline; did you mean deadline_ms\.$/],
  ["a name in capitals", { deadlineMs: 500 }, /did you mean deadline_ms/],
  ["several addresses", { email: "jo@good.example,al@good.example" }, undefined],
  ["an array of addresses", { email: ["jo@good.example", "al@good.example"] }, undefined],
  ["a quoted comma", { email: '"jo,al@x"@good.example' }, undefined],
];

for (const [name, more, hint] of DECISIONS) {
  test(`a decision's hint: ${name}`, async (t) => {
    const { app } = await gateWorld(t);
    const payload = { email: "jo@good.example", ...more };
    const answer = await inject(app, { method: "POST", url: "/api/decide", payload });
    assert.equal(answer.statusCode, 200, answer.body);
    if (hint === undefined) assert.equal(answer.headers["gatepost-notice"], undefined);
    else assert.match(String(answer.headers["gatepost-notice"]), hint);
  });
}

for (const text of ["a@x,b@y", "a@x b@y", " a@x;\tb@y ;", "a@x\nb@y", "a@x,b@y,c@z"]) {
  test(`${JSON.stringify(text)} is several addresses`, () => assert.equal(isSeveral(text), true));
}

for (const text of [
  "a@x",
  "a@x,",
  "Jo Doe <a@x>",
  "a@b@c",
  "jo doe@x",
  '"a@x, b@y"@z',
  "a@x,an",
  "",
]) {
  test(`${JSON.stringify(text)} is not several addresses`, () =>
    assert.equal(isSeveral(text), false));
}
