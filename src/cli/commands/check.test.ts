import { strict as assert } from "node:assert";
import { test } from "node:test";
import { type LiteralKnowledge, literalDatasets } from "../../../test/lists/literal-datasets.ts";
import { recordingTerminal } from "../../../test/process/recording-terminal.ts";
import { type Zone, zoneLookup } from "../../../test/dns/zone-lookup.ts";
import { validate } from "../../core/validate/validate.ts";
import { program, runProgram } from "../program.ts";
import { checkCommand, type CliValidator } from "./check.ts";

const zone: Zone = {
  "good.example": { mx: ["10 mx.example"] },
  "mx.example": { a: ["192.0.2.1"] },
  "silent.example": { unknown: true },
};

function literalValidator(known: LiteralKnowledge): CliValidator {
  const lookup = zoneLookup(zone);
  const datasets = literalDatasets(known);
  const asked = { features: [], spamTrap: false };
  return {
    datasets,
    validate: (text) =>
      validate(
        { text, mode: "either", asked, nowMs: 0, implicitMx: false },
        { datasets, lookup, within: () => lookup },
      ),
    present: ({ result }) => JSON.stringify(result),
  };
}

let stdin = "";

const run = (...words: string[]) => runKnowing({}, ...words);

async function runKnowing(
  known: LiteralKnowledge,
  ...words: string[]
): Promise<{ code: number; out: string; err: string }> {
  const terminal = recordingTerminal({ readText: () => Promise.resolve(stdin) });
  let closed = 0;
  const openValidator = () =>
    Promise.resolve({
      ...literalValidator(known),
      close: () => Promise.resolve(void (closed += 1)),
    });
  const root = program("1.2.3", terminal, [checkCommand(terminal, openValidator)]);
  const code = await runProgram(root, words, terminal);
  if (words.includes("good.example")) assert.equal(closed, 1, "the validator is closed");
  return { code, out: terminal.written(), err: terminal.complained() };
}

test("- reads the entries from standard input, and several results name their entry", async () => {
  stdin = "good.example\nnonsense, good.example\n";
  const { code, out } = await run("check", "-", "--json");
  assert.equal(code, 1);
  const results = JSON.parse(out) as readonly Record<string, unknown>[];
  assert.deepEqual(
    results.map((result) => [Object.keys(result)[0], result["entry"], result["format"]]),
    [
      ["entry", "good.example", true],
      ["entry", "nonsense", false],
      ["entry", "good.example", true],
    ],
  );
  stdin = "good.example";
  assert.ok(Array.isArray(JSON.parse((await run("check", "-", "--json")).out)));
  stdin = " ";
  assert.equal((await run("check", "-")).code, 2);
  assert.equal((await run("check", "-", "x.example")).code, 2);
});

const codes = [
  ["a good domain is 0", ["check", "good.example"], 0],
  ["a malformed entry is 1", ["check", "good.example", "nonsense"], 1],
  ["an entry without mail server is 1", ["check", "gone.example"], 1],
  ["an inconclusive entry is 3", ["check", "good.example", "silent.example"], 3],
  ["something wrong beats something inconclusive", ["check", "silent.example", "nonsense"], 1],
  ["an unknown feature is bad usage", ["check", "--features", "spf,dkmi", "nonsense"], 2],
  ["no entry is bad usage", ["check"], 2],
  ["an unknown command is bad usage", ["chekc", "x"], 2],
  ["an unknown option is bad usage", ["check", "--jsno", "x"], 2],
  ["help is fine", ["check", "--help"], 0],
  ["the version is fine", ["--version"], 0],
] as const;

for (const [name, words, want] of codes) {
  test(`exit code: ${name}`, async () => {
    assert.equal((await run(...words)).code, want);
  });
}

test("--json prints one object for one entry and an array for several", async () => {
  const one = JSON.parse((await run("check", "--json", "a@good.example")).out) as unknown;
  assert.deepEqual(Object.keys(one as object).slice(0, 2), ["format", "domain"]);
  const several = JSON.parse((await run("check", "--json", "good.example", "x")).out) as unknown[];
  assert.equal(several.length, 2);
});

test("a person reads the verdict, the reason and where mail goes", async () => {
  const { out } = await run("check", "good.example", "silent.example", "gone.example", "a@b");
  assert.match(out, /good\.example\n {2}Fine: it can receive mail/);
  assert.match(out, /mail hosts +mx\.example/);
  assert.match(out, /silent\.example\n {2}DNS did not answer, so we cannot tell/);
  assert.match(out, /domain +silent\.example\n +mail hosts +unknown\n/);
  assert.match(out, /domain +gone\.example\n +mail hosts +none usable\n/);
  assert.match(out, /a@b\n {2}Not valid: the domain has no dot\./);
});

const sayers = [
  ["the operator", { domains: { "good.example": "deny" } }, "The operator says so."],
  ["learning", { mailServers: { "mx.example": "dedicated" } }, "Learned from where the mail of"],
] as const;

for (const [name, known, want] of sayers) {
  test(`--explain says that ${name} is behind a signal`, async () => {
    assert.ok((await runKnowing(known, "check", "--explain", "good.example")).out.includes(want));
    assert.ok(!(await runKnowing(known, "check", "good.example")).out.includes(want));
  });
}

const typed = [
  ["an unknown command", ["\u001b[2Jchekc"]],
  ["an unknown option", ["check", "--\u001b[2J"]],
  ["an option with a mark that turns text around", ["check", "x", "--features\u202e"]],
] as const;

for (const [name, words] of typed) {
  test(`control characters never reach the terminal: ${name}`, async () => {
    const { code, err } = await run(...words);
    assert.equal(code, 2);
    assert.doesNotMatch(err, /[^\P{C}\n]/u);
    assert.match(err, /\ufffd/);
  });
}

test("control characters of an entry never reach the terminal", async () => {
  const { out } = await run("check", "\u001b[2J\u202e@good.example");
  assert.ok(!out.includes("\u001b") && !out.includes("\u202e"));
});
