import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { suite } from "node:test";
import { fileURLToPath } from "node:url";
import { childEnvironment } from "../process/child-environment.ts";
import { testWithTools } from "../process/require-tool.ts";
import { readDocument } from "../guards/docs-tables.ts";
import { serviceWorld } from "./service-world.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

suite("README.md", () => {
  const world = serviceWorld();

  testWithTools(["curl"], "its commands give what stands behind them", async () => {
    const page = readDocument("README.md");
    const calls = [...page.matchAll(/^(curl .*?) +# (.*)$/gm)];
    assert.equal(calls.length, 2);
    for (const [, call = "", shown = ""] of calls) {
      const command = call.replace("http://127.0.0.1:8080", world.service.url);
      const told = execFileSync("sh", ["-c", `${command} -s`], { encoding: "utf8" });
      for (const part of shown.split("...")) assert.ok(told.includes(part), `${part} in ${told}`);
    }
    const [, words = ""] = /`npm run --silent gatepost -- (.*?)`/.exec(page) ?? [];
    const env = childEnvironment(world.home.settings);
    const command = `node bin/gatepost.mjs ${words}; echo "exit $?"`;
    const told = execFileSync("sh", ["-c", command], { cwd: ROOT, env, encoding: "utf8" });
    assert.match(told, /mailinator\.com[^]*exit 1\n$/);
  });
});
