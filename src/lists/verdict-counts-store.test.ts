import { strict as assert } from "node:assert";
import { setImmediate as nextTurn } from "node:timers/promises";
import { test } from "node:test";
import { openStores } from "../../test/contracts/stores.ts";
import { sqlDomainMails } from "./domain-mail.ts";
import { sqlVerdictCounts } from "./verdict-counts.ts";

const names = Array.from({ length: 200 }, (_, at) => `n${String(at)}.example`);

test("between the batches of a long flush other work has a turn", async (t) => {
  const { sql } = await openStores(t);
  const counts = sqlVerdictCounts(sql.db);
  const mails = sqlDomainMails(sql.db);
  let turns = 0;
  let isOver = false;
  const others = (async () => {
    while (!isOver) {
      await nextTurn();
      turns += 1;
    }
  })();
  for (let day = 1; day <= 10; day += 1) {
    const rows = names.map((domain) => ({ day, domain, disposable: 0, other: 1 }));
    await counts.add(rows, 1_000);
    const seen = { hosts: ["mx.example"], addresses: [], disposable: false, day };
    await mails.save(
      names.map((domain) => ({ domain, ...seen })),
      1_000,
    );
  }
  isOver = true;
  await others;
  assert.ok(turns >= 20, `${String(turns)} turns beside 20 batches`);
});
