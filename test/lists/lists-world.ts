import type { TestContext } from "node:test";
import { DomainMails, VerdictCounts } from "../../src/lists/domain-verdicts.ts";
import { RuleStore } from "../../src/lists/rules/rule.ts";
import { createAddressHash } from "../../src/base/address-hash.ts";
import type { Datasets } from "../../src/core/evidence/datasets.ts";
import { createBackTest } from "../../src/lists/rules/back-test.ts";
import { RuleService } from "../../src/lists/rules/rules.ts";
import { addAccount, openStores } from "../contracts/stores.ts";
import { literalDatasets } from "./literal-datasets.ts";

export const hash = createAddressHash(new Uint8Array(32).fill(7));

/** The feeds of `literalDatasets`. */
const FEEDS = ["curated", "first", "second", "weak"];

/** The services of lists on one SQLite store, with accounts "a1" and "a2"; by default in memory. */
export async function listsWorld(
  t: TestContext,
  { dataDir, datasets = literalDatasets({}) }: { dataDir?: string; datasets?: Datasets } = {},
) {
  const stores = await openStores(t, dataDir);
  const { sql, clock } = stores;
  await addAccount(stores, 0, "a1");
  await addAccount(stores, 0, "a2");
  const entries = new RuleStore(sql.db);
  const counts = new VerdictCounts(sql.db);
  const mails = new DomainMails(sql.db);
  const operator = new RuleService({ entries, hash, clock, feeds: FEEDS });
  const backTest = createBackTest({
    entries,
    counts,
    mails,
    datasets: () => datasets,
    hash,
    clock,
  });
  return { ...stores, entries, counts, mails, operator, backTest };
}
