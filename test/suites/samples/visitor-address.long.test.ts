// The table of docs/guides/crowds.md in the real frameworks: whose address they see, behind one proxy and without.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { promisify } from "node:util";
import { readDocument, tableUnder } from "../../guards/docs-tables.ts";
import { hasTool, testWith } from "../../process/require-tool.ts";
import { temporaryFolder } from "../../process/temporary-folder.ts";
import { FRAMEWORKS, PYTHON, worksIn } from "./guide-tools.ts";

const run = promisify(execFile);

/** What a visitor claims, what the proxy saw, and the proxy's own address. */
const CLAIMED = "203.0.113.9";
const VISITOR = "192.0.2.1";
const PROXY = "127.0.0.1";
const FORWARDED = `${CLAIMED}, ${VISITOR}`;

/** Name of the framework -> code of its two other cells: the address behind a proxy, that without where it differs; the setting. */
const ROWS = new Map(
  tableUnder(readDocument("docs/guides/crowds.md"), "## The visitor's address").map(
    ([name = "", ...cells]) =>
      [
        name,
        cells.map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code)),
      ] as const,
  ),
);

interface Framework {
  readonly program: string;
  readonly missing: () => readonly string[];
  readonly file: string;
  /** Who asks without a proxy, where the framework trusts its own machine unasked. */
  readonly direct?: string;
  /** Prints the address of a request of this peer; `proxy` is empty where there is none, and both addresses are claims. */
  readonly code: (address: string, proxy: string, peer: string) => string;
}

const inNode = (name: string): Pick<Framework, "program" | "missing" | "file"> => ({
  program: "node",
  missing: () => (existsSync(join(FRAMEWORKS, name)) ? [] : [name]),
  file: "see.mjs",
});
const inPython = (module: string): Pick<Framework, "program" | "missing" | "file"> => ({
  program: PYTHON,
  missing: () => (worksIn(PYTHON, `import ${module}`, "-c") ? [] : [`python3-${module}`]),
  file: "see.py",
});

