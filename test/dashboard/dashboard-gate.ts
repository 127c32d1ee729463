import { Accounts } from "../../src/accounts/accounts-store.ts";
import { systemIds as ids } from "../../src/base/ids.ts";
import { createSecretBox } from "../../src/base/secrets.ts";
import { DEFAULT_TIERS } from "../../src/accounts/admission/tiers.ts";
import type { SingleCheck } from "../../src/check/single-check.ts";
import type { Datasets } from "../../src/core/evidence/datasets.ts";
import { DecisionLog } from "../../src/gate/decision-log.ts";
import { Feedback } from "../../src/gate/feedback.ts";
import { Hooks, HookService } from "../../src/gate/hooks.ts";
import { PolicyService } from "../../src/gate/policies.ts";
import { createTestPolicy } from "../../src/gate/rulings.ts";
import { createTokens } from "../../src/gate/tokens.ts";
import { createAccountHash } from "../../src/gate/traffic-marks.ts";
import type { DashboardDeps } from "../../src/http/account/dashboard.ts";
import type { AccountStore } from "../../src/main/store.ts";
import type { PublicHostCheck } from "../../src/outbound/dial.ts";
import type { KeptLog } from "../process/kept-log.ts";
import { realClock as clock } from "../time/real-clock.ts";

interface GateParts {
  readonly check: SingleCheck;
  readonly datasets: () => Datasets;
  readonly checkHost: PublicHostCheck;
  readonly publicUrl: () => string;
  readonly log: KeptLog;
}

/** Policies, decisions and hooks of the dashboard's accounts; no identity system calls a hook. */
export function gateOf(
  { sql: { db }, notices, reportOutcomes }: AccountStore,
  { check, datasets, checkHost, publicUrl, log }: GateParts,
): DashboardDeps["gate"] {
  const key = new Uint8Array(32);
  const [hash, box] = [createAccountHash(key), createSecretBox(key)];
  const accounts = new Accounts(db);
  return {
    decisionLog: new DecisionLog({ db, clock, ids, log, hash }),
    feedback: new Feedback({ db, clock, ids, log, datasets, hash, counted: () => undefined }),
    hash,
    hooks: { answer: () => Promise.resolve(undefined) },
    hookService: new HookService({ hooks: new Hooks(db), box, ids, clock, publicUrl, checkHost }),
    policies: new PolicyService({ db, tiers: DEFAULT_TIERS, clock, notices }),
    reportOutcomes,
    testPolicy: createTestPolicy({ check, datasets }),
    tokens: createTokens({ accounts, box, publicUrl, clock, ids, log, notices }),
  };
}
