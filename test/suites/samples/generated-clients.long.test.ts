import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createAccount, serviceWorld } from "../../e2e/service-world.ts";
import { hasTool, testWith } from "../../process/require-tool.ts";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const GENERATORS = join(ROOT, "test/compat-clients/node_modules");
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
      key = createAccount(home, "a@x.example").api_key;
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
    recorded: true,
    isRefused: true,
  };

  const compiled = async (use: string, words: readonly string[]): Promise<string> => {
    copyFileSync(join(FIXTURES, `${use}.txt`), join(FOLDER, use));
    const compiler = join(GENERATORS, "typescript/bin/tsc");
    const flags = ["--strict", "--skipLibCheck", "--target", "es2022", "--outDir", "out"];
    await run(process.execPath, [compiler, use, ...flags, ...words], { cwd: FOLDER }).catch(
      (error: { stdout?: string }) => {
        throw new Error(error.stdout ?? "the client does not compile");
      },
    );
    const program = join("out", use.replace(/\.ts$/, ".js"));
    return (await run(process.execPath, [program, world.service.url, key], { cwd: FOLDER })).stdout;
  };

  const generated = async (name: string, ...words: readonly string[]): Promise<void> => {
    rmSync(FOLDER, { recursive: true, force: true });
    mkdirSync(FOLDER, { recursive: true });
    symlinkSync(GENERATORS, join(FOLDER, "node_modules"));
    writeFileSync(join(FOLDER, "openapi.json"), document);
    writeFileSync(join(FOLDER, "package.json"), '{"type":"module"}');
    await run(process.execPath, [join(GENERATORS, name), ...words], { cwd: FOLDER });
  };
  const missing = existsSync(join(GENERATORS, "openapi-typescript"))
    ? []
    : ["npm ci --prefix test/compat-clients"];

  testWith(
    ["generators of clients"],
    missing,
    "openapi-typescript with openapi-fetch",
    async () => {
      await generated("openapi-typescript/bin/cli.js", "openapi.json", "-o", "types.ts");
      const modules = ["--module", "nodenext", "--lib", "es2022,dom,dom.iterable"];
      assert.deepEqual(JSON.parse(await compiled("use-openapi-fetch.ts", modules)), TYPED);
    },
  );

  testWith(["generators of clients"], missing, "@hey-api/openapi-ts", async () => {
    await generated("@hey-api/openapi-ts/bin/run.js", "-i", "openapi.json", "-o", "client");
    // The client that it writes names its modules without an ending, as bundlers read them.
    writeFileSync(join(FOLDER, "package.json"), "{}");
    const modules = ["--module", "commonjs", "--lib", "es2022,dom,dom.iterable"];
    assert.deepEqual(JSON.parse(await compiled("use-hey-api.ts", modules)), TYPED);
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
