import { existsSync, statfsSync } from "node:fs";
import { resolve } from "node:path";
import { sql } from "kysely";
import type { SqlDatabase } from "../../store/database.ts";
import { MIGRATIONS } from "../../store/migrate.ts";
import type { Finding } from "../../cli/commands/doctor.ts";
import type { Clock } from "../../base/clock.ts";
import { megabytes, note, ok, wrong } from "./findings.ts";

const DISK_LOW_BYTES = 1_000_000_000;
const DISK_FULL_BYTES = 100_000_000;

export function examineDisk(dataDir: string): Finding {
  const folder = existsSync(dataDir) ? dataDir : ".";
  const { bavail, bsize } = statfsSync(folder);
  const says = `${megabytes(bavail * bsize)} are free at ${resolve(folder)}.`;
  const advice = "Free some space, or set GATEPOST_DATA_DIR to a larger disk.";
  if (bavail * bsize < DISK_FULL_BYTES) return wrong("disk", says, advice);
  return bavail * bsize < DISK_LOW_BYTES ? note("disk", says, advice) : ok("disk", says);
}

/** Integrity of the file (SQLite), the schema's version, the ledger, the clock against what was written. */
export async function examineDatabase(
  { db, answers }: SqlDatabase,
  isEmbedded: boolean,
  clock: Clock,
): Promise<readonly Finding[]> {
  if (!(await answers())) {
    return [
      wrong(
        "database",
        "It takes no writes now.",
        "Look for a full disk, a read-only file or server, or another program that holds it locked.",
      ),
    ];
  }
  const findings = [
    isEmbedded ? await integrity(db) : ok("database", "PostgreSQL answers and takes writes."),
  ];
  const { rows } = await sql<{ number: number; newest: number | string }>`
    select max(number) as number, max(applied_at_ms) as newest from schema_migrations`.execute(db);
  const { number = 0, newest = 0 } = rows[0] ?? {};
  findings.push(
    Number(number) === MIGRATIONS.length
      ? ok("schema", `Version ${String(number)}, as this program has it.`)
      : wrong(
          "schema",
          `Version ${String(number)}; this program has ${String(MIGRATIONS.length)}.`,
          "Run gatepost migrate.",
        ),
  );
  findings.push(await ledger(db), clockFinding(clock.nowMs(), Number(newest)));
  return findings;
}

async function integrity(db: SqlDatabase["db"]): Promise<Finding> {
  const { rows } = await sql<Record<string, string>>`pragma quick_check(5)`.execute(db);
  const words = rows.flatMap((row) => Object.values(row));
  if (words.join() === "ok") return ok("database", "The file is whole and takes writes.");
  return wrong(
    "database",
    `The file is damaged: ${words.join("; ").slice(0, 300)}`,
    "Stop the service and restore a back-up.",
  );
}

/** An account's balance is the sum of its entries, and never negative. */
async function ledger(db: SqlDatabase["db"]): Promise<Finding> {
  const { rows } = await sql<{ id: string }>`
    select id from accounts where credit_balance < 0 or credit_balance <>
      (select coalesce(sum(amount), 0) from credit_entries where account_id = accounts.id)
    limit 5`.execute(db);
  if (rows.length === 0) return ok("ledger", "Every balance is the sum of its entries.");
  const ids = rows.map(({ id }) => id).join(", ");
  return wrong(
    "ledger",
    `Balances differ from their entries: ${ids}.`,
    "Keep a copy of the database and report this; no command of Gatepost does it.",
  );
}

/** A minute: what was written a moment ago by another machine may be ahead. */
const CLOCK_SLACK_MS = 60_000;

function clockFinding(nowMs: number, newestMs: number): Finding {
  if (nowMs >= newestMs - CLOCK_SLACK_MS) return ok("clock", "It is not behind the database.");
  return wrong(
    "clock",
    "It is behind times that are in the database.",
    "Set this machine's clock (NTP): quotas, sessions and keys go by it.",
  );
}
