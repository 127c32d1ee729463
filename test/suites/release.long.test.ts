import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { before, suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { childEnvironment } from "../process/child-environment.ts";
import { hasTool, testWith } from "../process/require-tool.ts";
import { temporaryFolder } from "../process/temporary-folder.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const PAGE = readFileSync(join(ROOT, "docs/operations/install.md"), "utf8");
/** The page's commands that install from the folder, one a line. */
const COMMANDS = (/```sh\n(\(cd \$RELEASE[^]*?)```/.exec(PAGE)?.[1] ?? "").trim().split("\n");

const TOOLS = ["git", "python3", "unzip", "php"];
const missing = TOOLS.filter((tool) => !hasTool(tool));
// npm and pip need a registry, for the server's dependencies and to build the wheel.
if (spawnSync("npm", ["ping"], { stdio: "ignore", timeout: 120_000 }).status !== 0)
  missing.push("a registry");

interface Sbom {
  readonly bomFormat: string;
  readonly metadata: { readonly component: { readonly name: string } };
  readonly components: readonly {
    readonly name: string;
    readonly properties?: readonly { readonly value: string }[];
  }[];
}

/** A package, what names its files, what prints one, and the file with its page in a registry. */
const PACKAGES = [
  ["gatepost-server-*.tgz", "tar -tzf", "tar -xOzf", "package/README.md"],
  ["gatepost-light-*.tgz", "tar -tzf", "tar -xOzf", "package/README.md"],
  ["gatepost-client-*.tgz", "tar -tzf", "tar -xOzf", "package/README.md"],
  ["gatepost-php-*.zip", "unzip -Z1", "unzip -p", "README.md"],
  ["gatepost_client-*.whl", "unzip -Z1", "unzip -p", "*/METADATA"],
] as const;

const BUGS = "https://git.company.test/gatepost/issues";

test("no release is made with the placeholder for reports of faults", () => {
  const env = childEnvironment({});
  const words = ["scripts/release.mjs", join(temporaryFolder(), "none")];
  const { status, stderr } = spawnSync(process.execPath, words, {
    cwd: ROOT,
    env,
    encoding: "utf8",
  });
  assert.equal(status, 2);
  assert.match(stderr, /^GATEPOST_BUGS: "https:\/\/gatepost\.example\/issues" is a placeholder/);
});

suite("the folder of a release", () => {
  const folder = temporaryFolder();
  const empty = temporaryFolder();
  const settings = childEnvironment({
    RELEASE: folder,
    GATEPOST_DNS_SERVERS: "127.0.0.1:9",
    GATEPOST_BUGS: BUGS,
    PYTHONPATH: join(empty, "python"),
  });
  const run = (command: string, cwd = empty) => {
    const { status, stdout, stderr } = spawnSync("sh", ["-c", command], {
      cwd,
      env: settings,
      encoding: "utf8",
    });
    return { status, stdout, stderr };
  };

  before(() => {
    if (missing.length > 0) return;
    const made = run(`npm run --silent release -- ${folder}`, ROOT);
    assert.equal(made.status, 0, made.stderr);
  });

  testWith(TOOLS, missing, "a second build has the same octets", async () => {
    const again = temporaryFolder();
    const made = run(`npm run --silent release -- ${again}`, ROOT);
    assert.equal(made.status, 0, made.stderr);
    const [sums, others] = [folder, again].map((one) =>
      readFileSync(join(one, "SHA256SUMS"), "utf8"),
    );
    assert.equal(others, sums);
    await Promise.resolve();
  });

  testWith(
    TOOLS,
    missing,
    "it holds every package, sums and a list of what is inside",
    async () => {
      const files = readdirSync(folder).sort();
      assert.deepEqual(
        files.map((name) => name.replace(/0\.1\.0|\d+\.\d+\.\d+/, "V")),
        [
          "SHA256SUMS",
          "gatepost-V-source.tar.gz",
          "gatepost-V.cdx.json",
          "gatepost-client-V.tgz",
          "gatepost-light-V.tgz",
          "gatepost-php-V.zip",
          "gatepost-server-V.tgz",
          "gatepost_client-V-py3-none-any.whl",
        ],
      );
      const sums = readFileSync(join(folder, "SHA256SUMS"), "utf8").trim().split("\n");
      assert.equal(sums.length, files.length - 1);
      const bom = files.find((name) => name.endsWith(".cdx.json")) ?? "";
      const list = JSON.parse(readFileSync(join(folder, bom), "utf8")) as Sbom;
      assert.deepEqual(
        [list.bomFormat, list.metadata.component.name],
        ["CycloneDX", "gatepost-server"],
      );
      const { dependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
        readonly dependencies: object;
      };
      const inside = new Map(
        list.components.map(({ name, properties }) => [
          name,
          properties?.map(({ value }) => value).join(" ") ?? "",
        ]),
      );
      const wanted = [...Object.keys(dependencies), "gatepost-client", "gatepost-light", "castle"];
      assert.deepEqual(
        wanted.filter((name) => !inside.has(name)),
        [],
      );
      for (const [name, parts] of [
        ["jose", "program"],
        ["lru-cache", "program gatepost-light"],
        ["preact", "dashboard"],
        ["swagger-ui-dist", "docs"],
        ["pg", ""],
        ["typescript", undefined],
      ] as const) {
        assert.equal(inside.get(name), parts, name);
      }
      const again = run(`npm run --silent release -- ${folder}`, ROOT);
      assert.equal(again.status, 2, "a folder that holds something is refused");
      assert.match(again.stderr, /it is not empty/);
      return Promise.resolve();
    },
  );

  for (const [files, list, print, readme] of PACKAGES) {
    testWith(TOOLS, missing, `${files} has its licence, no tests and no relative link`, () => {
      const names = run(`${list} ${files}`, folder).stdout.split("\n");
      assert.ok(names.some((name) => name.endsWith("LICENSE")));
      assert.deepEqual(
        names.filter((name) => /(?:^|\/)tests\/|\.test\./.test(name)),
        [],
      );
      const text = run(`${print} ${files} '${readme}'`, folder).stdout;
      assert.match(text, /^# gatepost/im);
      assert.doesNotMatch(text, /\]\((?!https:)/);
      if (!files.endsWith(".whl")) return Promise.resolve();
      assert.match(text, /^Project-URL: Homepage, https:/m);
      assert.match(text, /^License-File: LICENSE$/m);
      assert.match(text, /^Classifier: License :: OSI Approved :: MIT License$/m);
      return Promise.resolve();
    });
  }

  for (const command of COMMANDS) {
    testWith(TOOLS, missing, `in an empty folder: ${command}`, async () => {
      const { status, stdout, stderr } = run(command);
      const isCheck = command.includes("gatepost check");
      assert.equal(status, isCheck ? 1 : 0, stderr);
      if (isCheck) assert.equal((JSON.parse(stdout) as { disposable: boolean }).disposable, true);
      return Promise.resolve();
    });
  }

  /** What was installed is loaded and used. */
  const uses = [
    `node --input-type=module -e 'import { checkSyntax } from "gatepost-light"; if (!checkSyntax("jo@a.example").ok) throw 1'`,
    `node --input-type=module -e 'import { createGatepost } from "gatepost-client"; if (!createGatepost) throw 1'`,
    `python3 -c 'from gatepost import Client; Client("http://127.0.0.1:9")'`,
    `php -r 'require "gatepost-php/src/autoload.php"; new Gatepost\\Client("http://127.0.0.1:9");'`,
  ];
  for (const command of uses) {
    testWith(TOOLS, missing, `what was installed works: ${command}`, async () => {
      assert.deepEqual(run(command), { status: 0, stdout: "", stderr: "" });
      return Promise.resolve();
    });
  }
});

test("the page has the commands that are run here", () => assert.equal(COMMANDS.length, 6));
