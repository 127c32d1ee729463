import { strict as assert } from "node:assert";
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { childEnvironment } from "../process/child-environment.ts";
import { type Planting, PLANTINGS } from "./newcomer-plants.ts";
import { temporaryFolder } from "../process/temporary-folder.ts";

/** Plants one of each kind of part in a copy of the sources, compiles the copy, and uses it as people do. */

const root = fileURLToPath(new URL("../../../", import.meta.url));
const copy = temporaryFolder();
const at = (path: string): string => join(copy, path);

const NEW_FILE_LINES_MAX = 80;
const COPIED = [
  "src",
  "feeds",
  "packages/light/src",
  "packages/mcp/src",
  "packages/widget",
  "tables",
  "scripts",
  "package.json",
  "tsconfig.base.json",
  "tsconfig.core.json",
];

function plant({ adds, lines }: Planting): void {
  for (const [path, text] of Object.entries(adds)) writeFileSync(at(path), text);
  for (const [path, place, line] of lines) {
    const text = readFileSync(at(path), "utf8");
    const found = place.exec(text);
    assert.ok(found, `${path}: the place for a line is gone: ${String(place)}`);
    writeFileSync(at(path), text.slice(0, found.index) + line + text.slice(found.index));
  }
}

function compile(project: string): { readonly isFine: boolean; readonly says: string } {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const run = spawnSync(process.execPath, [tsc, "-b", project], { cwd: copy, encoding: "utf8" });
  return { isFine: run.status === 0, says: run.stdout };
}

const environment = childEnvironment({
  NO_COLOR: "1",
  GATEPOST_DATA_DIR: at("data"),
  GATEPOST_LISTS_REFRESH: "off",
  GATEPOST_DNS_SERVERS: "127.0.0.1:9",
  GATEPOST_PLANTED: "seen",
  PORT: "0",
});
const PROGRAM = at("dist/src/main/gatepost.js");

const gatepost = (words: readonly string[], input = ""): string =>
  spawnSync(process.execPath, [PROGRAM, ...words], { env: environment, input, encoding: "utf8" })
    .stdout;

let server: ChildProcess | undefined;
let url = "";

async function serve(): Promise<void> {
  server = spawn(process.execPath, [PROGRAM, "serve"], {
    env: environment,
    stdio: ["ignore", "ignore", "pipe"],
  });
  for await (const line of createInterface({ input: server.stderr ?? assert.fail() })) {
    url = /listens on (\S+)/.exec(line)?.[1] ?? "";
    if (url !== "") return;
  }
}

before(async () => {
  for (const path of [...COPIED, "tsconfig.server.json"]) {
    cpSync(join(root, path), at(path), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), at("node_modules"));
  PLANTINGS.forEach(plant);
  execFileSync(process.execPath, [at("scripts/tables.mjs")]);
  const { isFine, says } = compile("tsconfig.server.json");
  assert.ok(isFine, says);
  execFileSync(process.execPath, [at("dist/src/main/pack-bundled.js")], { cwd: copy });
  await serve();
});

after(() => server?.kill());

for (const { task, adds, lines, docs, most } of PLANTINGS) {
  test(`${task} touches at most ${most.added} new files, ${most.lines} old ones and its docs`, () => {
    const touched = new Set(lines.map(([path]) => path));
    assert.ok(Object.keys(adds).length <= most.added);
    assert.ok(touched.size <= most.lines);
    for (const text of Object.values(adds)) {
      assert.ok(text.split("\n").length <= NEW_FILE_LINES_MAX);
    }
    for (const page of docs) assert.ok(readFileSync(join(root, page), "utf8").length > 0, page);
  });
}

const PASSWORD = "correct horse battery";
let account: { readonly api_key: string } | undefined;

/** An account on the plan with premium checks. */
function proAccount(): { readonly api_key: string } {
  const words = ["account", "create", "a@shop.example", "--tier", "pro"];
  const made = gatepost([...words, "--password-stdin", "--json"], `${PASSWORD}\n`);
  account ??= JSON.parse(made) as { readonly api_key: string };
  return account;
}

