import { Accounts } from "../accounts/accounts-store.ts";
import type { Admission } from "../accounts/admission/admission.ts";
import type { RequestCounts } from "../accounts/request-counts.ts";
import { createSecretBox } from "../base/secrets.ts";
import { createBackTestPolicy } from "../gate/back-test.ts";
import { createDecideOne, type DecideDeps, type DecideOne } from "../gate/decide-one.ts";
import { DecisionLog } from "../gate/decision-log.ts";
import { Feedback } from "../gate/feedback.ts";
import { HookHandler, type HookHandlerDeps } from "../gate/hook-handler.ts";
import { createHookKeys } from "../gate/hook-signatures.ts";
import { Hooks } from "../gate/hooks-store.ts";
import { HookService } from "../gate/hooks.ts";
import { createFindPolicies } from "../gate/in-force.ts";
import { type DecisionMade, OutcomeRecorder, Outcomes } from "../gate/outcomes.ts";
import { createProofs } from "../gate/proof/proof.ts";
import { createFetchJson } from "../gate/published-json.ts";
import { PolicyService } from "../gate/policies.ts";
import { PolicyStore } from "../gate/policy-store.ts";
import { createTestPolicy } from "../gate/rule-entry.ts";
import { createTokens, type Tokens } from "../gate/tokens.ts";
import { TrafficStore } from "../gate/traffic-store.ts";
import { type AccountHash, createAccountHash, mailboxKey, Traffic } from "../gate/traffic.ts";
import { Waves } from "../gate/waves.ts";
import type { DashboardGate } from "../http/account/route.ts";
import { DomainMails, VerdictCounts } from "../lists/domain-verdicts.ts";
import { createOutbound } from "../outbound/outbound.ts";
import { createHostCheck } from "../outbound/dial.ts";
import type { Checker } from "./checker.ts";
import { decisionCounter, hookCounter, outcomeCounter } from "./metrics.ts";
import { flushLast, type Process } from "./process.ts";
import type { Serving } from "./serving.ts";
import type { Webhooks } from "./webhooks.ts";

export interface Gate extends DashboardGate {
  readonly decisionLog: DecisionLog;
  readonly decideOne: DecideOne;
  readonly tokens: Tokens;
  readonly hooks: HookHandler;
}

interface GateParts {
  readonly serving: Serving;
  readonly checker: Checker;
  readonly admission: Admission;
  readonly publicUrl: () => string;
  readonly counts: Pick<RequestCounts, "note">;
  readonly webhooks: Pick<Webhooks, "dispatcher">;
}

/** How long counts are believed where other servers count too. */
const FRESH_MS = 400;

