import type { ForgetDeps } from "../../gate/forget-person.ts";
import type { Guesses } from "../../accounts/guesses.ts";
import type { AccountService } from "../../accounts/accounts.ts";
import type { Admission, Entrance } from "../../accounts/admission/admission.ts";
import type { RateCounter } from "../../accounts/admission/rate-counter.ts";
import type { Tiers } from "../../accounts/admission/tiers.ts";
import type { UsageRecorder } from "../../accounts/admission/usage-recorder.ts";
import type { UsageReader } from "../../accounts/allowance.ts";
import type { Audit, AuditLog } from "../../accounts/audit.ts";
import type { Credits } from "../../accounts/credits.ts";
import type { RequestCounts } from "../../accounts/request-counts.ts";
import type { KeyService } from "../../accounts/keys.ts";
import type { ResetLinks } from "../../accounts/reset-links.ts";
import type { SecondFactors } from "../../accounts/sign-in/second-factor.ts";
import type { SetUp } from "../../accounts/sign-in/set-up.ts";
import type { SignIn } from "../../accounts/sign-in/sign-in.ts";
import type { SignIns, SignedIn, SignInService, Visitor } from "../../accounts/sign-in/sign-ins.ts";
import type { SignInRow } from "../../store/schema.ts";
import type { Account } from "../../accounts/accounts-store.ts";
import type { Note } from "../../accounts/audit.ts";
import type { UploadedFile } from "../api/upload.ts";
import type { SignUp, SignUpSwitch } from "../../accounts/sign-in/sign-up.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Health } from "../../base/health.ts";
import type { OwnerKey } from "../../base/owner.ts";
import { Refusal } from "../../base/refusals.ts";
import type { Shares } from "../../base/shares.ts";
import type { AccountLists } from "../../bulk/lists.ts";
import type { AccountCheck } from "../../check/explain.ts";
import type { FrontPage } from "../../check/check-shapes.ts";
import type { AccountSwitches } from "../../gate/account-switches.ts";
import type { BackTested } from "../../gate/back-test.ts";
import type { BackTestReport } from "../../gate/gate-shapes.ts";
import type { DecisionLog } from "../../gate/decision-log.ts";
import type { Feedback } from "../../gate/feedback.ts";
import type { HookHandler } from "../../gate/hook-handler.ts";
import type { HookService } from "../../gate/hooks.ts";
import type { ReportOutcomes } from "../../gate/outcome-report.ts";
import type { PolicyService } from "../../gate/policies.ts";
import type { TestPolicy } from "../../gate/rule-entry.ts";
import type { Waves } from "../../gate/waves.ts";
import type { Tokens } from "../../gate/tokens.ts";
import type { AccountHash } from "../../gate/traffic.ts";
import type { FeedRefresh } from "../../lists/feed-refresher.ts";
import type { RuleService } from "../../lists/rules/rules.ts";
import type { VerdictCounts } from "../../lists/domain-verdicts.ts";
import type { WebhookSetup } from "../../webhooks/configure.ts";
import type { Dispatcher } from "../../webhooks/dispatcher.ts";
import type { Deliveries } from "../../webhooks/webhooks-store.ts";
import type { HostCheck } from "../hosts.ts";
import type { TrustedProxies } from "../client-address.ts";
import type { ProxySignIn } from "./proxy-sign-in.ts";
import type { DnsTest, SystemState } from "./shapes.ts";

/** A request for `/account/*` that was let in. */
export interface AccountRequest<Body = unknown> {
  readonly visitor: Visitor;
  readonly body: Body;
  readonly file?: UploadedFile;
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly id: string;
  /** The token of the session cookie, valid or not. */
  readonly token: string | undefined;
  /** Whom a trusted proxy names, where that is nobody's session. */
  readonly claimed?: string | undefined;
  /** Whose session it is; a disabled account, too. */
  readonly known?: SignedIn | undefined;
  /** Who is signed in; undefined for a visitor. Never a disabled account. */
  readonly account?: Account;
}

export interface SignedInRequest<Body = unknown> extends AccountRequest<Body> {
  readonly account: Account;
  readonly session: SignInRow;
  /** Writes down what this account changes, here or in another account. */
  readonly note: Note;
}

