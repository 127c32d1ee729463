import { strict as assert } from "node:assert";
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { librarySamples } from "../../src/dashboard/words/library-samples.ts";
import { receiverSamples } from "../../src/dashboard/words/receiver-samples.ts";
import {
  checkSamples,
  listSample,
  type Sample,
  widgetSample,
} from "../../src/dashboard/words/samples.ts";
import { verifySamples } from "../../src/dashboard/words/verify-samples.ts";
import { testWith } from "../process/require-tool.ts";
import { type DashboardWorld, dashboardWorld } from "./dashboard-world.ts";

let world: DashboardWorld;
let key = "";

before(async () => {
  const mail = { mx: ["10 mx.good.example"] };
  world = await dashboardWorld({
    zone: { "good.example": mail, "mx.good.example": { a: ["203.0.113.5"] } },
    known: { curated: ["throwaway.example"] },
  });
  const made = await world.store.keys.create(await world.addAccount("a@gatepost.example"), "First");
  assert.equal(made.kind, "created");
  key = made.apiKey;
});

after(() => world.close());

const folder = mkdtempSync(join(tmpdir(), "gatepost-samples-"));

const RUNNERS: Readonly<Record<Sample["name"], readonly [tool: string, file: string]>> = {
  curl: ["sh", "sample.sh"],
  Node: [process.execPath, "sample.js"],
  Python: ["python3", "sample.py"],
  PHP: ["php", "sample.php"],
};

/** Runs a sample as a user does: copied into a file, with the language's program. */
async function run({ name, text }: Sample): Promise<string> {
  const [tool, file] = RUNNERS[name];
  writeFileSync(join(folder, file), text);
  const { stdout } = await promisify(execFile)(tool, [file], { cwd: folder });
  return stdout.trim();
}

const has = (tool: string): boolean => spawnSync(tool, ["--version"]).status === 0;

for (const name of ["Node", "Python", "PHP"] as const) {
  const [tool] = RUNNERS[name];
  testWith(
    [tool],
    has(tool) ? [] : [tool],
    `the ${name} sample runs as it was copied`,
    async () => {
      const of = (url: string, entry: string, apiKey?: string): Promise<string> => {
        const sample = checkSamples(url, apiKey, entry).find((known) => known.name === name);
        assert.ok(sample !== undefined && !sample.text.includes("…"));
        return run(sample);
      };
      assert.equal(
        await of(world.url, "o'hara$x@throwaway.example"),
        "Please use another address.",
      );
      assert.equal(await of(world.url, "jane@good.example", key), "Welcome.");
      assert.equal(await of(world.url, "throwaway.example", key), "Please use another address.");
      assert.equal(await of("http://127.0.0.1:9", "jane@throwaway.example"), "Welcome.", "down");
      assert.equal(await of(world.url, "jane@throwaway.example", "gp_live_x"), "Welcome.", "401");
    },
  );
}

testWith(
  ["curl"],
  has("curl") ? [] : ["curl"],
  "the curl samples run as they were copied",
  async () => {
    const [curl] = checkSamples(world.url, key, "jane@throwaway.example");
    assert.ok(curl !== undefined);
    assert.equal((JSON.parse(await run(curl)) as { disposable: boolean }).disposable, true);
    const [anonymous] = checkSamples(world.url);
    assert.ok(anonymous !== undefined);
    assert.equal((JSON.parse(await run(anonymous)) as { format: boolean }).format, true);
    const list = listSample(world.url, key).replace("jane@example.org", "jane@good.example");
    assert.equal(await run({ name: "curl", text: list }), "jane@good.example");
  },
);

test("no sample holds a gap that its reader must fill", () => {
  const made = [
    ...[undefined, "gp_live_1"].flatMap((key) => [
      ...checkSamples("http://x.example", key),
      ...librarySamples("http://x.example", key),
      ...receiverSamples(key),
      { text: listSample("http://x.example", key) },
    ]),
    ...verifySamples(),
    { text: widgetSample("http://x.example", "gp_pub_1") },
  ];
  for (const { text } of made) assert.doesNotMatch(text, /…|\.\.\.|<[A-Za-z_-]+>|YOUR_/);
});

test("a key in a sample is a literal of each language", () => {
  for (const { text } of checkSamples("http://x.example", "gp_live_1"))
    assert.ok(text.includes("gp_live_1"));
});
