import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { forkDnsServer, type ForkedDnsServer } from "../../dns/dns-server.ts";
import { DOCS_ZONE } from "../../e2e/docs-zone.ts";
import { childEnvironment } from "../../process/child-environment.ts";
import { temporaryFolder } from "../../process/temporary-folder.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const ACTION = join(ROOT, "deploy/action");

interface Step {
  readonly uses?: string;
  readonly with?: Readonly<Record<string, string>>;
  readonly shell: string;
  readonly "working-directory"?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly run: string;
}

interface Action {
  readonly inputs: Readonly<
    Record<string, { readonly required?: boolean; readonly default?: string }>
  >;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
}

const action = parse(readFileSync(join(ACTION, "action.yml"), "utf8")) as Action;

suite("the steps of deploy/action/action.yml, run as a runner does", () => {
  let dns: ForkedDnsServer;
  let folder: string;

  before(async () => {
    dns = await forkDnsServer(DOCS_ZONE);
    folder = temporaryFolder();
    // Neither may be looked up on the way: a package of any name could come from the registry.
    for (const tool of ["npx", "npm"]) {
      writeFileSync(join(folder, tool), `#!/bin/sh\necho "${tool} $*" >> "${folder}/calls"\n`);
      chmodSync(join(folder, tool), 0o755);
    }
  });

  after(() => dns.close());

  /** Runs every step; the first that fails ends the job, as with GitHub. */
  const run = (inputs: Readonly<Record<string, string>>) => {
    const [output, summary] = [join(folder, "output"), join(folder, "summary")];
    for (const file of [output, summary]) writeFileSync(file, "");
    const given = (expression: string): string =>
      expression.replaceAll(/\$\{\{ inputs\.([\w-]+) \}\}/g, (_, name: string) => {
        const known = action.inputs[name] ?? assert.fail(`${name} is no input`);
        return inputs[name] ?? known.default ?? assert.fail(`${name} is required`);
      });
    for (const step of action.runs.steps) {
      if (step.uses !== undefined) continue;
      assert.equal(step.shell, "bash");
      const env = {
        ...childEnvironment({ GATEPOST_DATA_DIR: join(folder, "data") }),
        ...Object.fromEntries(
          Object.entries(step.env ?? {}).map(([name, value]) => [name, given(value)]),
        ),
        PATH: `${folder}:${process.env["PATH"] ?? ""}`,
        RUNNER_TEMP: folder,
        GITHUB_OUTPUT: output,
        GITHUB_STEP_SUMMARY: summary,
        GITHUB_ACTION_PATH: ACTION,
      };
      const words = ["--noprofile", "--norc", "-eo", "pipefail", "-c", step.run];
      const { status, stdout, stderr } = spawnSync("bash", words, {
        env,
        cwd: (step["working-directory"] ?? folder).replace("${{ github.action_path }}", ACTION),
        encoding: "utf8",
      });
      const told = {
        code: status,
        out: stdout,
        err: stderr,
        outputs: readFileSync(output, "utf8"),
        summary: readFileSync(summary, "utf8"),
      };
      if (status !== 0) return told;
    }
    const [outputs = "", summed = ""] = [output, summary].map((file) => readFileSync(file, "utf8"));
    return { code: 0, out: "", err: "", outputs, summary: summed };
  };

  const common = () => ({ "dns-servers": `127.0.0.1:${String(dns.port)}` });

  test("bad addresses are annotated at their lines, and the job fails", () => {
    const list =
      "ann@good.example\n\njo@mailinator.com\njo@null.example\nbroken@\nann@silent.example\n";
    writeFileSync(join(folder, "list.txt"), list);
    const { code, out, outputs, err } = run({
      ...common(),
      file: "list.txt",
      "fail-on": "disposable, invalid_format",
    });
    assert.equal(code, 1, err);
    assert.deepEqual(
      out
        .split("\n")
        .filter((line) => line.startsWith("::"))
        .map((line) => line.replace(/: .*/, "")),
      ["::error file=list.txt,line=3::jo@mailinator.com", "::error file=list.txt,line=5::broken@"],
    );
    assert.match(out, /\n2 of 5 entries are bad\.\n/);
    assert.match(outputs, /^hash=[0-9a-f]{40}\nchecked=.*gatepost-checked\.ndjson\nbad=2\n$/);
  });

  test("the job's summary counts, and shows what anybody wrote as plain text", () => {
    writeFileSync(join(folder, "sly.txt"), "ann@good.example\n<img/src=x>|@mailinator.com\n");
    const { summary } = run({ ...common(), file: "sly.txt" });
    assert.match(summary, /^### Gatepost: 1 of 2 entries are bad\.\n/);
    assert.match(summary, /\n\|valid\|1\|\n/);
    assert.match(summary, /\n<pre>\nline 2: &#60;img\/src=x&#62;\|@mailinator\.com: /);
  });

  test("ten addresses are annotated, and 100 are in the summary", () => {
    const rows = Array.from({ length: 120 }, (_, at) => `a${String(at)}@mailinator.com\n`);
    writeFileSync(join(folder, "many.txt"), rows.join(""));
    const { out, summary, outputs } = run({ ...common(), file: "many.txt" });
    assert.equal(out.match(/^::/gm)?.length, 10);
    assert.match(out, /\n10 are annotated, all are in .*\n120 of 120 entries are bad\.\n/);
    assert.equal(summary.match(/^line /gm)?.length, 100);
    assert.match(summary, /\n20 more\.\n$/);
    assert.match(outputs, /bad=120\n$/);
  });

  test("another action is named by a whole commit, and npm's packages are cached by the lock", () => {
    const [cache, ...more] = action.runs.steps.filter(({ uses }) => uses !== undefined);
    assert.match(cache?.uses ?? "", /^actions\/cache@[0-9a-f]{40}$/);
    assert.match(cache?.with?.["key"] ?? "", /\$\{\{ steps\.lock\.outputs\.hash \}\}$/);
    assert.deepEqual(more, []);
  });

  test("a column of a CSV is checked, and a good file passes", () => {
    writeFileSync(join(folder, "people.csv"), "name,email\nAnn,ann@good.example\n");
    const { code, outputs, err } = run({ ...common(), file: "people.csv", column: "email" });
    assert.equal(code, 0, err);
    assert.match(outputs, /bad=0\n$/);
  });

  test("an address that DNS could not tell about does not fail the job by itself", () => {
    writeFileSync(join(folder, "silent.txt"), "ann@silent.example\n");
    const { code, err } = run({ ...common(), file: "silent.txt" });
    assert.equal(code, 0, err);
  });

  test("only locked dependencies of this very checkout are installed", () => {
    writeFileSync(join(folder, "one.txt"), "ann@good.example\n");
    writeFileSync(join(folder, "calls"), "");
    assert.equal(run({ ...common(), file: "one.txt" }).code, 0);
    const calls = readFileSync(join(folder, "calls"), "utf8");
    assert.equal(calls, "npm ci --ignore-scripts --no-audit --no-fund --prefer-offline\n");
  });

  for (const file of ["--version", "-", "--help", "-x y.txt"]) {
    test(`a file named "${file}" is a file and no option`, () => {
      writeFileSync(join(folder, file), "jo@mailinator.com\n");
      const { code, out, err } = run({ ...common(), file });
      assert.equal(code, 1, err);
      assert.match(out, /::error file=\.\/-.*,line=1::jo@mailinator\.com/);
    });
  }

  test("a column named like an option is a column", () => {
    writeFileSync(join(folder, "odd.csv"), "name,--help\nAnn,jo@mailinator.com\n");
    assert.equal(run({ ...common(), file: "odd.csv", column: "--help" }).code, 1);
  });

  test("a file that is missing fails the job", () => {
    const { code, err } = run({ ...common(), file: "missing.txt" });
    assert.notEqual(code, 0);
    assert.match(err, /missing\.txt/);
  });
});
