import assert from "node:assert/strict";
import { test } from "node:test";
import { type AuditLog, AUDIT_PLACE } from "../../../src/accounts/audit.ts";
import type { AuditEntryRow } from "../../../src/store/schema.ts";
import type { Make } from "../contract.ts";

export interface AuditLogUnderTest {
  readonly log: AuditLog;
  readonly append: (entry: AuditEntryRow) => Promise<void>;
  /** Makes an account of that id with the address `<id>@gatepost.example`. */
  readonly account: (id: string) => Promise<string>;
}

const entry = (id: string, more: Partial<AuditEntryRow> = {}): AuditEntryRow => ({
  id,
  at_ms: 1_000,
  action: "key.created",
  actor_id: "a1",
  account_id: "a1",
  detail: "",
  client_address: "192.0.2.1",
  ...more,
});

export function auditLogContract(name: string, make: Make<AuditLogUnderTest>): void {
  test(`audit log, ${name}: entries come newest first with the addresses of today`, async (t) => {
    const { log, append, account } = await make(t);
    for (const id of ["a1", "a2"]) await account(id);
    await append(entry("e1", { at_ms: 1_000 }));
    await append(entry("e2", { at_ms: 3_000, account_id: "a2" }));
    await append(entry("e3", { at_ms: 2_000, actor_id: "operator", account_id: "gone" }));
    const { rows: all } = await log.page({ limit: 10 });
    assert.deepEqual(
      all.map(({ id, actor_email, account_email }) => [id, actor_email, account_email]),
      [
        ["e2", "a1@gatepost.example", "a2@gatepost.example"],
        ["e3", null, null],
        ["e1", "a1@gatepost.example", "a1@gatepost.example"],
      ],
    );
  });

  test(`audit log, ${name}: pages hold each entry once, also of one millisecond`, async (t) => {
    const { log, append } = await make(t);
    const ids = ["a", "b", "c", "d", "e"].map((letter) => letter.repeat(32));
    for (const [index, id] of ids.entries()) {
      await append(entry(id, { at_ms: index < 4 ? 2_000 : 1_000 }));
    }
    const read: string[] = [];
    for (let after: string | undefined | null; after !== null;) {
      const page = await log.page({ limit: 2, after });
      assert.ok(page.next === null || AUDIT_PLACE.test(page.next));
      read.push(...page.rows.map(({ id }) => id));
      after = page.next;
    }
    assert.deepEqual(read, ids);
  });

  test(`audit log, ${name}: an account's log shows the changes of that account`, async (t) => {
    const { log, append } = await make(t);
    await append(entry("mine", { detail: "Sign-up form" }));
    await append(entry("by me", { account_id: "a2" }));
    const { rows } = await log.page({ accountId: "a1", limit: 10 });
    const { actor_email: _, account_email: __, ...row } = rows[0] ?? {};
    assert.deepEqual([row, rows.length], [entry("mine", { detail: "Sign-up form" }), 1]);
  });

  test(`audit log, ${name}: pruning deletes older entries`, async (t) => {
    const { log, append } = await make(t);
    await append(entry("old", { at_ms: 999 }));
    await append(entry("young", { at_ms: 1_000 }));
    assert.equal(await log.prune(1_000), 1);
    assert.deepEqual(
      (await log.page({ limit: 10 })).rows.map(({ id }) => id),
      ["young"],
    );
  });
}
