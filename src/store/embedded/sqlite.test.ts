import assert from "node:assert/strict";
import { test } from "node:test";
import { keepsCommits, openSqlite } from "./sqlite.ts";

const VERSIONS: readonly (readonly [version: string, keeps: boolean])[] = [
  ["", false],
  ["3.43.2", false],
  ["3.44.5", false],
  ["3.44.6", true],
  ["3.45.0", false],
  ["3.50.6", false],
  ["3.50.7", true],
  ["3.51.2", false],
  ["3.51.3", true],
  ["3.52.0", true],
  ["3.100.0", true],
  ["4.0.0", true],
];

for (const [version, keeps] of VERSIONS) {
  test(`SQLite ${version || "of no version"} ${keeps ? "keeps" : "may lose"} what two connections commit`, () => {
    assert.equal(keepsCommits(version), keeps);
  });
}

test("the SQLite in use keeps what two connections commit", () => {
  const db = openSqlite(":memory:");
  const [version] = Object.values(db.prepare("select sqlite_version()").get() ?? {});
  db.close();
  assert.equal(keepsCommits(String(version)), true);
});
