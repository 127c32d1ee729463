import { usesCallerFacts } from "../core/policy/policy.ts";
import type { CallerFact, Decision } from "../core/policy/policy.ts";
import type { Awaitable } from "../core/mail/lookup.ts";
import type { AnswerCache } from "../check/answer-cache.ts";
import type { Clock } from "../base/clock.ts";
import { inTime } from "../base/in-time.ts";
import type { Log } from "../base/log.ts";
import { ownerKey } from "../base/owner.ts";
import type { Admission, Entrance, Receipt } from "../accounts/admission/admission.ts";
import type { Caller } from "../accounts/admission/caller.ts";
import type { BudgetedCheck, BudgetedValidation } from "../check/single-check.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import type { MailboxSeen, MailboxSight } from "./own-spellings.ts";
import { when } from "../core/when.ts";
import { noSuchPolicy, Refusal } from "../base/refusals.ts";
import { type BodyDeps, bodyOf } from "./decision-body.ts";
import { askedBy, rule, type Ruling } from "./rule-entry.ts";
import { BUILT_IN, type FindPolicies, isPolicyName, type PoliciesInForce } from "./in-force.ts";
import type { Counted, RecordDecision } from "./outcome-recorder.ts";
import type { SignToken } from "./tokens.ts";

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
  readonly form?: string;
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
  readonly spent?: Refusal;
  readonly decision: Decision;
  readonly reason: string;
  readonly message?: string;
}

/** Charges one unit and decides on one entry in time. Throws a `Refusal` before anything is charged. */
export type DecideOne = (entrance: Entrance, request: DecideRequest) => Promise<DecideAnswer>;

export interface DecideDeps extends BodyDeps {
  readonly admission: Pick<Admission, "charge">;
  readonly check: BudgetedCheck;
  readonly datasets: () => Datasets;
  readonly policies: FindPolicies;
  readonly cache: AnswerCache;
  readonly mailboxSeen: MailboxSeen;
  readonly record: RecordDecision;
  readonly sign: SignToken;
  readonly clock: Clock;
  readonly log: Pick<Log, "error">;
}

/** What the work behind the last DNS answer takes, and the way back to the client begins. */
const FINISH_MS = 10;

/** No answer is kept longer: see `KEPT_AT_MOST_MS` of single checks. */
const KEPT_AT_MOST_MS = 3_600_000;
const KEPT_KEY_MAX_UNITS = 1_024;

export function createDecideOne(deps: DecideDeps): DecideOne {
  return async (entrance, request) => {
    const endMs = deps.clock.monotonicMs() - request.waitedMs + request.deadlineMs - FINISH_MS;
    const left = (): number => Math.max(0, endMs - deps.clock.monotonicMs());
    const { caller } = entrance;
    const policies = await policiesOf(caller, request.policy, { deps, left });
    if (policies === undefined) throw noSuchPolicy();
    const isPaid = caller.isUnidentified !== true;
    const payment = isPaid ? await payOrSpent(entrance, request, { deps, left }) : undefined;
    const spent = payment instanceof Refusal ? payment : undefined;
    const receipt = payment instanceof Refusal ? undefined : payment;
    try {
      const asksDns = spent === undefined;
      const made = await decided({ caller, request, policies, asksDns, left }, deps);
      const { form = "" } = request;
      deps.record(caller, { ...made.tally, policies, form, isCached: made.isCached });
      const { body, tally } = made;
      const { decision, reason, message } = tally;
      const paidBy = receipt?.paidBy ?? "plan";
      return {
        body,
        paidBy,
        decision,
        reason,
        ...(message !== undefined && { message }),
        ...(spent !== undefined && { spent }),
      };
    } catch (fault) {
      await receipt?.refund();
      throw fault;
    }
  };
}

