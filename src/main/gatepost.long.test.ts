import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../../test/process/temporary-folder.ts";

const GATEPOST = fileURLToPath(new URL("./gatepost.js", import.meta.url));

test("a command says its answer and nothing else, whichever Node runs it", () => {
  const env = { PATH: process.env["PATH"] };
  const { stdout, stderr } = spawnSync(process.execPath, [GATEPOST, "--version"], {
    env,
    encoding: "utf8",
  });
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
  assert.equal(stderr, "");
});

/** The command with standard output as `file`. */
function writingTo(file: string, ...words: string[]) {
  const output = openSync(file, "w");
  const env = { PATH: process.env["PATH"], GATEPOST_DATA_DIR: "/nowhere" };
  const stdio = ["ignore", output, "pipe"] as const;
  const ran = spawnSync(process.execPath, [GATEPOST, ...words], {
    env,
    stdio: [...stdio],
    encoding: "utf8",
  });
  closeSync(output);
  return [ran.status, ran.stderr];
}

const FULL = [3, "gatepost: standard output: no space is left; free some, or write elsewhere\n"];

for (const words of [
  ["--version"],
  ["check", "no-address"],
  ["check", "a@onion", "--json"],
  ["bulk", "--help"],
]) {
  test(`an answer that cannot be written is one sentence and exit 3: ${words.join(" ")}`, () => {
    assert.deepEqual(writingTo("/dev/full", ...words), FULL);
  });
}

test("a reader that has what it wants ends the command quietly", () => {
  const command = '"$0" "$1" bulk --help | head -c 1';
  const { stdout, stderr } = spawnSync("bash", ["-c", command, process.execPath, GATEPOST], {
    encoding: "utf8",
  });
  assert.deepEqual([stdout, stderr], ["U", ""]);
});

test("--version behind a command is the command's own", () => {
  const run = (...words: string[]) =>
    spawnSync(process.execPath, [GATEPOST, ...words], {
      env: { PATH: process.env["PATH"], GATEPOST_DATA_DIR: folder },
      encoding: "utf8",
      input: '{"rules":[],"else":"review"}',
    });
  const folder = temporaryFolder();
  run("account", "create", "a@shop.example");
  run("policy", "set", "a@shop.example", "-");
  const { stdout } = run("policy", "show", "a@shop.example", "default", "--version", "2");
  assert.deepEqual(JSON.parse(stdout), { rules: [], else: "review" });
});

/** Words of a command line, and what is complained of. */
const wrongChoices = [
  ["serve --port 70000", /whole number from 0 to 65535/],
  ["hook create jo@example.com kratoz", /Allowed choices are supabase, kratos/],
  [
    "webhook set jo@example.com https://a.example/ --events bulk.done",
    /unknown event "bulk.done"; the events are test.ping, bulk.completed/,
  ],
  ["bulk in.txt --format xml", /Allowed choices are list, csv, ndjson/],
  ["account create jo@example.com --tier gold", /Allowed choices are free/],
  ["decide - --policy -", /not for both/],
] as const;

for (const [line, complaint] of wrongChoices) {
  test(`a wrong choice is exit 2: ${line}`, () => {
    const ran = spawnSync(process.execPath, [GATEPOST, ...line.split(" ")], {
      env: { PATH: process.env["PATH"], GATEPOST_DATA_DIR: "/nowhere" },
      encoding: "utf8",
      input: "",
    });
    assert.match(ran.stderr, complaint);
    assert.equal(ran.status, 2);
  });
}