const SEES: Readonly<Record<string, Framework>> = {
  Express: {
    ...inNode("express"),
    code: (address, proxy) => `import express from "express";
const app = express();
${proxy};
app.get("/", (request, response) => void response.send(${address}));
const server = app.listen(0, "${PROXY}", async () => {
  const headers = { "x-forwarded-for": "${FORWARDED}" };
  const answer = await fetch(\`http://${PROXY}:\${server.address().port}/\`, { headers });
  process.stdout.write(await answer.text(), () => process.exit());
});`,
  },
  Fastify: {
    ...inNode("fastify"),
    code: (address, proxy) => `import Fastify from "fastify";
const app = ${proxy.replace("PROXY", PROXY) || "Fastify()"};
app.get("/", async (request) => ${address});
const url = await app.listen({ port: 0, host: "${PROXY}" });
const answer = await fetch(url, { headers: { "x-forwarded-for": "${FORWARDED}" } });
process.stdout.write(await answer.text(), () => process.exit());`,
  },
  Laravel: {
    program: "php",
    missing: () =>
      worksIn("php", "require 'Illuminate/autoload.php';", "-r") ? [] : ["php-laravel-framework"],
    file: "see.php",
    code: (address, proxy) => `<?php
require 'Illuminate/autoload.php';
Illuminate\\Container\\Container::getInstance()->instance('config', new Illuminate\\Config\\Repository);
class Trusts extends Illuminate\\Http\\Middleware\\${proxy || "TrustProxies"} { protected $proxies = ${proxy ? `'${PROXY}'` : "null"}; }
$server = ['REMOTE_ADDR' => '${PROXY}', 'HTTP_X_FORWARDED_FOR' => '${FORWARDED}'];
$request = Illuminate\\Http\\Request::create('/', 'GET', [], [], [], $server);
(new Trusts)->handle($request, function ($request) { echo ${address}; });`,
  },
  Rails: {
    program: "ruby",
    missing: () => (worksIn("ruby", 'require "action_dispatch"', "-e") ? [] : ["ruby-actionpack"]),
    file: "see.rb",
    direct: "198.51.100.7",
    code: (address, proxy, peer) => `require "ipaddr"
require "action_dispatch"
Config = Struct.new(:action_dispatch)
config = Config.new(Struct.new(:trusted_proxies).new)
${proxy && `${proxy} = ["${PROXY}"].map { |each| IPAddr.new(each) }`}
app = ActionDispatch::RemoteIp.new(->(env) { request = ActionDispatch::Request.new(env); print ${address} }, true, config.action_dispatch.trusted_proxies)
app.call(Rack::MockRequest.env_for("/", "REMOTE_ADDR" => "${peer}", "HTTP_X_FORWARDED_FOR" => "${FORWARDED}"))`,
  },
  Flask: {
    ...inPython("flask"),
    code: (address, proxy) => `from flask import Flask, request
from werkzeug.middleware.proxy_fix import ProxyFix
app = Flask(__name__)
${proxy && `app.wsgi_app = ${proxy}`}
app.get("/")(lambda: ${address})
print(app.test_client().get("/", environ_base={"REMOTE_ADDR": "${PROXY}"}, headers={"X-Forwarded-For": "${FORWARDED}"}).text, end="")`,
  },
  FastAPI: {
    ...inPython("fastapi"),
    direct: "127.0.0.2",
    code: (address, proxy, peer) => `import http.client, threading, time
import uvicorn
from fastapi import FastAPI, Request
app = FastAPI()
@app.get("/")
def see(request: Request):
    return ${address}
told = {}
words = "${proxy}".replace("PROXY", "${PROXY}").split()[1:]
told = uvicorn.main.make_context("uvicorn", words + ["see:app", "--port", "0", "--log-level", "critical"]).params
config = uvicorn.Config(app, port=0, log_level="critical", proxy_headers=told["proxy_headers"], forwarded_allow_ips=told["forwarded_allow_ips"])
server = uvicorn.Server(config)
threading.Thread(target=server.run, daemon=True).start()
while not server.started:
    time.sleep(0.01)
port = server.servers[0].sockets[0].getsockname()[1]
asking = http.client.HTTPConnection("${PROXY}", port, source_address=("${peer}", 0))
asking.request("GET", "/", headers={"X-Forwarded-For": "${FORWARDED}"})
print(asking.getresponse().read().decode().strip('"'), end="")`,
  },
};

/** `guides.long.test.ts` runs their own blocks with a claim; PHP has nothing of its own that reads a header. */
const ELSEWHERE = ["Next.js", "Django", "PHP"];

suite("the visitor's address of docs/guides/crowds.md", () => {
  const folder = temporaryFolder();

  test("each framework of the table is tried", () => {
    assert.deepEqual([...ROWS.keys()].sort(), [...Object.keys(SEES), ...ELSEWHERE].sort());
  });

  for (const [name, { program, missing, file, code, direct = PROXY }] of Object.entries(SEES)) {
    const lacking = hasTool(program) ? missing() : [program];
    testWith(["the framework"], lacking, name, async () => {
      const place = join(folder, name);
      mkdirSync(place);
      symlinkSync(FRAMEWORKS, join(place, "node_modules"));
      const [[behind = "", alone = behind] = [], [proxy = ""] = []] = ROWS.get(name) ?? [];
      const seen = async (...words: Parameters<Framework["code"]>): Promise<string> => {
        writeFileSync(join(place, file), code(...words));
        return (await run(program, [join(place, file)], { cwd: place, timeout: 240_000 })).stdout;
      };
      assert.equal(await seen(behind, proxy, PROXY), VISITOR, "behind one proxy");
      assert.equal(
        await seen(alone, "", direct),
        direct,
        "without a proxy nobody chooses an address",
      );
    });
  }
});
