import { strict as assert } from "node:assert";
import { test } from "node:test";
import { DecisionLog, pruneDecisions } from "../../../src/gate/decision-log.ts";
import { Feedback, pruneFeedback } from "../../../src/gate/feedback.ts";
import { BUILT_IN } from "../../../src/gate/rulings.ts";
import { createAccountHash, mailboxId } from "../../../src/gate/traffic-marks.ts";
import { readEntry } from "../../../src/core/address/address.ts";
import { DAY_MS } from "../../../src/core/calendar.ts";
import { literalDatasets } from "../../lists/literal-datasets.ts";
import type { Make } from "../contract.ts";
import { addAccount, type Stores } from "../stores.ts";

/** What feedback and the log keep and find again. `make` returns an empty database. */
export function feedbackContract(name: string, make: Make<Stores>): void {
  test(`${name}: feedback becomes facts, and is pruned`, async (t) => {
    const stores = await make(t);
    for (const id of ["a1", "a2"]) await addAccount(stores, 0, id);
    const { clock, ids, log } = stores;
    const { db } = stores.sql;
    const datasets = () => literalDatasets({ curated: ["bad.example"] });
    const hash = createAccountHash(new Uint8Array(32).fill(3));
    const feedback = new Feedback({
      db,
      clock,
      ids,
      log,
      datasets,
      hash,
      counted() {},
    });
    const told = (accountId: string, email: string, outcome: "abuse" | "fine"): Promise<void> =>
      feedback.record(accountId, { about: { email }, outcome, note: "ü" });
    for (const local of ["a", "b", "c"]) await told("a1", `${local}@farm.example`, "abuse");
    await told("a2", "d@farm.example", "abuse");
    await told("a1", "a@bad.example", "fine");
    const entry = readEntry("a+1@farm.example", "address");
    assert.ok(entry.kind === "address");
    const about = { mailboxId: mailboxId(hash, "a1", entry.address), domain: "farm.example" };
    const facts = {
      mailbox_abused: 1,
      mailbox_bounced: 0,
      mailbox_complained: 0,
      domain_abused: 3,
      domain_bounced: 0,
    };
    assert.deepEqual(await feedback.facts("a1", about, 1_000), facts);
    assert.equal(await pruneFeedback(db, clock.nowMs() + 89 * DAY_MS), 0);
    assert.equal(await pruneFeedback(db, clock.nowMs() + 90 * DAY_MS), 5);
    assert.deepEqual(log.lines, []);
  });

  test(`${name}: the log keeps decisions of accounts that want it`, async (t) => {
    const stores = await make(t);
    for (const id of ["a1", "a2"]) await addAccount(stores, 0, id);
    const { clock } = stores;
    const { db } = stores.sql;
    await db.updateTable("accounts").set({ decision_log: 1 }).where("id", "=", "a1").execute();
    const log = new DecisionLog({
      db,
      clock,
      ids: stores.ids,
      log: stores.log,
      hash: createAccountHash(new Uint8Array(32)),
    });
    const made = {
      outcome: { decision: "review", reason: "burst", rule: 6 },
      facts: {
        format: true,
        domain: "x.example",
        registrable_domain: "x.example",
        disposable: false,
        dns: "yes",
        signals: ["plus_alias", "role"],
      },
      asked: "signup",
      sources: [],
      shape: undefined,
      policies: BUILT_IN,
      form: "join",
      isCached: false,
      isComplete: true,
      mailboxId: "m_1",
    } as const;
    const note = (accountId: string): void =>
      log.note(
        {
          owner: { kind: "account", accountId },
          tier: "free",
          clientAddress: "",
          logsDecisions: true,
        },
        made,
      );
    for (const id of ["a1", "a1", "a2", "gone"]) note(id);
    await log.flush();
    const first = await log.page("a1", { decision: "review", form: "join", limit: 1 });
    const [one] = first.decisions;
    assert.deepEqual(
      [one?.signals, one?.rule, one?.mailbox],
      [["plus_alias", "role"], 6, { id: "m_1" }],
    );
    const second = await log.page("a1", { after: first.next ?? "", limit: 1 });
    assert.deepEqual([second.decisions.length, second.next], [1, null]);
    for (const id of ["a2", "gone"])
      assert.deepEqual((await log.page(id, { limit: 9 })).decisions, []);
    assert.equal(await pruneDecisions(db, clock.nowMs() + 7 * DAY_MS + 1), 2);
  });
}
