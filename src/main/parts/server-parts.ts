import { memoryRateCounter } from "../../accounts/admission/rate-counter.ts";
import { sqlRegistrationCache } from "../../check/registration-cache.ts";
import { createAdmission } from "../../accounts/admission/counting-admission.ts";
import type { Admission } from "../../accounts/admission/admission.ts";
import {
  createUsageRecorder,
  type UsageRecorder,
} from "../../accounts/admission/usage-recorder.ts";
import { type Checker, observed, openChecker } from "./checker.ts";
import { type Gate, openGate } from "./gate.ts";
import { createLinks, type Links } from "../settings/links.ts";
import type { Process } from "../process/open-process.ts";
import { openServing, type Serving } from "./serving.ts";
import { type VerdictTally, verdictTally } from "../metrics/verdict-metrics.ts";
import { type OpenBulk, openBulk } from "./open-bulk.ts";
import { webhookCounter } from "../metrics/program-metrics.ts";
import type { Texts } from "../threads/texts.ts";
import { openWebhooks, type Webhooks } from "./webhooks.ts";

/** All that a server opens before it listens. */
export interface ServerParts extends Serving {
  readonly links: Links;
  readonly checker: Checker;
  readonly usage: UsageRecorder;
  readonly admission: Admission;
  readonly webhooks: Webhooks;
  readonly bulk: OpenBulk;
  readonly texts: Texts;
  readonly gate: Gate;
  /** Of single checks. */
  readonly verdicts: VerdictTally;
}

/** Everything is closed with the process. */
export async function openServerParts(process: Process): Promise<ServerParts> {
  const serving = await openServing(process, "bulk");
  const { config, clock, log, closing, tiers, backing, metrics, lists, secretKey } = serving;
  const { store, ledgers, rates, requests } = backing;
  const { keys, quotas, charges } = ledgers;
  const { sql, notices } = store;
  const registrations = sqlRegistrationCache(sql.db);
  const verdicts = verdictTally();
  const plain = openChecker(process, { ...serving, registrations, datasets: lists.datasets });
  const checker = observed(plain, (validation) => {
    lists.observe(validation);
    verdicts.count(validation.result);
  });
  closing.add(() => checker.close());
  const counters = {
    rates,
    ...(requests !== undefined && { requests }),
    ...(backing.where !== "alone" && { localRates: memoryRateCounter() }),
  };
  const admission = createAdmission({ keys, quotas, charges, clock, tiers, notices, ...counters });
  const usage = createUsageRecorder({ usage: ledgers.usage, keys, clock, log });
  closing.add(() =>
    usage.flush().catch((fault: unknown) => log.error("usage.flush_failed", fault)),
  );
  const webhooks = openWebhooks(process, {
    sql,
    secretKey,
    addresses: checker.dns.everyAddress,
    sent: backing.where === "alone" ? "here" : "elsewhere",
    notices,
    counted: webhookCounter(metrics.registry),
  });
  const texts = openTexts(serving);
  const bulk = await openBulk(process, {
    split: texts.split,
    sql,
    charges,
    where: backing.where,
    startRunner: backing.startBulkRunner,
    admission,
    tiers,
    checker,
    datasets: lists.shared(),
    traffic: lists,
    secretKey,
    shares: serving.shares,
    onCompleted: webhooks.announce,
  });
  lists.onShared((shared) => bulk.use(shared));
  const links = createLinks(config);
  const gate = openGate({ ...serving, links, checker, admission });
  return { ...serving, links, checker, admission, usage, webhooks, bulk, gate, verdicts, texts };
}

function openTexts({ machine, shares, closing }: Serving): Texts {
  const texts = machine.openTexts(shares.of("splitting"));
  closing.add(() => texts.close());
  return texts;
}
