import { strict as assert } from "node:assert";
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sweepDrafts } from "./drafts.ts";
import { temporaryFolder } from "../../test/process/temporary-folder.ts";

const HOUR_MS = 3_600_000;
const NOW_MS = Date.UTC(2026, 10, 20, 12);
const HEX = "0123456789abcdef";

const cases = [
  ["a list's draft of yesterday goes", `ded.list.${HEX}.tmp`, 24 * HOUR_MS, []],
  ["the RDAP copy's goes", `rdap-bootstrap.json.${HEX}${HEX}.tmp`, 2 * HOUR_MS, []],
  ["one of this hour may be being written", `ded.list.${HEX}.tmp`, HOUR_MS, "stays"],
  ["one from a time to come stays", `ded.list.${HEX}.tmp`, -24 * HOUR_MS, "stays"],
  ["a list stays", "ded.list", 24 * HOUR_MS, "stays"],
  ["somebody else's temporary file stays", "notes.tmp", 24 * HOUR_MS, "stays"],
] as const;

for (const [name, file, ageMs, want] of cases) {
  test(`sweeping drafts: ${name}`, () => {
    const folder = temporaryFolder();
    const path = join(folder, file);
    writeFileSync(path, "half a");
    const at = new Date(NOW_MS - ageMs);
    utimesSync(path, at, at);
    const swept = sweepDrafts([folder, join(folder, "none")], NOW_MS);
    assert.deepEqual([readdirSync(folder), swept], want === "stays" ? [[file], 0] : [[], 1]);
  });
}

test("sweeping drafts: a folder of such a name stays", () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, `a.${HEX}.tmp`));
  assert.equal(sweepDrafts([folder], Number.MAX_SAFE_INTEGER), 0);
});
