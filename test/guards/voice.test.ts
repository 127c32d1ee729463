import { strict as assert } from "node:assert";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { readVoice } from "./voice.ts";

const root = new URL("../../../", import.meta.url);

/** Lowered as texts are rewritten; the aim is 2 %. */
const SHARE_MAX = 0.12;

function readable(folder: string): readonly string[] {
  return readdirSync(new URL(`${folder}/`, root), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(?:tsx?|md|css)$/.test(name) && !name.includes(".test."))
    .map((name) => `${folder}/${name}`);
}

test("few lines that people read hold a wording that is hard to understand", () => {
  const files = [...readable("src"), ...readable("docs"), "README.md", "ARCHITECTURE.md"];
  const readings = files.map((file) => readVoice(file, readFileSync(new URL(file, root), "utf8")));
  const lines = readings.reduce((sum, reading) => sum + reading.lines, 0);
  const stumbles = readings.flatMap((reading) => reading.stumbles);
  assert.ok(lines > 3_000);
  assert.ok(stumbles.length <= SHARE_MAX * lines, stumbles.slice(0, 20).join("\n"));
});