export function openGate(process: Process, parts: GateParts): Gate {
  const { clock, ids, log } = process;
  const { serving, checker, admission, publicUrl } = parts;
  const { backing, secretKey, tiers, metrics, shares } = serving;
  const { sql, notices, reportOutcomes } = backing.store;
  const { db } = sql;
  const box = createSecretBox(secretKey);
  const [accounts, hooks] = [new Accounts(db), new Hooks(db)];
  const tokens = createTokens({ accounts, box, publicUrl, clock, ids, log, notices });
  const [store, outcomes] = [new PolicyStore(db), new Outcomes(db)];
  const policies = createFindPolicies({ store, clock, log, notices });
  const hash = createAccountHash(mailboxKey(secretKey));
  const { datasets, budgeted: check, withoutDns: checkWithoutDns, dns } = checker;
  const counted = outcomeCounter(metrics.registry, "feedback");
  const decisionLog = new DecisionLog({ db, clock, ids, log });
  const feedback = new Feedback({ db, clock, ids, log, datasets, check, hash, counted });
  const { traffic, waves } = openTraffic(process, parts, hash);
  const record = recorderOf(process, parts, { outcomes, decisionLog });
  // Accounts, tokens and DNS name these URLs, so nothing that the operator allows to others is allowed here.
  const outbound = createOutbound({ addresses: dns.everyAddress, clock });
  const fetchJson = createFetchJson(outbound, clock);
  const deciding = createDecideOne({
    admission,
    check,
    checkWithoutDns,
    datasets,
    tiers,
    policies,
    hash,
    traffic,
    noticeWave: (owner) => waves.noticed(owner),
    feedback,
    record,
    sign: tokens.sign,
    prove: createProofs({ lookup: dns, fetchJson, clock }),
    publicUrl,
    clock,
    log,
  });
  const jwks = createHookKeys(fetchJson, clock);
  const handler = openHookHandler(process, parts, { hooks, accounts, box, jwks, ...deciding });
  const checkHost = createHostCheck({ addresses: dns.everyAddress, clock });
  const mails = new DomainMails(db);
  const { implicitMx } = process.config;
  const counts = new VerdictCounts(db);
  const backTest = createBackTestPolicy({ counts, mails, datasets, implicitMx, clock });
  return {
    decideOne: deciding.decideOne,
    decisionLog,
    feedback,
    waves,
    hash,
    tokens,
    policies: new PolicyService({ store, outcomes, tiers, clock, notices }),
    testPolicy: createTestPolicy({ check, datasets }),
    backTestPolicy: (owner, asked) => shares.of("back_tests").run(owner, () => backTest(asked)),
    reportOutcomes,
    hookService: new HookService({ hooks, box, ids, clock, publicUrl, checkHost }),
    hooks: handler,
  };
}

function openTraffic(
  process: Process,
  { serving: { backing, metrics }, webhooks: { dispatcher } }: GateParts,
  hash: AccountHash,
): { readonly traffic: Traffic; readonly waves: Waves } {
  const { clock, ids, log, closing } = process;
  const { db } = backing.store.sql;
  const freshness = backing.where === "alone" ? {} : { freshMs: FRESH_MS };
  const store = new TrafficStore(db, clock);
  const traffic = new Traffic({ store, clock, ids, log, ...freshness });
  flushLast(process, "traffic.flush_failed", traffic);
  const { announceWave: announce, announcement } = dispatcher;
  const accounts = new Accounts(db);
  const counted = outcomeCounter(metrics.registry, "waves");
  const telling = { announce, announced: announcement.written, counted };
  const waves = new Waves({ db, accounts, traffic, hash, clock, log, ...telling });
  closing.add(waves.start());
  return { traffic, waves };
}

function openHookHandler(
  process: Process,
  { serving, admission }: GateParts,
  opened: Omit<HookHandlerDeps, "admission" | "counted" | "clock" | "log">,
): HookHandler {
  const { clock, log } = process;
  const calls = hookCounter(serving.metrics.registry);
  const counted: HookHandlerDeps["counted"] = (system, outcome) => {
    serving.counted.hookCalls += 1;
    if (outcome === "failed_open") serving.counted.failedOpen += 1;
    calls(system, outcome);
  };
  const handler = new HookHandler({ ...opened, admission, counted, clock, log });
  flushLast(process, "hooks.flush_failed", handler);
  return handler;
}

/** Counts for the account, the metrics, and by domain if no new check ran. */
function recorderOf(
  process: Process,
  { serving: { metrics, lists }, counts }: GateParts,
  { outcomes, decisionLog }: { readonly outcomes: Outcomes; readonly decisionLog: DecisionLog },
): DecideDeps["record"] {
  const { clock, log } = process;
  const recorder = new OutcomeRecorder({ outcomes, clock, log, counts });
  flushLast(process, "decisions.flush_failed", recorder);
  flushLast(process, "decisions.log_failed", decisionLog);
  const counted = decisionCounter(metrics.registry);
  return (caller, made: DecisionMade) => {
    recorder.record(caller, made);
    decisionLog.note(caller, made);
    counted(made);
    if (made.isCached && made.facts.format) lists.recorder.count(made.facts);
  };
}
