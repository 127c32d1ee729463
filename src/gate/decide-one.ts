import { LRUCache } from "lru-cache";
import {
  type CallerFact,
  type Decision,
  type TrafficFacts,
  usesFeedback,
} from "../core/policy/policy.ts";
import type { Awaitable } from "../core/mail/lookup.ts";
import type { Clock } from "../base/clock.ts";
import { inTime } from "../base/in-time.ts";
import type { Log } from "../base/log.ts";
import { ownerKey } from "../base/owner.ts";
import type { Admission, Entrance, Receipt } from "../accounts/admission/admission.ts";
import type { Caller } from "../accounts/admission/caller.ts";
import type { Tiers } from "../accounts/admission/tiers.ts";
import { type BudgetedCheck, present } from "../check/single-check.ts";
import { sortFeatures } from "../check/features.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import { when } from "../core/when.ts";
import { noSuchPolicy, Refusal } from "../base/refusals.ts";
import { askedBy, type CheckedEntry, checkedEntry, rule, type Ruling } from "./rule-entry.ts";
import { BUILT_IN, type FindPolicies, isPolicyName, type PoliciesInForce } from "./in-force.ts";
import type { DecisionMade } from "./outcomes.ts";
import type { SignToken } from "./tokens.ts";
import {
  type AccountHash,
  mailboxId,
  type Marks,
  marksOf,
  reportedDomainOf,
  type Traffic,
} from "./traffic.ts";
import type { Feedback } from "./feedback.ts";

/** A sign-up to decide on. */
export interface DecideRequest {
  /** Not empty; as sent, blanks included. */
  readonly text: string;
  readonly policy: string;
  /** 50 to 5,000, counted from when the request came. */
  readonly deadlineMs: number;
  /** What of it is spent already. */
  readonly waitedMs: number;
  /** A BCP 47 tag. */
  readonly language: string;
  readonly form?: string | undefined;
  readonly facts: ReadonlyMap<string, CallerFact>;
  readonly wantsToken: boolean;
  /** What happens when the rate, quota or credits are spent: unless given, the `Refusal` is thrown. */
  readonly whenSpent?: "decide_without_dns";
}

export interface DecideAnswer {
  /** The JSON body, keys in the contract's order. */
  readonly body: string;
  readonly paidBy: Receipt["paidBy"];
  /** Set when format, lists and rules decided alone, uncharged, because this was spent. */
  readonly spent: Refusal | undefined;
  readonly decision: Decision;
  readonly reason: string;
  readonly message: string | undefined;
}

/** Charges one unit and decides on one entry in time. Throws a `Refusal` before anything is charged. */
export type DecideOne = (entrance: Entrance, request: DecideRequest) => Promise<DecideAnswer>;

export interface DecideDeps {
  readonly tiers: Tiers;
  readonly publicUrl: () => string;
  readonly hash: AccountHash;
  readonly traffic: Pick<Traffic, "count">;
  readonly feedback: Pick<Feedback, "facts">;
  readonly admission: Pick<Admission, "charge">;
  readonly check: BudgetedCheck;
  readonly datasets: () => Datasets;
  readonly policies: FindPolicies;
  readonly record: (caller: Caller, made: DecisionMade) => void;
  readonly sign: SignToken;
  readonly clock: Clock;
  readonly log: Pick<Log, "error">;
}

/** What the work behind the last DNS answer takes, and the way back to the client begins. */
const FINISH_MS = 10;

/** No answer is kept longer: see `KEPT_AT_MOST_MS` of single checks. */
const KEPT_AT_MOST_MS = 3_600_000;
const KEPT_TEXT_MAX_UNITS = 1_024;

const KEPT_BYTES = 24 * 1_048_576;

/** Objects and cells around one kept check, in bytes. */
const OVERHEAD_BYTES = 1_000;

export function createDecideOne(parts: DecideDeps): DecideOne {
  const checks = new LRUCache<string, Checked>({
    maxSize: KEPT_BYTES,
    sizeCalculation: ({ result }, key) => result.length + key.length + OVERHEAD_BYTES,
  });
  const deps: Deps = { ...parts, checks };
  return async (entrance, request) => {
    const endMs = deps.clock.monotonicMs() - request.waitedMs + request.deadlineMs - FINISH_MS;
    const left = (): number => Math.max(0, endMs - deps.clock.monotonicMs());
    const { caller } = entrance;
    const finding = policiesOf(caller, request.policy, { deps, left });
    const policies = finding instanceof Promise ? await finding : finding;
    if (policies === undefined) throw noSuchPolicy();
    const isPaid = caller.isUnidentified !== true;
    const paying = isPaid ? payOrSpent(entrance, request, { deps, left }) : undefined;
    const payment = paying instanceof Promise ? await paying : paying;
    const spent = payment instanceof Refusal ? payment : undefined;
    const receipt = payment instanceof Refusal ? undefined : payment;
    try {
      const asksDns = spent === undefined;
      const made = await decided({ caller, request, policies, asksDns, left }, deps);
      deps.record(caller, made.made);
      const { body, message } = made;
      const { decision, reason } = made.made;
      const paidBy = receipt?.paidBy ?? "plan";
      return {
        body,
        paidBy,
        decision,
        reason,
        message,
        spent,
      };
    } catch (fault) {
      await receipt?.refund();
      throw fault;
    }
  };
}

