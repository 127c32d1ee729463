import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createFindMailbox } from "./mailbox-ids.ts";
import { createAccountHash, mailboxKey } from "./traffic-marks.ts";

const FILE = new URL("../../../test/fixtures/mailbox-ids-0.2.0.json", import.meta.url);

test("what 0.2.0 gave is the id of today or stands in former, exactly", () => {
  const { ids } = JSON.parse(readFileSync(FILE, "utf8")) as { ids: Record<string, string> };
  const find = createFindMailbox(createAccountHash(mailboxKey(new Uint8Array(32).fill(7))));
  let changed = 0;
  for (const [email, old] of Object.entries(ids)) {
    const { id, former } = find("a1", email);
    assert.deepEqual(former, id === old ? [] : [old], email);
    if (id !== old) changed += 1;
  }
  assert.ok(changed > 100 && Object.keys(ids).length - changed > 100, String(changed));
});