/** What the routes of the dashboard work with. */
export interface DashboardContext {
  readonly accounts: AccountService;
  readonly admission: Pick<Admission, "enter" | "enterAs" | "charge">;
  readonly audit: Audit;
  readonly auditLog: Pick<AuditLog, "ofAccount" | "newest">;
  readonly check: AccountCheck;
  readonly clock: Clock;
  readonly credits: Credits;
  readonly dnsTest: () => Promise<DnsTest>;
  readonly factors: SecondFactors;
  readonly forgetting: ForgetDeps;
  readonly frontPage: () => Promise<FrontPage>;
  readonly gate?: DashboardGate;
  readonly health: Pick<Health, "state">;
  readonly guesses: Pick<Guesses, "forget">;
  readonly counts: Pick<RequestCounts, "today" | "refusals">;
  readonly info: ServiceInfo;
  readonly isHostAllowed: HostCheck;
  readonly keys: KeyService;
  readonly accountLists: AccountLists;
  readonly log: Log;
  readonly logins: Pick<SignInService, "identify" | "remembered">;
  readonly operator: RuleService;
  readonly proxySignIn: ProxySignIn;
  readonly rates: RateCounter;
  readonly refresh: FeedRefresh;
  readonly requests: Pick<UsageRecorder, "record">;
  readonly resetLinks: Pick<ResetLinks, "make" | "use">;
  readonly sessions: SignIns;
  readonly setUp: SetUp;
  readonly shares: Shares;
  readonly signIn: Pick<SignIn, "signIn" | "isPassword">;
  readonly signUp: SignUp;
  readonly signUps: SignUpSwitch;
  readonly switches: AccountSwitches;
  readonly system: () => Promise<SystemState>;
  readonly tiers: Tiers;
  readonly trustedProxies: TrustedProxies;
  readonly usage: UsageReader;
  readonly verdicts: Pick<VerdictCounts, "sums" | "checksOf">;
  readonly webhooks: DashboardWebhooks;
}

export interface DashboardGate {
  /** In the owner's turn. Rejects with `NoRoom`. */
  readonly backTestPolicy: (owner: OwnerKey, asked: BackTested) => Promise<BackTestReport>;
  readonly decisionLog: Pick<DecisionLog, "page">;
  readonly feedback: Feedback;
  readonly hash: AccountHash;
  readonly hooks: Pick<HookHandler, "answer">;
  readonly hookService: HookService;
  readonly policies: PolicyService;
  readonly reportOutcomes: ReportOutcomes;
  readonly testPolicy: TestPolicy;
  readonly tokens: Pick<Tokens, "renewSecret">;
  readonly waves: Pick<Waves, "list">;
}

export interface DashboardWebhooks {
  readonly setup: WebhookSetup;
  readonly dispatcher: Pick<Dispatcher, "ping">;
  readonly deliveries: Pick<Deliveries, "list">;
}

export interface ServiceInfo {
  readonly publicUrl: () => string;
  readonly version: string;
}

/** Routes of the gate are served only where there is one. */
export type AccountContext = DashboardContext & DashboardGate;

const NO_KEY = { apiKey: [], authorization: [] };

/**
 * Lets the account in as its key would be, and a visitor as an anonymous caller, and counts the request in its charts as
 * the API counts one: with its time to the last octet, and as refused for any refusal below 500.
 */
export async function counted<T>(
  request: Pick<AccountRequest, "account" | "visitor">,
  context: Pick<DashboardContext, "admission" | "requests" | "clock">,
  work: (entrance: Entrance) => Promise<T>,
): Promise<T> {
  const { entrance, ended } = await enter(request, context);
  try {
    if (entrance.refusal !== undefined) throw entrance.refusal;
    const answer = await work(entrance);
    ended();
    return answer;
  } catch (fault) {
    ended(fault);
    throw fault;
  }
}

/** The same for an answer that streams: it is counted when it ends, also when the client stops reading. */
export async function* countedLines<T>(
  request: Pick<AccountRequest, "account" | "visitor">,
  context: Pick<DashboardContext, "admission" | "requests" | "clock">,
  work: (entrance: Entrance) => AsyncIterable<T>,
): AsyncGenerator<T> {
  const { entrance, ended } = await enter(request, context);
  let fault: unknown;
  try {
    if (entrance.refusal !== undefined) throw entrance.refusal;
    yield* work(entrance);
  } catch (thrown) {
    fault = thrown;
    throw thrown;
  } finally {
    ended(fault);
  }
}

async function enter(
  { account, visitor: { clientAddress } }: Pick<AccountRequest, "account" | "visitor">,
  { admission, requests, clock }: Pick<DashboardContext, "admission" | "requests" | "clock">,
) {
  const startMs = clock.monotonicMs();
  const entrance =
    account === undefined
      ? await admission.enter(NO_KEY, clientAddress)
      : await admission.enterAs(account, clientAddress);
  const ended = (fault?: unknown): void => {
    const refusal = fault instanceof Refusal && fault.status < 500 ? fault.code : undefined;
    requests.record(entrance.caller, { refusal, latencyMs: clock.monotonicMs() - startMs });
  };
  return { entrance, ended };
}
