import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { sqlAccounts } from "../../src/adapters/sql/account/accounts.ts";
import { addAccount, openStores } from "../contracts/stores.ts";

const CHILD = fileURLToPath(new URL("./charging-child.js", import.meta.url));
const BALANCE = 1_000_000;

/** Lets a child charge on `dataDir`, kills it after the given number of lines, and returns the complete lines. */
async function killedAfter(t: TestContext, dataDir: string, lines: number): Promise<string[]> {
  const child = spawn(process.execPath, [CHILD, dataDir, "a1"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString();
    if (text.split("\n").length > lines) child.kill("SIGKILL");
  });
  const signal = await new Promise((resolve) => child.on("close", (_, name) => resolve(name)));
  assert.equal(signal, "SIGKILL");
  return text.split("\n").slice(0, -1);
}

const idsOf = (lines: readonly string[], what: string): string[] =>
  lines.filter((line) => line.startsWith(what)).map((line) => line.split(" ")[2] ?? "");

for (const lines of [1, 40, 333]) {
  test(`a process killed after ${String(lines)} steps charges and refunds exactly once`, async (t) => {
    const dataDir = mkdtempSync(join(tmpdir(), "gatepost-kill-"));
    t.after(() => rmSync(dataDir, { recursive: true, force: true }));
    const before = await openStores(t, dataDir);
    await addAccount(before, BALANCE);
    await before.sql.close();
    const told = await killedAfter(t, dataDir, lines);

    const { credits, charges, usage, sql, clock } = await openStores(t, dataDir);
    const accounts = sqlAccounts(sql.db);
    const ledger = async () => {
      const entries = await credits.entries("a1", BALANCE);
      const sum = entries.reduce((total, { amount }) => total + amount, 0);
      assert.equal((await accounts.find("a1"))?.creditBalance, sum);
      const count = (reason: string, id: string) =>
        entries.filter((entry) => entry.reason === reason && entry.reference === id).length;
      return { entries, sum, count };
    };
    const { entries, count } = await ledger();
    const charged = idsOf(told, "charged credits");
    for (const id of charged) assert.equal(count("charge", id), 1);
    for (const id of idsOf(told, "refunded credits")) assert.equal(count("refund", id), 1);
    const written = entries.filter(({ reason }) => reason === "charge");
    assert.ok(written.length - charged.length <= 1, "at most the current step is additional");

    // All bulk units of the plan are counted; of single checks only unwritten ones are lost.
    const rows = await sql.db.selectFrom("charges").selectAll().execute();
    const byPlan = rows.filter((row) => row.paid_by === "plan");
    const bulk = byPlan.reduce((sum, row) => sum + row.amount - row.refunded, 0);
    for (const id of idsOf(told, "charged plan")) assert.ok(byPlan.some((row) => row.id === id));
    const days = await usage.days("account:a1", 0, 1_000_000);
    const single = days.reduce((sum, { units }) => sum + units, 0) - bulk;
    const flushed = told.filter((line) => line.startsWith("flushed")).length * 10;
    assert.ok(single === flushed || single === flushed + 10);

    // The process that takes over may refund open charges any number of times.
    for (const twice of [1, 2]) {
      for (const { id } of rows) await charges.refund(id, 3, clock.nowMs() + twice);
    }
    assert.equal((await ledger()).sum, BALANCE);
    const after = await usage.days("account:a1", 0, 1_000_000);
    assert.equal(
      after.reduce((sum, { units }) => sum + units, 0),
      single,
    );
  });
}
