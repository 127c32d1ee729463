import type { TestContext } from "node:test";
import { Keys } from "../../src/accounts/key-store.ts";
import { TrafficStore } from "../../src/gate/traffic-store.ts";
import { Outcomes } from "../../src/gate/outcomes.ts";
import { AuditLog } from "../../src/accounts/audit.ts";
import { Accounts } from "../../src/accounts/accounts-store.ts";
import { systemIds as ids } from "../../src/base/ids.ts";
import { createSecretBox } from "../../src/base/secrets.ts";
import type { Lookup } from "../../src/core/mail/lookup.ts";
import { auditRoute } from "../../src/http/api/audit.ts";
import { decisionsRoute, feedbackRoute } from "../../src/http/api/feedback.ts";
import { mailboxesRoute } from "../../src/http/api/mailboxes.ts";
import { createFindMailbox } from "../../src/gate/mailbox-ids.ts";
import { decideRoute } from "../../src/http/api/decide.ts";
import type { AccountStore } from "../../src/main/store.ts";
import type { Clock } from "../../src/base/clock.ts";
import { type Admission, createAdmission } from "../../src/accounts/admission/admission.ts";
import { DEFAULT_TIERS } from "../../src/accounts/admission/tiers.ts";
import { createSingleCheck, createCheckWithoutDns } from "../../src/check/single-check.ts";
import { createAccountHash } from "../../src/gate/traffic-marks.ts";
import { Traffic, type TrafficDeps } from "../../src/gate/traffic.ts";
import { SendAlerts } from "../../src/gate/send-alerts.ts";
import { DecisionLog } from "../../src/gate/decision-log.ts";
import { Feedback } from "../../src/gate/feedback.ts";
import { Decider, type DecideOne, type DecideOnKnown } from "../../src/gate/decide-one.ts";
import { createFindPolicies } from "../../src/gate/rulings.ts";
import { OutcomeRecorder } from "../../src/gate/outcomes.ts";
import { PolicyService } from "../../src/gate/policies.ts";
import { PolicyStore } from "../../src/gate/policy-store.ts";
import { UNPROVEN, type VerifyProof } from "../../src/gate/proof/proof.ts";
import { createTokens, type Tokens } from "../../src/gate/tokens.ts";
import { storesOn } from "../contracts/stores.ts";
import { type Zone, zoneLookup } from "../dns/zone-lookup.ts";
import type { App } from "../../src/http/server.ts";
import { appWith } from "../http/http-app.ts";
import { type LiteralKnowledge, literalDatasets } from "../lists/literal-datasets.ts";
import { keptLog, type KeptLog } from "../process/kept-log.ts";
import { openTestStore } from "../process/test-process.ts";
import { realClock } from "../time/real-clock.ts";
import { memoryRateCounter } from "../../src/accounts/admission/counters.ts";

export interface GateWorld {
  readonly app: App;
  /** Run before the stores are closed. */
  readonly closing: (() => Promise<void>)[];
  readonly store: AccountStore;
  readonly policies: PolicyService;
  readonly outcomes: Outcomes;
  readonly tokens: Tokens;
  readonly admission: Admission;
  readonly decideOne: DecideOne;
  readonly decideOnKnown: DecideOnKnown;
  readonly feedback: Feedback;
  readonly waves: SendAlerts;
  readonly decisionLog: DecisionLog;
  readonly log: KeptLog;
  /** An account and its key. */
  account(
    email: string,
    tier?: "free" | "starter" | "pro",
    isAdmin?: boolean,
  ): Promise<{ id: string; apiKey: string }>;
  /** Writes what waits to be counted. */
  flush(): Promise<void>;
}

export interface GateOptions {
  readonly zone?: Zone;
  readonly lookup?: Lookup;
  readonly known?: LiteralKnowledge;
  /** Of everything but the stores; absent: the real one. */
  readonly clock?: Clock;
  /** Absent: nobody can say whether a proof holds. */
  readonly prove?: VerifyProof;
  /** Stand before the stores of keys and of policies: slow, or away. */
  readonly keys?: (keys: Keys) => Keys;
  readonly policyStore?: (store: PolicyStore) => Pick<PolicyStore, "inForce">;
  /** Stands before the store of traffic, which other servers use too. */
  readonly sharedTraffic?: (store: TrafficStore) => TrafficDeps["store"];
  /** Stands before the charges of decisions. */
  readonly charge?: (real: Admission) => Admission["charge"];
}

/** A key of the tests' own. */
export const GATE_KEY = new Uint8Array(32).fill(7);

