import { sqlAccounts } from "../accounts/accounts-store.ts";
import type { HourCounts } from "../accounts/hour-counts.ts";
import type { Admission } from "../accounts/admission/admission.ts";
import { createSecretBox, deriveKey } from "../base/secrets.ts";
import { createBackTestPolicy } from "../gate/back-test.ts";
import { createDecideOne, type DecideOne } from "../gate/decide-one.ts";
import { DecisionLog } from "../gate/decision-log.ts";
import { Feedback } from "../gate/feedback.ts";
import { createHookDesk, type HookDesk } from "../gate/hook-desk.ts";
import { createHookKeys } from "../gate/hook-keys.ts";
import { sqlHooks } from "../gate/hooks-store.ts";
import { createHookService } from "../gate/hooks.ts";
import { createFindPolicies } from "../gate/in-force.ts";
import {
  createOutcomeRecorder,
  type DecisionMade,
  type RecordDecision,
} from "../gate/outcome-recorder.ts";
import { sqlOutcomes } from "../gate/outcomes-store.ts";
import { createPolicyService } from "../gate/policies.ts";
import { sqlPolicyStore } from "../gate/policy-store.ts";
import { createTestPolicy } from "../gate/test-policy.ts";
import { createTokens, type Tokens } from "../gate/tokens.ts";
import { sqlTraffic } from "../gate/traffic-store.ts";
import { createAccountHash, Traffic } from "../gate/traffic.ts";
import type { DashboardGate } from "../http/account/context.ts";
import { sqlDomainMails } from "../lists/domain-mail.ts";
import { sqlVerdictCounts } from "../lists/verdict-counts.ts";
import { createOutbound } from "../outbound/outbound.ts";
import { createHostCheck } from "../outbound/public-host.ts";
import type { Checker } from "./checker.ts";
import { decisionCounter, feedbackCounter, hookCounter } from "./metrics.ts";
import type { Serving } from "./serving.ts";
import type { Links } from "./settings/links.ts";

/** The sign-up gate of a serving process. */
export interface Gate extends DashboardGate {
  readonly decisionLog: DecisionLog;
  readonly decideOne: DecideOne;
  readonly tokens: Tokens;
  readonly hooks: HookDesk;
}

interface GateParts extends Serving {
  readonly checker: Checker;
  readonly admission: Admission;
  readonly links: Links;
  readonly hours: Pick<HourCounts, "note">;
}

/** How long counts are believed where other servers count too. */
const FRESH_MS = 400;

/** What waits is written when the process closes. */
export function openGate(parts: GateParts): Gate {
  const { backing, secretKey, checker, admission, tiers, links } = parts;
  const { clock, ids, log } = parts;
  const { sql, notices } = backing.store;
  const publicUrl = links.base;
  const box = createSecretBox(secretKey);
  const accounts = sqlAccounts(sql.db);
  const tokens = createTokens({ accounts, box, publicUrl, clock, ids, log, notices });
  const store = sqlPolicyStore(sql.db);
  const outcomes = sqlOutcomes(sql.db);
  const policies = createFindPolicies({ store, clock, log, notices });
  const hash = createAccountHash(deriveKey(secretKey, "mailbox ids"));
  const { datasets, budgeted: check } = checker;
  const counted = feedbackCounter(parts.metrics.registry);
  const basis = { db: sql.db, clock, ids, log };
  const decisionLog = new DecisionLog(basis);
  const feedback = new Feedback({ ...basis, datasets, check, policies, hash, counted });
  const decideOne = createDecideOne({
    admission,
    check: checker.budgeted,
    datasets: checker.datasets,
    tiers,
    policies,
    hash,
    traffic: trafficOf(parts),
    feedback,
    record: recorderOf(parts, decisionLog),
    sign: tokens.sign,
    publicUrl,
    clock,
    log,
  });
  return {
    decideOne,
    decisionLog,
    feedback,
    hash,
    tokens,
    policies: createPolicyService({ store, outcomes, tiers, clock, notices }),
    testPolicy: createTestPolicy({ check: checker.budgeted, datasets }),
    backTestPolicy: backTestOf(parts),
    reportOutcomes: backing.store.reportOutcomes,
    hookService: createHookService({
      hooks: sqlHooks(sql.db),
      box,
      ids,
      clock,
      publicUrl,
      checkHost: createHostCheck({ addresses: checker.dns.everyAddress, clock }),
    }),
    hooks: hookDeskOf(parts, decideOne),
  };
}

function backTestOf({
  backing,
  checker,
  config,
  clock,
  shares,
}: GateParts): Gate["backTestPolicy"] {
  const { db } = backing.store.sql;
  const run = createBackTestPolicy({
    counts: sqlVerdictCounts(db),
    mails: sqlDomainMails(db),
    datasets: checker.datasets,
    implicitMx: config.implicitMx,
    clock,
  });
  return (owner, asked) => shares.of("back_tests").run(owner, () => run(asked));
}

/** What waits is written when the process closes. */
function trafficOf({ backing, clock, log, closing }: GateParts): Traffic {
  const store = sqlTraffic(backing.store.sql.db, clock);
  const others = backing.where === "alone" ? {} : { freshMs: FRESH_MS };
  const traffic = new Traffic({ store, clock, log, ...others });
  closing.add(() => traffic.flush());
  return traffic;
}

function hookDeskOf(parts: GateParts, decideOne: DecideOne): HookDesk {
  const { backing, secretKey, checker, admission, metrics, clock, log, closing } = parts;
  const { db } = backing.store.sql;
  // Accounts name these URLs, so nothing that the operator allows to others is allowed here.
  const outbound = createOutbound({ addresses: checker.dns.everyAddress, clock, allowed: [] });
  const desk = createHookDesk({
    hooks: sqlHooks(db),
    accounts: sqlAccounts(db),
    admission,
    decideOne,
    box: createSecretBox(secretKey),
    jwks: createHookKeys(outbound, clock),
    counted: hookCounter(metrics.registry),
    clock,
    log,
  });
  closing.add(() => desk.flush().catch((fault: unknown) => log.error("hooks.flush_failed", fault)));
  return desk;
}

/** Counts for the account, the metrics, and by domain if no new check ran. */
function recorderOf(parts: GateParts, decisionLog: DecisionLog): RecordDecision {
  const { backing, metrics, lists, clock, log, closing, hours } = parts;
  const outcomes = sqlOutcomes(backing.store.sql.db);
  const recorder = createOutcomeRecorder({ outcomes, clock, log, hours });
  closing.add(() =>
    recorder.flush().catch((fault: unknown) => log.error("decisions.flush_failed", fault)),
  );
  closing.add(() =>
    decisionLog.flush().catch((fault: unknown) => log.error("decisions.log_failed", fault)),
  );
  const counted = decisionCounter(metrics.registry);
  return (caller, made: DecisionMade) => {
    recorder.record(caller, made);
    decisionLog.note(caller, made);
    counted(made);
    if (made.isCached && made.format) lists.observeAgain(made);
  };
}
