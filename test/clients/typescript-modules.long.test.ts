import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { before, suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { testWith } from "../process/require-tool.ts";
import { temporaryFolder } from "../process/temporary-folder.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const COMPILER = join(ROOT, "node_modules/typescript/bin/tsc");
/** The last one that knows the resolution of before `exports`, "node10". */
const OLD_COMPILER = join(ROOT, "clients/typescript/frameworks/node_modules/typescript-5/bin/tsc");

/** What the application is, as its tsconfig says. */
const MODES: readonly {
  readonly name: string;
  readonly file: "main.ts" | "main.mts" | "main.cts";
  readonly type?: "module";
  readonly options: Readonly<Record<string, string>>;
  readonly compiler?: string;
}[] = [
  { name: "commonjs", file: "main.ts", options: { module: "commonjs" } },
  {
    name: "commonjs, node10",
    file: "main.ts",
    options: { module: "commonjs", moduleResolution: "node10" },
    compiler: OLD_COMPILER,
  },
  { name: "node16, required", file: "main.cts", options: { module: "node16" } },
  { name: "node16, imported", file: "main.mts", options: { module: "node16" } },
  { name: "nodenext, required", file: "main.ts", options: { module: "nodenext" } },
  { name: "nodenext, imported", file: "main.ts", type: "module", options: { module: "nodenext" } },
  {
    name: "bundler",
    file: "main.ts",
    type: "module",
    options: { module: "esnext", moduleResolution: "bundler" },
  },
];

/** Uses a value and a type of every part; prints what a stopped sign-up gets. */
const PROGRAM = `import { createGatepost, type Decision } from "gatepost-client";
import { guardSignUp } from "gatepost-client/express";
import { guardSignUp as guardFastify } from "gatepost-client/fastify";
import { guardAction } from "gatepost-client/next";
import { gatepostPlugin } from "gatepost-client/better-auth";

const answered: typeof fetch = () => Promise.resolve(Response.json({
  decision: "reject", reason: "disposable", complete: true, policy: { name: "default", version: 1 } }));
const gatepost = createGatepost({ url: "https://gatepost.example", fetch: answered });
const parts: readonly unknown[] = [guardFastify(gatepost), guardAction(gatepost, () => 1), gatepostPlugin(gatepost)];
void gatepost.decide("jo@mailinator.com").then((decision: Decision) => {
  const body = { email: "jo@mailinator.com" };
  const response = { status: (code: number) => ({ json: (stop: unknown) =>
    console.log(JSON.stringify([decision.decision, code, stop, parts.length])) }) };
  return guardSignUp(gatepost)({ body }, response, () => undefined);
});
`;

const EXPECTED = [
  "reject",
  422,
  { error: "Please use another email address.", decision: "reject", reason: "disposable" },
  3,
];

suite("the packed TypeScript client in every kind of project", () => {
  let unpacked = "";
  let checkout = "";

  before(() => {
    // From a copy, so that what another suite packs at the same time is not disturbed.
    const copy = temporaryFolder();
    const client = join(copy, "clients/typescript");
    mkdirSync(client, { recursive: true });
    for (const file of ["tsconfig.base.json", "tsconfig.client.json"]) {
      copyFileSync(join(ROOT, file), join(copy, file));
    }
    for (const file of ["package.json", "tsconfig.json", "tsconfig.cjs.json", "src"]) {
      cpSync(join(ROOT, "clients/typescript", file), join(client, file), { recursive: true });
    }
    const PATH = [dirname(COMPILER), process.env["PATH"]].join(delimiter);
    const run = (program: string, ...words: readonly string[]): string =>
      execFileSync(program, words, {
        cwd: client,
        env: { ...process.env, PATH },
        encoding: "utf8",
      });
    run("tar", "-xzf", run("npm", "pack", "--silent").trim());
    unpacked = join(client, "package");
    checkout = client;
  });

  test("`npm install` of the folder of a checkout that is built gives the client", () => {
    const place = temporaryFolder();
    writeFileSync(join(place, "package.json"), '{"type":"module"}');
    const run = (program: string, ...words: readonly string[]): string =>
      execFileSync(program, words, { cwd: place, encoding: "utf8" });
    run("npm", "install", "--offline", "--no-audit", "--no-fund", checkout);
    const code = `import { createGatepost } from "gatepost-client";
      import { guardSignUp } from "gatepost-client/express";
      const gatepost = createGatepost({ url: "http://127.0.0.1:9" });
      console.log(typeof guardSignUp(gatepost), (await gatepost.decide("jo@x.example")).source);`;
    assert.equal(run(process.execPath, "--input-type=module", "-e", code), "function away\n");
  });

  for (const { name, file, type, options, compiler = COMPILER } of MODES) {
    const missing = existsSync(compiler) ? [] : ["npm ci in clients/typescript/frameworks"];
    testWith(["TypeScript 5"], missing, `it compiles and runs: ${name}`, () => {
      const place = temporaryFolder();
      cpSync(unpacked, join(place, "node_modules/gatepost-client"), { recursive: true });
      writeFileSync(join(place, "package.json"), JSON.stringify(type ? { type } : {}));
      writeFileSync(join(place, file), PROGRAM);
      const compilerOptions = {
        target: "es2022",
        lib: ["es2022", "dom", "dom.iterable"],
        types: [],
        strict: true,
        ...options,
      };
      writeFileSync(
        join(place, "tsconfig.json"),
        JSON.stringify({ compilerOptions, files: [file] }),
      );
      const run = (...words: readonly string[]): string =>
        execFileSync(process.execPath, words, { cwd: place, encoding: "utf8" });
      run(compiler, "-p", ".");
      assert.deepEqual(JSON.parse(run(file.replace("ts", "js"))), EXPECTED);
      return Promise.resolve();
    });
  }
});
