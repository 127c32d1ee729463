import type { Health } from "../base/health.ts";
import { Alerts } from "../gate/alerts.ts";
import type { Duties } from "../store/elections.ts";
import { WatchDuty } from "../watch/watch-duty.ts";
import { WatchList } from "../watch/watch-list.ts";
import { startHealthAlerts } from "../webhooks/health-alerts.ts";
import type { Checker } from "./checker.ts";
import type { Process } from "./process.ts";
import type { Serving } from "./serving.ts";
import type { Webhooks } from "./webhooks.ts";

interface WatchParts {
  readonly serving: Serving;
  readonly checker: Checker;
  readonly webhooks: Webhooks;
}

export function openWatch(process: Process, { serving, checker, webhooks }: WatchParts) {
  const { clock, ids, log, closing } = process;
  const { db } = serving.backing.store.sql;
  const { announce, announcement } = webhooks.dispatcher;
  const told = { db, clock, log, announce, announced: announcement.written };
  const { datasets } = checker;
  const random = (): number => Buffer.from(ids.bytes(4)).readUInt32BE() / 2 ** 32;
  const alerts = new Alerts(told);
  closing.add(alerts.start());
  const isDisposable = (text: string): boolean =>
    checker.withoutDns({ text, mode: "domain", asked: { features: [], spamTrap: false } }).result
      .disposable;
  const { mx, addresses } = serving.dns;
  const duty = new WatchDuty({
    ...told,
    lookup: { mx, addresses, registration: (...asked) => checker.lookup.registration(...asked) },
    isDisposable,
  });
  const duties = (health: Health): Duties => ({
    watch: () => Promise.resolve(duty.start()),
    health_alerts: () => Promise.resolve(startHealthAlerts({ ...told, health })),
  });
  return { alerts, duties, list: new WatchList({ db, datasets, clock, random }) };
}
