import { strict as assert } from "node:assert";
import { execFile, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { librarySamples } from "../../src/dashboard/words/library-samples.ts";
import { testWith } from "../process/require-tool.ts";
import { until } from "../time/until.ts";
import { createAccount, serviceWorld } from "./service-world.ts";

const root = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "gatepost-libraries-"));

let key = "";

/** Each library as its package manager would put it there. */
function install(): void {
  const library = join(folder, "node_modules", "gatepost-client");
  mkdirSync(library, { recursive: true });
  cpSync(root("clients/typescript/package.json"), join(library, "package.json"));
  cpSync(root("dist/clients/typescript/src"), join(library, "dist"), { recursive: true });
  symlinkSync(root("clients/python/gatepost"), join(folder, "gatepost"));
  mkdirSync(join(folder, "vendor"));
  const autoload = root("clients/php/src/autoload.php");
  writeFileSync(join(folder, "vendor", "autoload.php"), `<?php require '${autoload}';`);
}

const world = serviceWorld({
  prepare(home) {
    install();
    key = createAccount(home, "dev@gatepost.example", []).api_key;
  },
});

after(() => rmSync(folder, { recursive: true }));

const RUNS = {
  Node: [process.execPath, "library.mjs"],
  Python: ["python3", "library.py"],
  PHP: ["php", "library.php"],
} as const;

const works = (tool: string): boolean => spawnSync(tool, ["--version"]).status === 0;

for (const name of ["Node", "Python", "PHP"] as const) {
  const [tool, file] = RUNS[name];
  testWith(
    [tool],
    works(tool) ? [] : [tool],
    `the sample of the library for ${name} runs as it was copied`,
    async () => {
      const run = async (url: string, address: string, given?: string): Promise<string> => {
        const sample = librarySamples(url, given, address).find((known) => known.name === name);
        assert.ok(sample !== undefined && !sample.text.includes("…"));
        writeFileSync(join(folder, file), sample.text);
        const env = { ...process.env, GATEPOST_KEY: key };
        return (await promisify(execFile)(tool, [file], { cwd: folder, env })).stdout.trim();
      };
      // The library lets people in past its deadline, which a busy machine may miss.
      const refusal = (given?: string): Promise<string> =>
        until(async () => {
          const said = await run(world.service.url, "jane@mailinator.com", given);
          return said === "Welcome." ? undefined : said;
        });
      const refused = await refusal(key);
      assert.equal(await refusal(), refused, "key from outside");
      assert.equal(await run(world.service.url, "jane@good.example", key), "Welcome.");
      assert.equal(await run("http://127.0.0.1:9", "jane@good.example", key), "Welcome.", "away");
      assert.equal(
        await run(world.service.url, "jane@good.example", "gp_live_x"),
        "Welcome.",
        "401",
      );
    },
  );
}
