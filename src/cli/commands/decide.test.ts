import assert from "node:assert/strict";
import { test } from "node:test";
import { literalDatasets } from "../../../test/lists/literal-datasets.ts";
import { recordingTerminal } from "../../../test/process/recording-terminal.ts";
import { zoneLookup } from "../../../test/dns/zone-lookup.ts";
import { createSingleCheck } from "../../check/single-check.ts";
import { createTestPolicy } from "../../gate/rulings.ts";
import { manualClock } from "../../../test/time/manual-clock.ts";
import { program, runProgram } from "../program.ts";
import { decideCommand } from "./decide.ts";

const ZONE = {
  "good.example": { mx: ["10 mx.good.example"] },
  "mx.good.example": { a: ["192.0.2.1"] },
};

async function run(...words: string[]) {
  const terminal = recordingTerminal({ readText: () => Promise.resolve("") });
  const datasets = () => literalDatasets({ curated: ["bad.example"] });
  const clock = manualClock();
  const check = createSingleCheck(
    { lookup: zoneLookup(ZONE), datasets, clock, implicitMx: false },
    clock,
  );
  const open = () =>
    Promise.resolve({
      testPolicy: createTestPolicy({ check, datasets }),
      close: () => Promise.resolve(),
    });
  const root = program("1.2.3", terminal, [decideCommand(terminal, open)]);
  const code = await runProgram(root, ["decide", ...words], terminal);
  return { code, out: terminal.written(), err: terminal.complained() };
}

const CASES: readonly (readonly [words: readonly string[], code: number, said: RegExp])[] = [
  [["--count-by", "ip=203.0.113.7"], 0, /accept/],
  [["--count-by", "ip=2001:db8::7", "--count-by", "inviter=u_12"], 0, /accept/],
  [["--count-by", "a=1", "b=2", "c=3"], 0, /accept/],
  [["--count-by", "ip=203.0.113"], 2, /--count-by: 203\.0\.113 is not an IPv4 or IPv6 address/],
  [["--count-by", "net=203.0.113"], 2, /--count-by: net=203\.0\.113 is not NAME=VALUE/],
  [["--count-by", "IP=203.0.113.7"], 2, /--count-by: IP=203\.0\.113\.7 is not NAME=VALUE/],
  [["--count-by", "ip"], 2, /--count-by: ip is not NAME=VALUE/],
  [["--count-by", "ip="], 2, /--count-by: ip= is not NAME=VALUE/],
  [["--count-by", "a=1", "b=2", "c=3", "d=4"], 2, /--count-by: at most three names/],
  [["--for", "invite", "--known", "--confirmed", "--count-by", "inviter=u_12"], 0, /accept/],
  [["--for", "sending"], 2, /signup, send, invite/],
];

for (const [words, code, said] of CASES) {
  test(`decide jo@good.example ${words.join(" ")}: ${String(code)}`, async () => {
    const told = await run("jo@good.example", ...words);
    assert.equal(told.code, code, told.err);
    assert.match(told.out + told.err, said);
  });
}

test("what a key is counted by changes no ruling here", async () => {
  const told = await run("jo@bad.example", "--json", "--count-by", "ip=203.0.113.7");
  assert.equal(told.code, 1);
  assert.match(told.out, /"decision": ?"reject"/);
});