interface Deps extends DecideDeps {
  readonly checks: LRUCache<string, Checked>;
}

interface InTime {
  readonly deps: Deps;
  readonly left: () => number;
}

function policiesOf(
  { owner, isUnidentified }: Caller,
  name: string,
  { deps, left }: InTime,
): Awaitable<PoliciesInForce | undefined> {
  if (isUnidentified === true) return BUILT_IN;
  if (owner.kind === "account") {
    return deps.policies(owner.accountId, name, left());
  }
  return isPolicyName(name) && name === BUILT_IN.name ? BUILT_IN : undefined;
}

function payOrSpent(
  entrance: Entrance,
  { whenSpent }: DecideRequest,
  inTime: InTime,
): Awaitable<Receipt | Refusal | undefined> {
  const spent = (error: unknown): Refusal => {
    const isSpent = error instanceof Refusal && error.status === 429;
    if (isSpent && whenSpent === "decide_without_dns") return error;
    throw error;
  };
  try {
    if (entrance.refusal !== undefined) throw entrance.refusal;
    const paying = pay(entrance, inTime);
    return paying instanceof Promise ? paying.catch(spent) : paying;
  } catch (error) {
    return spent(error);
  }
}

/** A store that cannot say in time whether a unit is left costs the unit, never the decision. */
function pay(entrance: Entrance, { deps, left }: InTime): Awaitable<Receipt | undefined> {
  const { admission, clock, log } = deps;
  const taken = (receipt: Receipt | undefined): Receipt | undefined => receipt;
  return when<Receipt | undefined, Receipt | undefined>(
    admission.charge(entrance, 1),
    taken,
    (late) =>
      inTime(late, { timeoutMs: left(), late: undefined, clock }).catch((error: unknown) => {
        if (error instanceof Refusal) throw error;
        log.error("decide.charge_failed", error);
        return undefined;
      }),
  );
}

interface Asking {
  readonly caller: Caller;
  readonly request: DecideRequest;
  readonly policies: PoliciesInForce;
  readonly asksDns: boolean;
  readonly left: () => number;
}

interface Made {
  readonly body: string;
  readonly message: string | undefined;
  readonly made: DecisionMade;
}

/** A check, and what follows from it for the account that asked: nothing of it is of one request alone. */
interface Checked extends CheckedEntry {
  readonly isComplete: boolean;
  /** The single check's result, as JSON. */
  readonly result: string;
  readonly mailboxId: string | undefined;
  /** The domain that feedback is about; absent for domains whose mailboxes belong to strangers. */
  readonly reportedDomain: string | undefined;
  /** Absent where nothing is counted. */
  readonly marks: Marks | undefined;
  readonly expiresAtMs: number;
  /** The answer that was made of it last: the next one is mostly the same. */
  last?: Said & { readonly body: string };
}

/** The check may be from the cache; traffic, feedback and policies are looked at for each request. */
async function decided(asking: Asking, deps: Deps): Promise<Made> {
  const { request, policies, left } = asking;
  const key = cacheKey(asking, deps);
  const kept = key === undefined ? undefined : keptCheck(key, deps);
  const checked = kept ?? (await check(asking, key, deps));
  const counting = checked.marks && deps.traffic.count(checked.marks, left());
  const counted = counting instanceof Promise ? await counting : counting;
  const reporting = reportedOf(asking, checked, deps);
  const reported = reporting instanceof Promise ? await reporting : reporting;
  const traffic = reported === undefined ? counted : { ...counted, ...reported };
  const { facts: caller, language, form = "" } = request;
  const ruling = rule(checked, policies, { caller, traffic, language });
  const token = carriesToken(asking) ? await tokenOf(asking, checked, { ruling, deps }) : undefined;
  const { outcome, message, shadow } = ruling;
  const isPublic = asking.caller.isPublishable === true;
  const said = { ruling, policies, isPublic, seen: traffic?.mailbox_seen };
  const { domain, format, disposable, dns, signals, registrable_domain } = checked.facts;
  return {
    body: bodyOf(checked, said, token),
    message,
    made: {
      decision: outcome.decision,
      reason: outcome.reason,
      shadow,
      domain,
      format,
      disposable,
      dns,
      policies,
      form,
      isCached: kept !== undefined,
      isComplete: checked.isComplete,
      rule: outcome.rule,
      signals,
      registrableDomain: registrable_domain,
      mailboxId: checked.mailboxId,
    },
  };
}

/** Only where a rule asks for it. */
function reportedOf(
  { caller: { owner }, policies, left }: Asking,
  { mailboxId, reportedDomain }: Checked,
  { feedback }: Deps,
): Awaitable<TrafficFacts | undefined> {
  if (owner.kind !== "account" || mailboxId === undefined) return undefined;
  const { live, shadow } = policies;
  const isAsked = usesFeedback(live.policy) || (shadow && usesFeedback(shadow.policy)) === true;
  if (!isAsked) return undefined;
  return feedback.facts(owner.accountId, { mailboxId, domain: reportedDomain }, left());
}

