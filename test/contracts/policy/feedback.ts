import { strict as assert } from "node:assert";
import { test } from "node:test";
import { DecisionLog, pruneDecisions } from "../../../src/gate/decision-log.ts";
import { Feedback, pruneFeedback } from "../../../src/gate/feedback.ts";
import { BUILT_IN } from "../../../src/gate/rulings.ts";
import { insertRow } from "../../../src/store/rows.ts";
import { dayOf } from "../../../src/core/calendar.ts";
import { createAccountHash, mailboxId } from "../../../src/gate/traffic.ts";
import { readEntry } from "../../../src/core/address/address.ts";
import { DAY_MS } from "../../../src/core/calendar.ts";
import { createSingleCheck } from "../../../src/check/single-check.ts";
import { literalDatasets } from "../../lists/literal-datasets.ts";
import { zoneLookup } from "../../dns/zone-lookup.ts";
import type { Make } from "../contract.ts";
import { addAccount, type Stores } from "../stores.ts";

const LISTED = Array.from({ length: 110 }, (_, n) => `listed${String(n)}.example`);

/** What feedback and the log keep and find again. `make` returns an empty database. */
export function feedbackContract(name: string, make: Make<Stores>): void {
  test(`${name}: feedback becomes facts and proposals, and is pruned`, async (t) => {
    const stores = await make(t);
    for (const id of ["a1", "a2"]) await addAccount(stores, 0, id);
    const { clock, ids, log } = stores;
    const { db } = stores.sql;
    const datasets = () => literalDatasets({ curated: ["bad.example", ...LISTED] });
    const lookup = zoneLookup({});
    const check = createSingleCheck({ lookup, datasets, clock, implicitMx: false }, clock);
    const hash = createAccountHash(new Uint8Array(32).fill(3));
    const feedback = new Feedback({
      db,
      clock,
      ids,
      log,
      datasets,
      check,
      hash,
      counted() {},
    });
    const told = (accountId: string, email: string, outcome: "abuse" | "fine"): Promise<void> =>
      feedback.record(accountId, { about: { email }, outcome, note: "ü" });
    for (const local of ["a", "b", "c"]) await told("a1", `${local}@farm.example`, "abuse");
    await told("a2", "d@farm.example", "abuse");
    await told("a1", "a@bad.example", "fine");
    const day = "2026-11-20";
    const farm = { domain: "farm.example", proposes: "deny" as const, last_day: day };
    const bad = { domain: "bad.example", proposes: "allow" as const, last_day: day };
    assert.deepEqual(await feedback.proposals.all("a1"), [
      { ...bad, reports: 1, mailboxes: 1, accounts: 1 },
      { ...farm, reports: 3, mailboxes: 3, accounts: 1 },
    ]);
    assert.deepEqual(await feedback.proposals.all("a2"), []);
    const [, all] = await feedback.proposals.all();
    assert.deepEqual(all, { ...farm, reports: 4, mailboxes: 4, accounts: 2 });
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
    await feedback.proposals.answered("farm.example", "a1");
    assert.deepEqual(
      (await feedback.proposals.all("a1")).map(({ domain }) => domain),
      ["bad.example"],
    );
    assert.equal(await pruneFeedback(db, clock.nowMs() + 89 * DAY_MS), 0);
    assert.equal(await pruneFeedback(db, clock.nowMs() + 90 * DAY_MS), 5);
    // What is listed already, and one eager account, take no place from others.
    const eager = async (account_id: string, domain: string, day = dayOf(clock.nowMs())) => {
      const row = { account_id, domain, day, mailbox: "m", outcome: "abuse", note: "" } as const;
      const asks = { account_proposal: "", operator_proposal: "deny" } as const;
      for (const id of "123") await insertRow(db, "feedback", { ...row, ...asks, id: domain + id });
    };
    for (let n = 0; n < 110; n += 1) {
      await eager("a1", LISTED[n] ?? "");
      await eager("a1", `n${String(n)}-farm.example`);
    }
    await eager("a2", "quiet.example", dayOf(clock.nowMs()) - 5);
    const operators = await feedback.proposals.all();
    assert.equal(operators.length, 100);
    assert.ok(operators.some(({ domain }) => domain === "quiet.example"));
    assert.ok(operators.every(({ domain }) => !LISTED.includes(domain)));
    assert.deepEqual(log.lines, []);
  });

  test(`${name}: the log keeps decisions of accounts that want it`, async (t) => {
    const stores = await make(t);
    for (const id of ["a1", "a2"]) await addAccount(stores, 0, id);
    const { clock } = stores;
    const { db } = stores.sql;
    await db.updateTable("accounts").set({ decision_log: 1 }).where("id", "=", "a1").execute();
    const log = new DecisionLog({ db, clock, ids: stores.ids, log: stores.log });
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
