import { strict as assert } from "node:assert";
import { test } from "node:test";
import { auditedRefresh } from "./audited.ts";
import type { Change } from "../accounts/audit.ts";

const NOTED = [
  {
    name: "a round without the operator's word",
    confirmed: undefined,
    detail: "2 asked, 1 refused",
  },
  {
    name: "a round in which the operator confirms a list",
    confirmed: ["tame"],
    detail: "2 asked, 1 refused, tame confirmed",
  },
];

for (const { name, confirmed, detail } of NOTED) {
  test(`${name} reaches the lists as it was asked for, and is written down`, async () => {
    const asked: (readonly string[] | undefined)[] = [];
    const noted: Partial<Change>[] = [];
    const lists = auditedRefresh(
      {
        status: () => Promise.resolve([]),
        refresh(word) {
          asked.push(word);
          return Promise.resolve([
            { id: "tame", kind: "accepted" },
            { id: "wild", kind: "refused", why: "size_swing" },
          ]);
        },
      },
      (change) => Promise.resolve(void noted.push(change)),
    );
    await lists.refresh(confirmed);
    assert.deepEqual(asked, [confirmed ?? []]);
    assert.deepEqual(noted, [{ action: "lists.fetched", accountId: "service", detail }]);
  });
}
