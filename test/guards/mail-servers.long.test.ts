import { strict as assert } from "node:assert";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const BENCH = fileURLToPath(new URL("../../bench/evidence/mail-servers.js", import.meta.url));

/** Recall and precision by own traffic and listed names, of one table of the bench. */
function measured(table = ""): ReadonlyMap<string, readonly string[]> {
  const rows = table.matchAll(/^\| (none|1 in \d+) \| (\d+) \| ([\d.]+) % \| ([\d.]+) %/gm);
  return new Map(
    [...rows].map(([, traffic = "", listed = "", recall = "", precision = ""]) => [
      `${traffic}, ${listed}`,
      [recall, precision],
    ]),
  );
}

const rounded = (percent: string | undefined): string => String(Number(Number(percent).toFixed(1)));

/** Listed names, recall, and precision with up to 26 and up to 60 disposable guests of a host: no traffic, 1 in 31, 1 in 5. */
const KNOWN = [
  ["5", "94.7", "69.6 / 99 / 100", "56.7 / 97.3 / 100"],
  ["20", "73.8", "100 / 100 / 100", "98.2 / 99.8 / 100"],
] as const;

test("20 listed names make a mail server dedicated, because 5 accuse honest domains where there is no traffic", () => {
  const { stdout } = spawnSync(process.execPath, [BENCH], { encoding: "utf8" });
  const [, few, many] = stdout.split(/at most (?:26|60) guests/).map((each) => measured(each));
  assert.ok(few !== undefined && many !== undefined);
  const precision = (from: ReturnType<typeof measured>, listed: string): string =>
    ["none", "1 in 31", "1 in 5"]
      .map((traffic) => rounded(from.get(`${traffic}, ${listed}`)?.[1]))
      .join(" / ");
  for (const [listed, recall, ofFew, ofMany] of KNOWN) {
    assert.equal(rounded(few.get(`none, ${listed}`)?.[0]), recall, listed);
    assert.deepEqual([precision(few, listed), precision(many, listed)], [ofFew, ofMany], listed);
  }
});
