import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sqlVerdictCounts } from "../../lists/verdict-counts.ts";
import { sqlAccountDirectory } from "../../accounts/account-directory.ts";
import { sqlAccounts } from "../../accounts/accounts-store.ts";
import { AUDIT_MS, createAudit, sqlAuditLog } from "../../accounts/audit.ts";
import { sqlGuesses } from "../../accounts/guesses.ts";
import { createSignIns, endingSessions, sqlSignIns } from "../../accounts/sign-in/sign-ins.ts";
import { argonPasswords, boundPasswords } from "../../accounts/sign-in/passwords.ts";
import { DAY_MS } from "../../core/calendar.ts";
import type { Datasets } from "../../core/evidence/datasets.ts";
import type { TrustedProxies } from "../../http/request/client-address.ts";
import type { HostCheck } from "../../http/request/allowed-hosts.ts";
import type { SystemState } from "../../http/account/admin/admin-shapes.ts";
import type { DashboardDeps } from "../../http/account/dashboard.ts";
import {
  type BuiltPages,
  type Manifest,
  MANIFEST_FILE,
} from "../../http/account/dashboard-pages.ts";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { QuotaCounter } from "../../accounts/admission/quota-counter.ts";
import type { RateCounter } from "../../accounts/admission/rate-counter.ts";
import type { Shares } from "../../base/shares.ts";
import type { UsageLedger } from "../../accounts/admission/usage.ts";
import { createSetUp } from "../../accounts/sign-in/set-up.ts";
import { createFrontPage } from "../../check/front-page.ts";
import { createUsageReader } from "../../accounts/allowance.ts";
import { createAccountCheck } from "../../check/account-check.ts";
import { createOwnAccount } from "../../accounts/own-account.ts";
import { createSignIn, type SignInOutcome } from "../../accounts/sign-in/sign-in.ts";
import { createSignUp } from "../../accounts/sign-in/sign-up.ts";
import { createAccountService } from "../../accounts/accounts.ts";
import type { Admission } from "../../accounts/admission/admission.ts";
import type { SingleCheck } from "../../check/single-check.ts";
import type { Tiers } from "../../accounts/admission/tiers.ts";
import type { Lists } from "../feeds/lists.ts";
import type { AccountStore } from "./backing/store.ts";

/** What the serving process has made already. */
export interface DashboardParts {
  readonly store: AccountStore;
  readonly admission: Admission;
  readonly rates: RateCounter;
  readonly quotas: Pick<QuotaCounter, "take">;
  readonly usage: UsageLedger;
  readonly requests: DashboardDeps["requests"];
  readonly lists: Pick<Lists, "operator" | "refresh">;
  readonly check: SingleCheck;
  readonly datasets: () => Datasets;
  readonly tiers: Tiers;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly settings: DashboardSettings;
  readonly shares: Shares;
  readonly countSignIn?: (outcome: SignInOutcome) => void;
  readonly system: () => Promise<SystemState>;
  readonly accountLists?: DashboardDeps["accountLists"];
  readonly webhooks?: DashboardDeps["webhooks"];
  readonly gate?: DashboardDeps["gate"];
}

export interface DashboardSettings {
  readonly signup: "open" | "closed";
  readonly publicUrl: () => string;
  readonly isHostAllowed: HostCheck;
  readonly version: string;
  readonly trustedProxies: TrustedProxies;
}

/** A folder beside this file's own build; undefined where only the server was compiled. */
export function builtFolder(name: "dashboard" | "docs", file: string): string | undefined {
  const root = fileURLToPath(new URL(`../../../${name}/`, import.meta.url));
  return existsSync(join(root, file)) ? root : undefined;
}

/** With what the build says of its chunks. */
function readPages(root: string): BuiltPages {
  const manifest = JSON.parse(readFileSync(join(root, MANIFEST_FILE), "utf8")) as Manifest; // the build's own
  return { root, manifest };
}

const pagesOf = (root: string | undefined): { readonly pages?: BuiltPages } =>
  root === undefined ? {} : { pages: readPages(root) };

/** Everything behind the dashboard, on the stores of the serving process. */
export function openDashboard(parts: DashboardParts): DashboardDeps {
  const { store, clock, ids, tiers, usage, admission, settings, rates, quotas } = parts;
  const { db } = store.sql;
  const accounts = sqlAccounts(db);
  const own = { accounts, ids, clock };
  const sessions = sqlSignIns(db);
  const auditLog = sqlAuditLog(db);
  const directory = sqlAccountDirectory(db);
  const passwords = boundPasswords(argonPasswords, parts.shares.of("sign_ins"));
  const audit = createAudit({ log: auditLog, ids, clock });
  const logins = createSignIns({ sessions, accounts, ids, clock });
  const accountService = createAccountService({ ...own, passwords, notices: store.notices });
  const setUp = createSetUp({ accounts: accountService, directory, logins, audit, ids, clock });
  const signIn = createSignIn({
    ...own,
    passwords,
    rates,
    logins,
    audit,
    guesses: sqlGuesses(db),
    log: parts.log,
    counted: parts.countSignIn ?? (() => undefined),
  });
  return {
    logins,
    sessions,
    auditLog,
    audit,
    directory,
    signIn,
    admission,
    rates,
    tiers,
    clock,
    info: settings,
    trustedProxies: settings.trustedProxies,
    isHostAllowed: settings.isHostAllowed,
    accounts: endingSessions(accountService, sessions),
    keys: store.keys,
    credits: store.credits,
    switches: store.switches,
    signUp: createSignUp({
      mode: settings.signup,
      isSetUpOpen: () => setUp.isOpen(),
      accounts: accountService,
      quotas,
      audit,
      clock,
    }),
    own: createOwnAccount({ accounts: accountService, directory, sessions, signIn, audit }),
    usage: createUsageReader({ usage, clock, tiers }),
    check: createAccountCheck({ ...parts, publicUrl: settings.publicUrl }),
    verdicts: sqlVerdictCounts(db),
    setUp,
    frontPage: createFrontPage({ ...parts, refresh: parts.lists.refresh }),
    ...passedOn(parts),
    ...listsOf(parts),
    ...pagesOf(builtFolder("dashboard", "index.html")),
  };
}

/** What the routes take as it is. */
const passedOn = ({
  log,
  shares,
  system,
  requests,
  accountLists,
  webhooks,
  gate,
}: DashboardParts) => ({
  log,
  shares,
  system,
  requests,
  ...(accountLists !== undefined && { accountLists }),
  ...(webhooks !== undefined && { webhooks }),
  ...(gate !== undefined && { gate }),
});

/** Not the rest of what the lists can do. */
function listsOf({ lists: { operator, refresh } }: DashboardParts) {
  return { operator, refresh };
}

/** Deletes sessions that are over and log entries that are too old; to be called daily. */
export async function pruneDashboard({ sql: { db } }: AccountStore, nowMs: number): Promise<void> {
  await sqlSignIns(db).prune(nowMs);
  await sqlGuesses(db).prune(nowMs - DAY_MS);
  await sqlAuditLog(db).prune(nowMs - AUDIT_MS);
}
