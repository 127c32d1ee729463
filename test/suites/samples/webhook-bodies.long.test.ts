import { strict as assert } from "node:assert";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "node:test";
import { fileURLToPath } from "node:url";
import { hasTool, testWith } from "../../process/require-tool.ts";
import { temporaryFolder } from "../../process/temporary-folder.ts";
import { sign } from "../../../src/webhooks/verify.ts";
import { pageBlocks } from "./guide-blocks.ts";
import { compileTypeScript } from "./samples.ts";

const PAGE = "docs/webhooks.md";
const FRAMEWORKS = fileURLToPath(
  new URL("../../../../clients/typescript/frameworks/node_modules", import.meta.url),
);
const SECRET = "0123456789abcdef".repeat(4);

/** JSON that a parser would not give back as it came, and what each request is answered. */
const BODY = '{ "event":"test.ping",\n  "data":{"a":1.0,"b":"ünï"} }\n';
const SIGNED = sign(SECRET, new TextEncoder().encode(BODY));
const CASES = [
  { body: BODY, signature: SIGNED, status: 204 },
  { body: JSON.stringify(JSON.parse(BODY)), signature: SIGNED, status: 401 },
  {
    body: BODY,
    signature: SIGNED.replace(/^./, (digit) => (digit === "0" ? "1" : "0")),
    status: 401,
  },
  { body: BODY, signature: null, status: 401 },
];

/** Sends the cases to a running server, or gives them to `post`. */
const ASK = `import { readFileSync } from "node:fs";
const said = [];
async function askAll(post) {
  for (const { body, signature } of JSON.parse(readFileSync("cases.json", "utf8"))) {
    const headers = { "content-type": "application/json", ...(signature && { "x-service-signature": signature }) };
    said.push((await post({ method: "POST", headers, body })).status);
  }
  process.stdout.write(JSON.stringify(said), () => process.exit());
}`;

interface Framework {
  readonly program: string;
  readonly missing: () => readonly string[];
  readonly fence: string;
  /** Which of the page's blocks in this language. */
  readonly at: number;
  readonly verify: readonly [fence: string, file: string];
  readonly file: string;
  readonly driver: (block: string) => string;
}

const needs = (name: string, isHere: boolean): readonly string[] => (isHere ? [] : [name]);
const worksIn = (program: string, flag: string, code: string): boolean =>
  spawnSync(program, [flag, code], { stdio: "ignore" }).status === 0;
const PYTHON =
  ["python3", "/usr/bin/python3"].find((each) => worksIn(each, "-c", "import django, flask")) ??
  "python3";
const NODE = {
  program: "node",
  fence: "js",
  verify: ["typescript", "verify.mts"],
  file: "driver.mjs",
} as const;
const inNode = (name: string) => (): readonly string[] =>
  needs(`${name} (npm ci in clients/typescript/frameworks)`, existsSync(join(FRAMEWORKS, name)));
const ofPython = (name: string) => (): readonly string[] =>
  needs(`python3-${name}`, worksIn(PYTHON, "-c", `import ${name}`));
const IN_PYTHON = {
  program: PYTHON,
  fence: "py",
  verify: ["python", "verify.py"],
  file: "driver.py",
} as const;