/** Mail servers of `good.example`; other names do not exist. */
const GATE_ZONE: Zone = {
  "good.example": { mx: ["10 mx.good.example"] },
  "mx.good.example": { a: ["198.51.100.1"] },
  "gmail.com": { mx: ["5 mx.good.example"] },
};

/** DNS that never answers. */
export const SILENT: Lookup = {
  mx: () => new Promise(() => undefined),
  addresses: () => new Promise(() => undefined),
  txt: () => new Promise(() => undefined),
  registration: () => new Promise(() => undefined),
};

/** The sign-up gate on SQLite in memory and DNS from a literal. */
export async function gateWorld(
  t: Pick<TestContext, "after">,
  options: GateOptions = {},
): Promise<GateWorld> {
  const log = keptLog();
  const { clock = realClock } = options;
  const tiers = DEFAULT_TIERS;
  const store = await openTestStore(":memory:");
  const { db } = store.sql;
  const { counter: quotas, charges } = storesOn(store.sql, { clock, log, ids });
  const { notices } = store;
  const rates = memoryRateCounter();
  const { keys: before = (keys) => keys } = options;
  const keys = before(new Keys(db));
  const admission = createAdmission({ keys, rates, quotas, charges, clock, tiers, notices });
  const datasets = literalDatasets(options.known);
  const lookup = options.lookup ?? zoneLookup(options.zone ?? GATE_ZONE);
  const publicUrl = (): string => "https://gatepost.example";
  const box = createSecretBox(GATE_KEY);
  const accounts = new Accounts(db);
  const tokens = createTokens({ accounts, box, publicUrl, clock, ids, log, notices });
  const policyStore = new PolicyStore(db);
  const outcomes = new Outcomes(db);
  const recorder = new OutcomeRecorder({ outcomes, clock, log });
  const { sharedTraffic } = options;
  const counting = new TrafficStore(db, clock);
  const shared = sharedTraffic && { store: sharedTraffic(counting), freshMs: 400 };
  const traffic = new Traffic({ store: counting, clock, ids, log, ...shared });
  const waves = new SendAlerts({
    db,
    accounts,
    traffic,
    hash: createAccountHash(GATE_KEY),
    clock,
    log,
    counted: () => undefined,
    announce: () => Promise.resolve(),
    announced: () => undefined,
  });
  const decisionLog = new DecisionLog({ db, clock, ids, log, hash: createAccountHash(GATE_KEY) });
  const checking = { lookup, datasets: () => datasets, clock, implicitMx: false };
  const common = {
    check: createSingleCheck(checking, clock),
    datasets: () => datasets,
    policies: createFindPolicies({
      store: options.policyStore?.(policyStore) ?? policyStore,
      clock,
      log,
      notices,
    }),
    hash: createAccountHash(GATE_KEY),
    clock,
    log,
  };
  const feedback = new Feedback({ ...common, db, ids, counted: () => undefined });
  const { decideOne, decideOnKnown } = new Decider({
    ...common,
    checkWithoutDns: createCheckWithoutDns(checking),
    admission: options.charge === undefined ? admission : { charge: options.charge(admission) },
    tiers,
    traffic,
    noticeWave: (owner) => waves.noticed(owner),
    feedback,
    record: (caller, made) => {
      recorder.record(caller, made);
      decisionLog.note(caller, made);
    },
    sign: tokens.sign,
    prove: options.prove ?? (() => Promise.resolve(UNPROVEN)),
    publicUrl,
  });
  const routes = [
    decideRoute(decideOne, admission),
    feedbackRoute(feedback),
    decisionsRoute(decisionLog),
    auditRoute(new AuditLog(db), accounts),
    mailboxesRoute(createFindMailbox(createAccountHash(GATE_KEY))),
  ];
  const app = appWith({ admission, clock, log, routes });
  const closing: (() => Promise<void>)[] = [];
  const flush = async (): Promise<void> => {
    for (const waiting of [quotas, traffic, recorder, decisionLog]) await waiting.flush();
  };
  t.after(async () => {
    for (const close of closing) await close();
    await flush();
    await store.sql.close();
  });
  return {
    app,
    closing,
    store,
    outcomes,
    tokens,
    admission,
    decideOne,
    decideOnKnown,
    log,
    feedback,
    waves,
    decisionLog,
    policies: new PolicyService({ db, tiers, clock, notices }),
    async account(email, tier = "pro", isAdmin = false) {
      const order = { email, tier, isAdmin, origin: "operator" } as const;
      const made = await store.accounts.create(order);
      if (made.kind !== "created") throw new Error(made.kind);
      const key = await store.keys.create(made.account.id, "key");
      return { id: made.account.id, apiKey: key.apiKey };
    },
    flush,
  };
}
