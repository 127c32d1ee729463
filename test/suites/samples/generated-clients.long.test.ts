import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { delimiter, join } from "node:path";
import { after, suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { childEnvironment } from "../../process/child-environment.ts";
import { createAccount, serviceWorld } from "../../e2e/service-world.ts";
import { hasTool, testWith } from "../../process/require-tool.ts";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const GENERATORS = join(ROOT, "test/compat-clients/node_modules");
/** Of which `python-packages` has compiled parts. */
const PYTHON = "/usr/bin/python3";
const PYTHON_PACKAGES = join(ROOT, "test/compat-clients/python-packages");
const JAR = join(PYTHON_PACKAGES, "openapi_generator_cli/openapi-generator.jar");
const FIXTURES = join(ROOT, "test/fixtures/clients");
/** Inside the project, so that the client finds its runtime. */
const FOLDER = join(ROOT, "dist/generated-client");

interface Operation {
  readonly operationId: string;
}

suite("clients generated from /openapi.json call every operation of a real server", () => {
  let key = "";
  let document = "";
  const world = serviceWorld({
    async begin({ home, service }) {
      key = createAccount(home, "a@x.example", ["--admin"]).api_key;
      document = (await service.get("/openapi.json")).body;
    },
  });

  after(() => rmSync(FOLDER, { recursive: true, force: true }));

  const operationIds = (): readonly string[] => {
    const { paths } = JSON.parse(document) as {
      paths: Record<string, Record<string, Operation>>;
    };
    return Object.values(paths)
      .flatMap((item) => Object.values(item))
      .map(({ operationId }) => operationId)
      .sort();
  };

  const newSession = async (): Promise<string> => {
    const { body } = await world.service.post("/api/email", "bulk=1&email=jo@good.example,x", {
      "x-api-key": key,
    });
    return (JSON.parse(body) as { session: string }).session;
  };

  const assertAllFine = (out: string): void => {
    const statuses = JSON.parse(out) as Record<string, number>;
    assert.deepEqual(Object.keys(statuses).sort(), operationIds());
    assert.deepEqual(
      Object.entries(statuses).filter(([, status]) => status !== 200),
      [],
    );
  };

  test("TypeScript, compiled strictly", async () => {
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(join(FOLDER, "openapi.json"), document);
    writeFileSync(join(FOLDER, "package.json"), '{"type":"module"}');
    copyFileSync(join(FIXTURES, "use-client.ts.txt"), join(FOLDER, "use-client.ts"));
    const generator = join(ROOT, "node_modules/oazapfts/dist/cli.js");
    await run(process.execPath, [generator, "openapi.json", "client.ts"], { cwd: FOLDER });
    const strict = [
      "--strict",
      "--noUncheckedIndexedAccess",
      "--skipLibCheck",
      "--types",
      "node",
      "--ignoreConfig",
    ];
    const modules = ["--target", "es2022", "--module", "nodenext", "--outDir", "out"];
    const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
    const words = [compiler, ...strict, ...modules, "use-client.ts"];
    await run(process.execPath, words, { cwd: FOLDER }).catch((error: { stdout?: string }) => {
      throw new Error(error.stdout ?? "the client does not compile");
    });
    const { stdout } = await run(
      process.execPath,
      ["out/use-client.js", world.service.url, key, await newSession()],
      { cwd: FOLDER },
    );
    assertAllFine(stdout);
  });

  /** What the same calls give with every client that has types. */
  const TYPED = {
    decision: "reject",
    meant: "jo@gmail.com",
    unique: 2,
    viewed: 2,
    recorded: true,
    isRefused: true,
  };

  const compiled = async (use: string, modules: "commonjs" | "nodenext"): Promise<string> => {
    copyFileSync(join(FIXTURES, `${use}.txt`), join(FOLDER, use));
    // What names its modules without an ending is read as bundlers do.
    const type = modules === "commonjs" ? "commonjs" : "module";
    writeFileSync(join(FOLDER, "package.json"), JSON.stringify({ type }));
    const compiler = join(GENERATORS, "typescript/bin/tsc");
    const flags = ["--strict", "--skipLibCheck", "--target", "es2022", "--outDir", "out"];
    const words = [use, ...flags, "--module", modules, "--lib", "es2022,dom,dom.iterable"];
    await run(process.execPath, [compiler, ...words], { cwd: FOLDER }).catch(
      (error: { stdout?: string }) => {
        throw new Error(error.stdout ?? "the client does not compile");
      },
    );
    const program = join("out", use.replace(/\.ts$/, ".js"));
    return (await run(process.execPath, [program, world.service.url, key], { cwd: FOLDER })).stdout;
  };

  const emptyFolder = (): void => {
    rmSync(FOLDER, { recursive: true, force: true });
    mkdirSync(FOLDER, { recursive: true });
    symlinkSync(GENERATORS, join(FOLDER, "node_modules"));
    writeFileSync(join(FOLDER, "openapi.json"), document);
  };
  const missing = existsSync(join(GENERATORS, "orval"))
    ? []
    : ["npm ci --prefix test/compat-clients"];

  const GENERATED = [
    {
      name: "openapi-typescript with openapi-fetch",
      words: "openapi-typescript/bin/cli.js openapi.json -o types.ts",
      use: "use-openapi-fetch.ts",
      modules: "nodenext",
    },
    {
      name: "@hey-api/openapi-ts",
      words: "@hey-api/openapi-ts/bin/run.js -i openapi.json -o client",
      use: "use-hey-api.ts",
      modules: "commonjs",
    },
    {
      name: "orval",
      words: "orval/dist/bin/orval.mjs --input openapi.json --output client.ts --client fetch",
      use: "use-orval.ts",
      modules: "nodenext",
    },
    {
      name: "openapi-typescript-codegen",
      words: "openapi-typescript-codegen/bin/index.js --input openapi.json --output client",
      use: "use-typescript-codegen.ts",
      modules: "commonjs",
    },
  ] as const;

  for (const { name, words, use, modules } of GENERATED) {
    testWith(["generators of clients"], missing, name, async () => {
      emptyFolder();
      const [program = "", ...more] = words.split(" ");
      await run(process.execPath, [join(GENERATORS, program), ...more], { cwd: FOLDER });
      assert.deepEqual(JSON.parse(await compiled(use, modules)), TYPED);
    });
  }

  const withJava = [
    ...missing,
    ...(hasTool("java", "-version") ? [] : ["java"]),
    ...(hasTool(PYTHON) ? [] : [PYTHON]),
    ...(existsSync(JAR) ? [] : [JAR]),
  ];
  testWith(["openapi-generator"], withJava, "openapi-generator, three languages", async () => {
    emptyFolder();
    const kinds = ["typescript-fetch", "typescript-axios", "python"];
    const files = kinds.map((generatorName) => {
      const [inputSpec, outputDir] = ["openapi.json", generatorName];
      writeFileSync(
        join(FOLDER, `${generatorName}.json`),
        JSON.stringify({ generatorName, inputSpec, outputDir }),
      );
      return `${generatorName}.json`;
    });
    await run("java", ["-jar", JAR, "batch", "--fail-fast", ...files], {
      cwd: FOLDER,
      maxBuffer: 64 * 1_048_576,
    });
    for (const kind of ["typescript-fetch", "typescript-axios"]) {
      rmSync(join(FOLDER, "client"), { recursive: true, force: true });
      renameSync(join(FOLDER, kind), join(FOLDER, "client"));
      assert.deepEqual(JSON.parse(await compiled(`use-${kind}.ts`, "commonjs")), TYPED, kind);
    }
    const words = [join(FIXTURES, "use_openapi_generator.py"), world.service.url, key];
    const path = [join(FOLDER, "python"), PYTHON_PACKAGES].join(delimiter);
    const { stdout } = await run(PYTHON, words, { env: childEnvironment({ PYTHONPATH: path }) });
    assert.deepEqual(JSON.parse(stdout), TYPED);
  });

  testWith(
    ["python3"],
    hasTool("python3") ? [] : ["python3"],
    "Python, with the examples of the document",
    async () => {
      const program = join(FIXTURES, "client.py");
      const words = ["-W", "error", program, world.service.url, key, await newSession()];
      assertAllFine((await run("python3", words)).stdout);
    },
  );
});