const ENTRY = "ann@planted.invalid";

async function json(path: string, init: RequestInit = {}): Promise<Record<string, unknown>> {
  return (await (await fetch(`${url}${path}`, init)).json()) as Record<string, unknown>;
}

test("the planted fields and the planted signal are in an answer of the API", async () => {
  const headers = { "x-api-key": proAccount().api_key };
  const result = await json(`/api/email/${ENTRY}/planted`, { headers });
  assert.equal(result["planted_field"], 7);
  assert.equal(result["planted_length"], "planted.invalid".length);
  assert.ok((result["signals"] as string[]).includes("planted_signal"));
});

test("the dashboard's check has the planted title and words", async () => {
  proAccount();
  const post = (path: string, body: object, cookie = ""): Promise<Response> =>
    fetch(`${url}/account/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: url, cookie },
      body: JSON.stringify(body),
    });
  const signedIn = await post("sign-in", { email: "a@shop.example", password: PASSWORD });
  const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
  const lines = await (await post("check", { entry: ENTRY, features: ["all"] }, cookie)).text();
  const full = JSON.parse(lines.trim().split("\n").at(-1) ?? "") as { advice: { check: string }[] };
  const piece = full.advice.find(({ check }) => check === "planted");
  const [title, says] = ["A planted title", "Planted: 7."];
  assert.deepEqual(piece, { check: "planted", title, state: "good", says });
});

test("the command line names the planted check, its words, its field and the planted command", () => {
  assert.match(gatepost(["check", "--help"]), /planted/);
  assert.match(gatepost(["check", "--features", "all", ENTRY]), /planted +Planted: 7\./);
  assert.match(gatepost(["check", "--features", "planted", "--json", ENTRY]), /"planted_field":7/);
  assert.match(gatepost(["--help"]), /planted +a planted command/);
  assert.equal(gatepost(["planted"]), "Planted.\n");
});

test("the OpenAPI document has the planted field, feature, signal and route", async () => {
  const document = JSON.stringify(await json("/openapi.json"));
  assert.match(document, /"planted_field":\{"type":"integer","description":"A planted number\./);
  assert.match(document, /"planted_length":\{"type":"integer","description":"Of the domain\."/);
  assert.match(document, /`planted`: A planted check\./);
  assert.match(document, /`planted_signal` \(0\.00\): A planted note\./);
  assert.match(document, /"\/api\/planted"/);
});

test("the planted field of the decision is in its answer", async () => {
  const headers = { "x-api-key": proAccount().api_key, "content-type": "application/json" };
  const body = JSON.stringify({ email: ENTRY });
  const { planted_seen } = await json("/api/decide", { method: "POST", headers, body });
  assert.equal(planted_seen, true);
});

test("the planted route answers with the planted setting", async () => {
  assert.deepEqual(await json("/api/planted"), { words: "seen" });
});

test("the planted feed is among the feeds", () => {
  assert.match(gatepost(["lists", "status"]), /planted/);
});

const MEMBERS = ["title", "about", "questions", "advise"] as const;

test("a check without one of its members does not compile, and the compiler names the member", () => {
  const text = readFileSync(at("src/core/checks/planted.ts"), "utf8");
  const fileOf = (member: string): string => `src/core/checks/planted-without-${member}.ts`;
  for (const member of MEMBERS) {
    const lacking = text.replace(new RegExp(`^  ${member}: [^]*?,\\n(?=  \\w|\\};)`, "m"), "");
    writeFileSync(at(fileOf(member)), lacking);
  }
  const { isFine, says } = compile("tsconfig.core.json");
  for (const member of MEMBERS) rmSync(at(fileOf(member)));
  assert.ok(!isFine);
  for (const member of MEMBERS) {
    const own = says.split("\n").filter((line) => line.includes(fileOf(member)));
    assert.match(own.join("\n"), new RegExp(`'${member}' is missing`));
  }
});
