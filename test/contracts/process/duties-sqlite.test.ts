import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { memoryElections } from "../../../src/adapters/memory/elections.ts";
import { openEmbedded } from "../../../src/adapters/sql/engine/database.ts";
import { sqlElections } from "../../../src/adapters/sql/engine/elections.ts";
import { electionsContract } from "./elections.ts";

electionsContract("memory", () => Promise.resolve([memoryElections()]));

electionsContract("SQLite, two connections", async (t: TestContext) => {
  const dataDir = mkdtempSync(join(tmpdir(), "gatepost-elections-"));
  const open = async () => {
    const sql = await openEmbedded(dataDir, 0);
    t.after(() => sql.close());
    return sqlElections(sql.db);
  };
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  return [await open(), await open()];
});
