import type { End } from "../base/every.ts";
import type { BrokenPart } from "../base/health.ts";
import { isoTime } from "../core/calendar.ts";
import { deleteRows, insertRow } from "../store/rows.ts";
import type { AnnounceDeps } from "./dispatcher.ts";
import { lookOften, tell } from "./tell.ts";

/** Whose rows these are: no account has the id. */
const SERVICE = "";

interface HealthAlertsDeps extends AnnounceDeps {
  readonly health: { readonly now: () => Promise<readonly BrokenPart[]> };
}

/** Tells administrators' accounts when a part of the service breaks and when it is mended: a duty of one process. */
export const startHealthAlerts = (deps: HealthAlertsDeps): End =>
  lookOften(deps, "health.alerts_failed", () => tellHealth(deps));

export async function tellHealth(deps: HealthAlertsDeps): Promise<void> {
  const { db, health, clock } = deps;
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
    await tell(deps, async ({ sql }) => {
      const row = { account_id: SERVICE, kind: part };
      const times = { began_ms: sinceMs, told_ms: sinceMs, seen_ms: sinceMs };
      if (trouble === undefined) await deleteRows(sql, "alerts", row);
      else await insertRow(sql, "alerts", { ...row, ...times, count: 0 });
      const state = trouble === undefined ? "mended" : "broken";
      const words = trouble && { says: trouble.says, to_do: trouble.toDo };
      const data = { part, state, since: isoTime(sinceMs), ...words };
      return admins.map(({ id }) => ({ accountId: id, event: "service.health", data }));
    });
  }
}
