import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { gateWorld } from "../../test/policy/gate-world.ts";
import { BUILT_IN } from "./rulings.ts";

const MADE = {
  facts: {
    format: true,
    domain: "n.example",
    registrable_domain: "n.example",
    disposable: false,
    dns: "unknown",
    signals: [],
  },
  policies: BUILT_IN,
  form: "",
  asked: "signup",
  isCached: false,
  isComplete: false,
  mailboxId: undefined,
  sources: [],
  shape: undefined,
} as const;

test("a flood by a page's key leaves the log what the account's own servers decided", async (t) => {
  const { store, decisionLog } = await gateWorld(t);
  const order = {
    email: "jo@shop.example",
    tier: "pro",
    isAdmin: false,
    origin: "operator",
  } as const;
  const made = await store.accounts.create(order);
  assert.ok(made.kind === "created");
  const { id } = made.account;
  await store.switches.switchLog(id, "on");
  const page = await store.keys.create(id, "page", { origins: ["https://shop.example"] });
  const own = await store.keys.create(id, "own");
  const owner = { kind: "account", accountId: id } as const;
  const decide = async (keyId: string, decision: "accept" | "review") => {
    const caller = { owner, tier: "pro", clientAddress: "", keyId, logsDecisions: true } as const;
    decisionLog.note(caller, { ...MADE, outcome: { decision, reason: "unknown" } });
    await decisionLog.flush();
  };
  const { db } = store.sql;
  await decide(own.key.id, "review");
  await decide(page.key.id, "accept");
  const flood = Array.from({ length: 10_100 }, (_, at) => String(at).padStart(5, "0"));
  await sql`
    insert into decisions (account_id, id, at_ms, decision, reason, policy, version, signals, key_id, complete)
    select account_id, decisions.id || n.value, at_ms, decision, reason, policy, version, signals, key_id, complete
    from decisions, json_each(${JSON.stringify(flood)}) n where key_id = ${page.key.id}`.execute(
    db,
  );
  await decide(page.key.id, "accept");
  const { decisions } = await decisionLog.page(id, { decision: "review", limit: 100 });
  assert.equal(decisions.length, 1);
  const rows = await db.selectFrom("decisions").select("key_id").execute();
  assert.equal(rows.filter(({ key_id: key }) => key === page.key.id).length, 5_000);
});
