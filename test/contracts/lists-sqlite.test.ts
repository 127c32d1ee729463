import type { TestContext } from "node:test";
import { sqlOperatorEntries } from "../../src/adapters/sql/operator-entries.ts";
import { sqlReports } from "../../src/adapters/sql/reports.ts";
import { sqlVerdictCounts } from "../../src/adapters/sql/verdict-counts.ts";
import { operatorEntriesContract } from "./operator-entries.ts";
import { reportsContract } from "./reports.ts";
import { addAccount, openStores } from "./stores.ts";
import { verdictCountsContract } from "./verdict-counts.ts";

operatorEntriesContract("SQLite", async (t) => sqlOperatorEntries((await openStores(t)).sql.db));

verdictCountsContract("SQLite", async (t) => sqlVerdictCounts((await openStores(t)).sql.db));

reportsContract("SQLite", async (t: TestContext) => {
  const stores = await openStores(t);
  return { reports: sqlReports(stores.sql.db), account: (id) => addAccount(stores, 0, id) };
});