interface InTime {
  readonly deps: DecideDeps;
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

async function payOrSpent(
  entrance: Entrance,
  { whenSpent }: DecideRequest,
  inTime: InTime,
): Promise<Receipt | Refusal | undefined> {
  try {
    if (entrance.refusal !== undefined) throw entrance.refusal;
    return await pay(entrance, inTime);
  } catch (error) {
    const isSpent = error instanceof Refusal && error.status === 429;
    if (isSpent && whenSpent === "decide_without_dns") return error;
    throw error;
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

/** What is counted of a decision; kept in front of a cached body. */
interface Tally extends Counted {
  readonly message?: string;
}

interface Made {
  readonly body: string;
  readonly tally: Tally;
  readonly isCached: boolean;
}

/** From the cache where nothing in the answer is of this request alone. */
async function decided(asking: Asking, deps: DecideDeps): Promise<Made> {
  const key = cacheKey(asking, deps);
  const kept = key === undefined ? undefined : deps.cache.read(key, deps.clock.nowMs());
  if (kept !== undefined) return unpacked(kept);
  const { made, expiresAtMs } = await freshly(asking, deps);
  if (key !== undefined) {
    const untilMs = Math.min(expiresAtMs, deps.clock.nowMs() + KEPT_AT_MOST_MS);
    deps.cache.keep(key, packed(made), untilMs);
  }
  return made;
}

function cacheKey(asking: Asking, deps: DecideDeps): string | undefined {
  const { caller, request, policies } = asking;
  if (!asking.asksDns) return undefined;
  const { live, shadow, name } = policies;
  if (carriesToken(caller, request, policies) || caller.countsTraffic === true) return undefined;
  if (request.facts.size > 0 && lookAtFacts(policies)) return undefined;
  const { version } = deps.datasets();
  const owner = caller.owner.kind === "account" ? ownerKey(caller.owner) : "";
  // As JSON, so that no text can pass for another part.
  const versions = [live.version, shadow?.version ?? 0, version];
  const key = JSON.stringify([owner, name, versions, caller.tier, request.language, request.text]);
  return key.length > KEPT_KEY_MAX_UNITS ? undefined : key;
}

const lookAtFacts = ({ live, shadow }: PoliciesInForce): boolean =>
  usesCallerFacts(live.policy) || (shadow !== undefined && usesCallerFacts(shadow.policy));

const carriesToken = (caller: Caller, request: DecideRequest, { live }: PoliciesInForce): boolean =>
  caller.keyId !== undefined &&
  (request.wantsToken || live.policy.token || caller.isPublishable === true);

/** The tally's JSON has no line break. */
const packed = ({ body, tally }: Pick<Made, "body" | "tally">): string =>
  `${JSON.stringify(tally)}\n${body}`;

function unpacked(kept: string): Made {
  const end = kept.indexOf("\n");
  // Packed by this very file.
  const tally = JSON.parse(kept.slice(0, end)) as Tally;
  return { tally, body: kept.slice(end + 1), isCached: true };
}

async function freshly(
  asking: Asking,
  deps: DecideDeps,
): Promise<{ readonly made: Made; readonly expiresAtMs: number }> {
  const { caller, request, policies, asksDns, left } = asking;
  const { premium } = deps.tiers[caller.tier];
  const sight = await sightOf(asking, deps);
  const validation = await deps.check({
    text: request.text,
    mode: "address",
    asked: { ...askedBy(policies, premium), by: ownerKey(caller.owner) },
    budgetMs: asksDns ? left() : 0,
  });
  if (!asksDns) Object.assign(validation, { isComplete: false });
  const ruling = rule(validation, policies, {
    datasets: deps.datasets(),
    caller: request.facts,
    language: request.language,
    ...(sight.seen !== undefined && { mailboxSeen: sight.seen }),
  });
  const tally = tallyOf(validation, ruling);
  const token = carriesToken(caller, request, policies)
    ? await tokenOf(asking, validation, { ruling, deps })
    : undefined;
  const body = bodyOf({ asking, token, validation, ruling, sight }, deps);
  return { made: { body, tally, isCached: false }, expiresAtMs: validation.expiresAtMs };
}

/** A store that is slow or away costs the token, never the decision. */
async function tokenOf(
  { caller, request, policies, left }: Asking,
  { isComplete }: BudgetedValidation,
  { ruling, deps }: { readonly ruling: Ruling; readonly deps: DecideDeps },
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

const UNSEEN: MailboxSight = {};

function sightOf({ caller, request, left }: Asking, deps: DecideDeps): Awaitable<MailboxSight> {
  const { owner, countsTraffic } = caller;
  if (countsTraffic !== true || owner.kind !== "account") return UNSEEN;
  const looking = deps.mailboxSeen(owner.accountId, request.text);
  return inTime(looking, { timeoutMs: left(), late: UNSEEN, clock: deps.clock });
}

function tallyOf({ result }: BudgetedValidation, { outcome, shadow, message }: Ruling): Tally {
  const isUnknown = result.signals.includes("dns_indeterminate");
  return {
    decision: outcome.decision,
    reason: outcome.reason,
    ...(message !== undefined && { message }),
    ...(shadow !== undefined && { shadow }),
    domain: result.domain,
    format: result.format,
    disposable: result.disposable,
    dns: isUnknown ? "unknown" : result.dns ? "yes" : "no",
  };
}
