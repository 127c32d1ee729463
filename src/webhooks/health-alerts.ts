import { type End, every } from "../base/every.ts";
import type { BrokenPart } from "../base/health.ts";
import { isoTime } from "../core/calendar.ts";
import { deleteRows, insertRow } from "../store/rows.ts";
import { inTransaction } from "../store/transaction.ts";
import type { AnnounceDeps } from "./dispatcher.ts";

const LOOK_EVERY_MS = 30_000;

/** Whose rows these are: no account has the id. */
const SERVICE = "";

interface HealthAlertsDeps extends AnnounceDeps {
  readonly health: { readonly now: () => Promise<readonly BrokenPart[]> };
}

/** Tells administrators' accounts when a part of the service breaks and when it is mended: a duty of one process. */
export function startHealthAlerts(deps: HealthAlertsDeps): End {
  const failed = (fault: unknown): void => deps.log.error("health.alerts_failed", fault);
  return every({ ms: LOOK_EVERY_MS, clock: deps.clock, failed }, () => tellHealth(deps));
}

export async function tellHealth(deps: HealthAlertsDeps): Promise<void> {
  const { db, health, clock, announce, announced } = deps;
  const broken = new Map((await health.now()).map((each) => [each.part as string, each]));
  const known = await db
    .selectFrom("alerts")
    .select(["kind", "began_ms"])
    .where("account_id", "=", SERVICE)
    .execute();
  const told = new Map(known.map(({ kind, began_ms }) => [kind, Number(began_ms)]));
  const admins = await db.selectFrom("accounts").select("id").where("admin", "=", 1).execute();
  for (const part of new Set([...broken.keys(), ...told.keys()])) {
    const trouble = broken.get(part);
    if (told.has(part) === (trouble !== undefined)) continue;
    const sinceMs = trouble?.sinceMs ?? told.get(part) ?? clock.nowMs();
    await inTransaction(db, async (tx) => {
      const row = { account_id: SERVICE, kind: part };
      const times = { began_ms: sinceMs, told_ms: sinceMs, seen_ms: sinceMs };
      if (trouble === undefined) await deleteRows(tx.sql, "alerts", row);
      else await insertRow(tx.sql, "alerts", { ...row, ...times, count: 0 });
      const state = trouble === undefined ? "mended" : "broken";
      const words = trouble && { says: trouble.says, to_do: trouble.toDo };
      const data = { part, state, since: isoTime(sinceMs), ...words };
      for (const { id } of admins) await announce(tx, id, "service.health", data);
    });
    announced();
  }
}
