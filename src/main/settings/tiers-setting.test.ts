import { strict as assert } from "node:assert";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { DEFAULT_TIERS } from "../../accounts/admission/tiers.ts";
import { readTiersFile } from "./tiers-setting.ts";

test("without a file the table is the default one", () => {
  assert.equal(readTiersFile(undefined), DEFAULT_TIERS);
});

test("every mistake in the file, and a file that cannot be read, is told under the setting's name", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "gatepost-tiers-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "tiers.json");
  writeFileSync(path, '{"gold": {}, "free": {"daily": -1}}');
  assert.throws(
    () => readTiersFile(path),
    /^Error: GATEPOST_TIERS_FILE: gold.+\nGATEPOST_TIERS_FILE: free.+$/,
  );
  for (const [unread, why] of [
    [join(folder, "none.json"), "there is no such file"],
    [join(path, "below"), "there is no such file"],
    [folder, "it is a directory"],
  ] as const) {
    const message = `GATEPOST_TIERS_FILE: cannot read ${unread}: ${why}`;
    assert.throws(() => readTiersFile(unread), { message });
  }
});
