import { strict as assert } from "node:assert";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { childEnvironment } from "../process/child-environment.ts";
import { temporaryFolder } from "../process/temporary-folder.ts";
import { readDocument } from "./docs-tables.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

const folder = temporaryFolder();
const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

/** What a bench asks for, and what makes its run short; in place of the words of its script. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  "bench:http": ["get"],
  "bench:single": ["1"],
  "bench:growth": ["lists"],
  "bench:memory": ["checks"],
  "bench:send": ["known"],
  "bench:bulk": ["sync"],
  "bench:detection": [file("listed", "mailinator.com\n"), file("legit", "example.com\n")],
  "bench:neighbours": ["--attackers=1", "--rounds=1", "--seconds=1", "silent lists"],
};

/** A test of its own compares what it prints; `bench:decide` is the program of `bench:http`. */
const ELSEWHERE = new Set(["bench:mail-servers", "bench:decide"]);

const { scripts } = JSON.parse(readDocument("package.json")) as {
  readonly scripts: Readonly<Record<string, string>>;
};

for (const [name, script] of Object.entries(scripts)) {
  if (!name.startsWith("bench:") || ELSEWHERE.has(name)) continue;
  test(`npm run ${name} runs, and ends by itself`, () => {
    const [program = "", ...words] = (script.split("&& node ")[1] ?? "").split(" ");
    const env = childEnvironment({
      BENCH_SHORT: "1",
      DNS_PATHS: "no delay",
      GATEPOST_DATA_DIR: join(folder, "data"),
    });
    const all = [program, ...(WORDS[name] ?? words)];
    const options = { cwd: ROOT, env, encoding: "utf8", timeout: 600_000 } as const;
    const { status, signal, stdout, stderr } = spawnSync(process.execPath, all, options);
    const said = `${String(signal)}\n${stdout}\n${stderr}`;
    // One that knows what it must reach ends with 1 below that, as a run this short may.
    assert.ok(status === 0 || (status === 1 && /\(must|missed/.test(stdout)), said);
    assert.match(stdout, /\d|skipped/);
  });
}
