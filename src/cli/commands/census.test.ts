import { strict as assert } from "node:assert";
import { test } from "node:test";
import { recordingTerminal } from "../../../test/process/recording-terminal.ts";
import type { Census } from "../../ports/evidence/census.ts";
import { program, runProgram } from "../program.ts";
import { censusCommand, type CensusImport, type CliCensus } from "./census.ts";

const CENSUS: Census = {
  day: 1,
  source: "0".repeat(64),
  asked: 2,
  names: 2,
  domains: 1,
  servers: new Map([["mx.example", 1]]),
};

async function run(args: readonly string[], more: Partial<CliCensus> = {}) {
  const terminal = recordingTerminal();
  const census: CliCensus = {
    take: () => Promise.resolve(CENSUS),
    export: () => ({ file: "signed\n", fingerprint: "f00d" }),
    import: (): CensusImport => ({ kind: "taken", census: CENSUS }),
    close: () => Promise.resolve(),
    ...more,
  };
  const command = censusCommand({
    terminal,
    openCensus: () => Promise.resolve(census),
    readFile: () => Promise.resolve("a.example"),
    onInterrupt: () => () => undefined,
  });
  const root = program("1.2.3", terminal, [command]);
  const code = await runProgram(root, ["census", ...args], terminal);
  return { code, out: terminal.written(), err: terminal.complained() };
}

const CASES: readonly (readonly [
  name: string,
  args: readonly string[],
  more: Partial<CliCensus>,
  code: number,
  said: RegExp,
])[] = [
  [
    "a finished census",
    ["names.txt"],
    {},
    0,
    /^1 domains on 1 mail servers and addresses counted\.$/m,
  ],
  ["as JSON", ["names.txt", "--json"], {}, 0, /"finished":true/],
  [
    "an interrupted one says how to go on",
    ["n"],
    { take: () => Promise.resolve({ ...CENSUS, asked: 1 }) },
    0,
    /Stopped after 1 of 2 names; run it again/,
  ],
  [
    "a file without names",
    ["n"],
    { take: () => Promise.resolve({ ...CENSUS, asked: 0, names: 0 }) },
    2,
    /no domain names in it/,
  ],
  ["a rate of nothing", ["n", "--rate", "0"], {}, 2, /from 1 to 500/],
  ["a rate that is no number", ["n", "--rate", "fast"], {}, 2, /from 1 to 500/],
  ["an export", ["export"], {}, 0, /^signed$/m],
  ["nothing to export", ["export"], { export: () => undefined }, 1, /no finished census/],
  ["an import", ["import", "f"], {}, 0, /counted\./],
  [
    "an unknown signer",
    ["import", "f"],
    { import: () => ({ kind: "untrusted", fingerprint: "beef" }) },
    1,
    /--trust beef/,
  ],
  [
    "a changed file",
    ["import", "f"],
    { import: () => ({ kind: "invalid" }) },
    1,
    /not a signed census/,
  ],
];

for (const [name, args, more, code, said] of CASES) {
  test(`census: ${name}`, async () => {
    const ran = await run(args, more);
    assert.equal(ran.code, code, ran.err);
    assert.match(ran.out + ran.err, said);
  });
}
