import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuditEntry, AuditLog } from "../../../src/accounts/audit.ts";
import type { Make } from "../contract.ts";

export interface AuditLogUnderTest {
  readonly log: AuditLog;
  /** Makes an account of that id with the address `<id>@gatepost.example`. */
  readonly account: (id: string) => Promise<string>;
}

const entry = (id: string, more: Partial<AuditEntry> = {}): AuditEntry => ({
  id,
  atMs: 1_000,
  action: "key.created",
  actorId: "a1",
  accountId: "a1",
  detail: "",
  clientAddress: "192.0.2.1",
  ...more,
});

export function auditLogContract(name: string, make: Make<AuditLogUnderTest>): void {
  test(`audit log, ${name}: entries come newest first with the addresses of today`, async (t) => {
    const { log, account } = await make(t);
    for (const id of ["a1", "a2"]) await account(id);
    await log.append(entry("e1", { atMs: 1_000 }));
    await log.append(entry("e2", { atMs: 3_000, accountId: "a2" }));
    await log.append(entry("e3", { atMs: 2_000, actorId: "operator", accountId: "gone" }));
    const all = await log.newest(10);
    assert.deepEqual(
      all.map(({ id, actorEmail, accountEmail }) => [id, actorEmail, accountEmail]),
      [
        ["e2", "a1@gatepost.example", "a2@gatepost.example"],
        ["e3", undefined, undefined],
        ["e1", "a1@gatepost.example", "a1@gatepost.example"],
      ],
    );
    assert.deepEqual(
      (await log.newest(1)).map(({ id }) => id),
      ["e2"],
    );
  });

  test(`audit log, ${name}: an account's log shows the changes of that account`, async (t) => {
    const { log } = await make(t);
    await log.append(entry("mine", { detail: "Sign-up form" }));
    await log.append(entry("by me", { accountId: "a2" }));
    const rows = await log.ofAccount("a1", 10);
    assert.deepEqual(rows, [entry("mine", { detail: "Sign-up form" })]);
  });

  test(`audit log, ${name}: pruning deletes older entries`, async (t) => {
    const { log } = await make(t);
    await log.append(entry("old", { atMs: 999 }));
    await log.append(entry("young", { atMs: 1_000 }));
    assert.equal(await log.prune(1_000), 1);
    assert.deepEqual(
      (await log.newest(10)).map(({ id }) => id),
      ["young"],
    );
  });
}