const ALL: Readonly<Record<string, Framework>> = {
  express: {
    ...NODE,
    at: 0,
    missing: inNode("express"),
    driver: (block) => `${ASK}
import express from "express";
const app = express();
${block}
app.use(express.json());
const server = app.listen(0, "127.0.0.1", () =>
  askAll((request) => fetch(\`http://127.0.0.1:\${server.address().port}/gatepost\`, request)));`,
  },
  fastify: {
    ...NODE,
    at: 1,
    missing: inNode("fastify"),
    driver: (block) => `${ASK}
import fastify from "fastify";
const app = fastify();
${block}
const url = await app.listen({ port: 0, host: "127.0.0.1" });
await askAll((request) => fetch(url + "/gatepost", request));`,
  },
  next: {
    ...NODE,
    at: 2,
    missing: () => [],
    driver: (block) => `${ASK}
${block}
await askAll((request) => POST(new Request("http://shop.example/gatepost", request)));`,
  },
  django: {
    ...IN_PYTHON,
    at: 0,
    missing: ofPython("django"),
    driver: (block) => `import django
from django.conf import settings
settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], MIDDLEWARE=["django.middleware.csrf.CsrfViewMiddleware"])
django.setup()
${block}
import json
from django.test import Client
from django.urls import path
urlpatterns = [path("gatepost", gatepost)]
client = Client(enforce_csrf_checks=True)
said = []
for case in json.load(open("cases.json", encoding="utf-8")):
    headers = {"HTTP_X_SERVICE_SIGNATURE": case["signature"]} if case["signature"] else {}
    said.append(client.post("/gatepost", case["body"].encode(), content_type="application/json", **headers).status_code)
print(json.dumps(said))`,
  },
  flask: {
    ...IN_PYTHON,
    at: 1,
    missing: ofPython("flask"),
    driver: (block) => `import flask, json
app = flask.Flask(__name__)
${block}
client = app.test_client()
said = []
for case in json.load(open("cases.json", encoding="utf-8")):
    headers = {"X-Service-Signature": case["signature"]} if case["signature"] else {}
    said.append(client.post("/gatepost", data=case["body"].encode(), content_type="application/json", headers=headers).status_code)
print(json.dumps(said))`,
  },
  laravel: {
    program: "php",
    fence: "php",
    at: 0,
    verify: ["php", "verify.php"],
    file: "driver.php",
    missing: () =>
      needs("php-laravel-framework", worksIn("php", "-r", "require 'Illuminate/autoload.php';")),
    driver: (block) => `<?php
require 'Illuminate/autoload.php';
eval(file_get_contents(__DIR__ . '/verify.php'));
$app = new Illuminate\\Container\\Container;
Illuminate\\Container\\Container::setInstance($app);
Illuminate\\Support\\Facades\\Facade::setFacadeApplication($app);
class_alias(Illuminate\\Support\\Facades\\Route::class, 'Route');
$app['config'] = new Illuminate\\Config\\Repository(['services' => ['gatepost' => ['webhook' => getenv('GATEPOST_WEBHOOK_SECRET')]]]);
$app['router'] = new Illuminate\\Routing\\Router(new Illuminate\\Events\\Dispatcher($app), $app);
$app->instance(Illuminate\\Contracts\\Routing\\ResponseFactory::class, new class {
    public function make($content, $status) { return new Illuminate\\Http\\Response($content, $status); }
});
${block}
$said = [];
foreach (json_decode(file_get_contents('cases.json'), true) as $case) {
    $headers = ['CONTENT_TYPE' => 'application/json'] + ($case['signature'] ? ['HTTP_X_SERVICE_SIGNATURE' => $case['signature']] : []);
    $request = Illuminate\\Http\\Request::create('/gatepost', 'POST', [], [], [], $headers, $case['body']);
    $app->instance(Illuminate\\Http\\Request::class, $request);
    $said[] = $app['router']->dispatch($request)->getStatusCode();
}
echo json_encode($said);`,
  },
  rails: {
    program: "ruby",
    fence: "rb",
    at: 0,
    verify: ["ruby", "verify.rb"],
    file: "driver.rb",
    missing: () => needs("ruby-actionpack", worksIn("ruby", "-e", 'require "action_controller"')),
    driver: (block) => `require "action_controller"
require "json"
require_relative "verify"
${block}
said = JSON.parse(File.read("cases.json", encoding: "utf-8")).map do |each|
  headers = each["signature"] ? { "HTTP_X_SERVICE_SIGNATURE" => each["signature"] } : {}
  env = Rack::MockRequest.env_for("/gatepost", method: "POST", input: each["body"], "CONTENT_TYPE" => "application/json", **headers)
  GatepostController.action(:create).call(env).first
end
puts JSON.generate(said)`,
  },
};

suite("the raw body of a webhook, as docs/webhooks.md takes it in each framework", () => {
  const folder = temporaryFolder();

  for (const [name, framework] of Object.entries(ALL)) {
    const { program, fence, at, verify, file, driver } = framework;
    const missing = hasTool(program) ? framework.missing() : [program];
    testWith(["the framework"], missing, name, async () => {
      const place = mkdtempSync(join(folder, name));
      const [sample = ""] = pageBlocks(PAGE, verify[0], "## Verify a signature");
      writeFileSync(join(place, verify[1]), sample);
      if (verify[1] === "verify.mts") await compileTypeScript(place, "verify.mts", place);
      if (existsSync(FRAMEWORKS)) symlinkSync(FRAMEWORKS, join(place, "node_modules"));
      const block = pageBlocks(PAGE, fence, "## The raw body")[at] ?? assert.fail("no block");
      writeFileSync(join(place, file), driver(block));
      writeFileSync(join(place, "cases.json"), JSON.stringify(CASES));
      const env = { ...process.env, GATEPOST_WEBHOOK_SECRET: SECRET };
      const out = execFileSync(program, [file], { cwd: place, env, encoding: "utf8" });
      assert.deepEqual(
        JSON.parse(out),
        CASES.map(({ status }) => status),
      );
    });
  }
});