/** What the check depends on; the text stands last, so that it cannot pass for another part. */
function cacheKey({ caller, request, policies, asksDns }: Asking, deps: Deps): string | undefined {
  if (!asksDns || request.text.length > KEPT_TEXT_MAX_UNITS) return undefined;
  const { owner, tier, trafficSince = 0 } = caller;
  const id = owner.kind === "account" ? owner.accountId : "";
  const { features } = askedBy(policies, deps.tiers[tier].premium);
  const { version } = deps.datasets();
  return `${id} ${String(trafficSince)} ${tier} ${features.join()} ${String(version)} ${request.text}`;
}

function keptCheck(key: string, { checks, clock }: Deps): Checked | undefined {
  const kept = checks.get(key);
  return kept !== undefined && kept.expiresAtMs > clock.nowMs() ? kept : undefined;
}

async function check(asking: Asking, key: string | undefined, deps: Deps): Promise<Checked> {
  const { caller, request, policies, asksDns, left } = asking;
  const { owner, trafficSince } = caller;
  const { premium } = deps.tiers[caller.tier];
  const validation = await deps.check({
    text: request.text,
    mode: "address",
    asked: { ...askedBy(policies, premium), by: ownerKey(owner) },
    budgetMs: asksDns ? left() : 0,
  });
  const datasets = deps.datasets();
  const { entry } = validation;
  const accountId = owner.kind === "account" ? owner.accountId : undefined;
  const hasMailbox = accountId !== undefined && entry.kind === "address";
  const isCounted = accountId !== undefined && trafficSince !== undefined;
  const checked = {
    ...checkedEntry(validation, datasets),
    isComplete: asksDns && validation.isComplete,
    result: present(validation, sortFeatures([], { premium }), deps.publicUrl()),
    reportedDomain: entry.kind === "address" ? reportedDomainOf(entry.domain, datasets) : undefined,
    mailboxId: hasMailbox ? mailboxId(deps.hash, accountId, entry.address) : undefined,
    marks: isCounted
      ? marksOf({ accountId, since: trafficSince }, validation, { hash: deps.hash, datasets })
      : undefined,
    expiresAtMs: Math.min(validation.expiresAtMs, deps.clock.nowMs() + KEPT_AT_MOST_MS),
  };
  if (key !== undefined) deps.checks.set(key, checked);
  return checked;
}

/** What a body says besides what its check does. */
interface Said {
  readonly ruling: Ruling;
  readonly policies: PoliciesInForce;
  /** A publishable key gets no result and no mailbox. */
  readonly isPublic: boolean;
  /** Spellings of the mailbox. */
  readonly seen: number | undefined;
}

function isSame(one: Said, other: Said): boolean {
  return (
    one.policies === other.policies &&
    one.isPublic === other.isPublic &&
    one.seen === other.seen &&
    one.ruling.message === other.ruling.message &&
    one.ruling.outcome.decision === other.ruling.outcome.decision &&
    one.ruling.outcome.reason === other.ruling.outcome.reason
  );
}

function bodyOf(checked: Checked, said: Said, token: string | undefined): string {
  const { last } = checked;
  const isKnown = last !== undefined && isSame(last, said);
  const body = isKnown ? last.body : written(checked, said);
  if (!isKnown) checked.last = { ...said, body };
  return token === undefined ? body : `${body.slice(0, -1)},"token":${JSON.stringify(token)}}`;
}

/** Keys in the order of the contract. */
function written(
  { meant, isComplete, mailboxId: id, result }: Checked,
  { ruling, policies, isPublic, seen }: Said,
): string {
  const { decision, reason } = ruling.outcome;
  const head = JSON.stringify({
    decision,
    reason,
    message: ruling.message,
    did_you_mean: meant,
    complete: isComplete,
    policy: { name: policies.name, version: policies.live.version },
    mailbox: isPublic || id === undefined ? undefined : { id, seen },
  });
  return isPublic ? head : `${head.slice(0, -1)},"result":${result}}`;
}

const carriesToken = ({ caller, request, policies }: Asking): boolean =>
  caller.keyId !== undefined &&
  (request.wantsToken || policies.live.policy.token || caller.isPublishable === true);

/** A store that is slow or away costs the token, never the decision. */
async function tokenOf(
  { caller, request, policies, left }: Asking,
  { isComplete }: Pick<Checked, "isComplete">,
  { ruling, deps }: { readonly ruling: Ruling; readonly deps: Deps },
): Promise<string | undefined> {
  const { decision, reason } = ruling.outcome;
  const signing = deps.sign(caller, {
    address: request.text,
    decision,
    reason,
    policy: `${policies.name}@${String(policies.live.version)}`,
    isComplete,
    ...(request.form !== undefined && { form: request.form }),
  });
  try {
    return await inTime(signing, { timeoutMs: left(), late: undefined, clock: deps.clock });
  } catch (fault) {
    deps.log.error("decide.sign_failed", fault);
    return undefined;
  }
}
