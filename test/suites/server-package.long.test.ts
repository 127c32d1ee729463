import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { before, suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { childEnvironment } from "../process/child-environment.ts";
import { temporaryFolder } from "../process/temporary-folder.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly homepage?: string;
  readonly repository?: { readonly url: string };
  readonly keywords?: readonly string[];
}

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;

suite("the server's package, packed and unpacked", () => {
  const folder = temporaryFolder();
  const unpacked = join(folder, "package");
  let files: readonly string[] = [];

  before(() => {
    const env = childEnvironment({});
    const words = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
    const printed = execFileSync("npm", words, { cwd: ROOT, env, encoding: "utf8" });
    const [packed] = JSON.parse(printed) as [
      { filename: string; files: readonly { path: string }[] },
    ];
    files = packed.files.map(({ path }) => path);
    execFileSync("tar", ["-xzf", join(folder, packed.filename), "-C", folder]);
    // What npm would install; a registry is not at hand in tests.
    symlinkSync(join(ROOT, "node_modules"), join(unpacked, "node_modules"));
  });

  test("every package says where it is from, and shares the version", () => {
    const folders = [".", "packages/light", "clients/typescript"];
    const manifests = folders.map((name) => manifestOf(join(ROOT, name)));
    assert.deepEqual(
      manifests.map(({ name }) => name),
      ["gatepost-server", "gatepost-light", "gatepost-client"],
    );
    for (const { name, homepage, repository, keywords = [], version } of manifests) {
      assert.equal(homepage, manifests[0]?.homepage, name);
      assert.equal(repository?.url, manifests[0]?.repository?.url, name);
      assert.equal(version, manifests[0]?.version, name);
      assert.ok(homepage !== undefined && keywords.length >= 5, name);
    }
  });

  test("it holds the program, its lists, its dashboard and its documents, and nothing of tests", () => {
    const needed = [
      "bin/gatepost.mjs",
      "dist/src/main/gatepost.js",
      "dist/packages/light/src/node.js",
      "dist/bundled.lists",
      "dist/dashboard/index.html",
      "feeds/castle.csv",
      "README.md",
      "LICENSE",
    ];
    assert.deepEqual(
      needed.filter((file) => !files.includes(file)),
      [],
    );
    assert.deepEqual(
      files.filter((file) => /\.test\.|^src\/|^test\/|\.map$/.test(file)),
      [],
    );
  });

  test("every link of its README leads to a file of the package or to another site", () => {
    const text = readFileSync(join(unpacked, "README.md"), "utf8");
    const links = [...text.matchAll(/\]\(([^)#]+)/g)].map(([, link = ""]) => link);
    const local = links.filter((link) => !link.startsWith("https:"));
    assert.ok(local.length > 5);
    assert.deepEqual(
      local.filter((link) => !existsSync(join(unpacked, normalize(link)))),
      [],
    );
  });

  const run = (...words: readonly string[]): string =>
    execFileSync(process.execPath, words, {
      cwd: folder,
      env: childEnvironment({ GATEPOST_DATA_DIR: join(folder, "data") }),
      encoding: "utf8",
    });

  test("its command and its library run without the sources", () => {
    const command = join(unpacked, "bin/gatepost.mjs");
    assert.equal(run(command, "--version").trim(), manifestOf(unpacked).version);
    const text =
      'import { checkSyntax } from "gatepost-server"; console.log(checkSyntax("a@b.de").ok);';
    writeFileSync(join(unpacked, "use.mjs"), text);
    assert.equal(run(join(unpacked, "use.mjs")), "true\n");
    assert.ok(!existsSync(join(dirname(unpacked), "data")));
  });

  test("an older Node gets one line that says what to install", () => {
    const old = join(folder, "old.mjs");
    writeFileSync(old, 'Object.defineProperty(process.versions, "node", { value: "18.20.4" });');
    const words = ["--import", old, join(unpacked, "bin/gatepost.mjs"), "serve"];
    assert.throws(
      () => execFileSync(process.execPath, words, { encoding: "utf8", stdio: "pipe" }),
      (error: { status: number; stdout: string; stderr: string }) => {
        assert.deepEqual([error.status, error.stdout], [3, ""]);
        assert.equal(
          error.stderr,
          "gatepost: Node 18.20.4 is too old; install Node 20.19 or newer.\n",
        );
        return true;
      },
    );
  });
});
