import type { TestContext } from "node:test";
import { DomainMails } from "../../src/lists/domain-mails.ts";
import { RuleStore } from "../../src/lists/rules/rule.ts";
import { createAddressHash } from "../../src/base/secrets.ts";
import { RuleService } from "../../src/lists/rules/rules.ts";
import { addAccount, openStores } from "../contracts/stores.ts";

export const hash = createAddressHash(new Uint8Array(32).fill(7));

/** The feeds of `literalDatasets`. */
const FEEDS = ["curated", "first", "second", "weak"];

/** The services of lists on one SQLite store, with accounts "a1" and "a2"; by default in memory. */
export async function listsWorld(t: TestContext) {
  const stores = await openStores(t);
  const { sql, clock } = stores;
  await addAccount(stores, 0, "a1");
  await addAccount(stores, 0, "a2");
  const entries = new RuleStore(sql.db);
  const mails = new DomainMails(sql.db);
  const operator = new RuleService({ entries, hash, clock, feeds: FEEDS });
  return { ...stores, entries, mails, operator };
}
