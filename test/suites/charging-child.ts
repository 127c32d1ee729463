// Charges an account until it is killed, and prints the confirmed steps.
// Arguments: the data directory, the account.
import { randomBytes } from "node:crypto";
import { writeSync } from "node:fs";
import { MemoryQuotaCounter } from "../../src/adapters/memory/quota-counter.ts";
import { sqlCharges } from "../../src/adapters/sql/admission/charges.ts";
import { openEmbedded } from "../../src/adapters/sql/engine/database.ts";
import { sqlUsageLedger } from "../../src/adapters/sql/admission/usage-ledger.ts";
import type { Ids } from "../../src/ports/process/ids.ts";
import { recordingLog } from "../contracts/stores.ts";

const [dataDir = "", accountId = ""] = process.argv.slice(2);
const ids: Ids = {
  bytes: (count) => randomBytes(count),
  hex32: () => randomBytes(16).toString("hex"),
};
const { db } = await openEmbedded(dataDir, Date.now());
const usage = sqlUsageLedger(db);
const counter = new MemoryQuotaCounter({
  ledger: usage,
  log: recordingLog(),
  clock: { after: () => () => undefined }, // flushed explicitly below, so that printed steps are certain
});
const charges = sqlCharges({ db, counter, ids });
const say = (line: string): void => void writeSync(1, `${line}\n`);
const owner = { kind: "account", accountId } as const;
const limits = { daily: null, monthly: null };

for (let round = 0; round < 100_000; round += 1) {
  const nowMs = Date.now();
  const purses = round % 2 === 0 ? "credits" : "plan";
  const charge = await charges.charge({ owner, units: 3, limits, purses, nowMs });
  if (charge.kind === "unpaid") throw new Error("the account is too poor for this test");
  say(`charged ${purses} ${charge.id}`);
  await counter.take(`account:${accountId}`, 1, limits, nowMs);
  if (round % 10 === 9) {
    await counter.flush();
    say("flushed 10");
  }
  if (round % 4 === 0) {
    await charges.refund(charge.id, 3, nowMs);
    say(`refunded ${purses} ${charge.id}`);
  }
}
