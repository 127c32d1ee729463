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
import { type BudgetedCheck, KEPT_AT_MOST_MS, present } from "../check/single-check.ts";
import { sortFeatures } from "../check/features.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import { noSuchPolicy, Refusal } from "../base/refusals.ts";
import { askedBy, type CheckedEntry, checkedEntry, rule, type Ruling } from "./rule-entry.ts";
import { BUILT_IN, type FindPolicies, type PoliciesInForce } from "./in-force.ts";
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

const KEPT_TEXT_MAX_UNITS = 1_024;

const KEPT_BYTES = 24 * 1_048_576;

/** Objects and cells around one kept check, in bytes. */
const OVERHEAD_BYTES = 1_000;

export function createDecideOne(deps: DecideDeps): DecideOne {
  const decider = new Decider(deps);
  return (entrance, request) => decider.decide(entrance, request);
}

interface Asking {
  readonly caller: Caller;
  readonly request: DecideRequest;
  readonly policies: PoliciesInForce;
  readonly asksDns: boolean;
  readonly left: () => number;
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

class Decider {
  readonly #deps: DecideDeps;
  readonly #checks = new LRUCache<string, Checked>({
    maxSize: KEPT_BYTES,
    sizeCalculation: ({ result }, key) => result.length + key.length + OVERHEAD_BYTES,
  });

  constructor(deps: DecideDeps) {
    this.#deps = deps;
  }

  async decide(entrance: Entrance, request: DecideRequest): Promise<DecideAnswer> {
    const { clock, record } = this.#deps;
    const endMs = clock.monotonicMs() - request.waitedMs + request.deadlineMs - FINISH_MS;
    const left = (): number => Math.max(0, endMs - clock.monotonicMs());
    const { caller } = entrance;
    const finding = this.#policiesOf(caller, request.policy, left());
    const policies = finding instanceof Promise ? await finding : finding;
    if (policies === undefined) throw noSuchPolicy();
    const isPaid = caller.isUnidentified !== true;
    const paying = isPaid ? this.#pay(entrance, request, left()) : undefined;
    const payment = paying instanceof Promise ? await paying : paying;
    const spent = payment instanceof Refusal ? payment : undefined;
    const receipt = payment instanceof Refusal ? undefined : payment;
    try {
      const asking = { caller, request, policies, asksDns: spent === undefined, left };
      const { body, message, made } = await this.#decided(asking);
      record(caller, made);
      const { decision, reason } = made;
      return { body, paidBy: receipt?.paidBy ?? "plan", spent, decision, reason, message };
    } catch (fault) {
      await receipt?.refund();
      throw fault;
    }
  }

  #policiesOf(
    { owner, isUnidentified }: Caller,
    name: string,
    timeoutMs: number,
  ): Awaitable<PoliciesInForce | undefined> {
    if (isUnidentified === true) return BUILT_IN;
    if (owner.kind === "account") return this.#deps.policies(owner.accountId, name, timeoutMs);
    return name === BUILT_IN.name ? BUILT_IN : undefined;
  }

  /** A store that cannot say in time whether a unit is left costs the unit, never the decision. */
  #pay(
    entrance: Entrance,
    { whenSpent }: DecideRequest,
    timeoutMs: number,
  ): Awaitable<Receipt | Refusal | undefined> {
    const { admission, clock, log } = this.#deps;
    const unpaid = (error: unknown): Refusal | undefined => {
      if (!(error instanceof Refusal)) log.error("decide.charge_failed", error);
      else if (error.status === 429 && whenSpent === "decide_without_dns") return error;
      else throw error;
      return undefined;
    };
    try {
      if (entrance.refusal !== undefined) throw entrance.refusal;
      const paying = admission.charge(entrance, 1);
      if (!(paying instanceof Promise)) return paying;
      return inTime(paying, { timeoutMs, late: undefined, clock }).catch(unpaid);
    } catch (error) {
      return unpaid(error);
    }
  }

  /** The check may be from the cache; traffic, feedback and policies are looked at for each request. */
  async #decided(asking: Asking) {
    const { request, policies, left } = asking;
    const key = this.#cacheKey(asking);
    const kept = key === undefined ? undefined : this.#kept(key);
    const checked = kept ?? (await this.#check(asking, key));
    const counting = checked.marks && this.#deps.traffic.count(checked.marks, left());
    const counted = counting instanceof Promise ? await counting : counting;
    const reporting = this.#reportedOf(asking, checked);
    const reported = reporting instanceof Promise ? await reporting : reporting;
    const traffic = reported === undefined ? counted : { ...counted, ...reported };
    const { facts: caller, language, form = "" } = request;
    const ruling = rule(checked, policies, { caller, traffic, language });
    const token = carriesToken(asking) ? await this.#tokenOf(asking, checked, ruling) : undefined;
    const { outcome, message, shadow } = ruling;
    const isPublic = asking.caller.isPublishable === true;
    const said = { ruling, policies, isPublic, seen: traffic?.mailbox_seen };
    const { domain, format, disposable, dns, signals, registrable_domain } = checked.facts;
    const made: DecisionMade = {
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
    };
    return { body: bodyOf(checked, said, token), message, made };
  }

  /** Only where a rule asks for it. */
  #reportedOf(
    { caller: { owner }, policies, left }: Asking,
    { mailboxId, reportedDomain }: Checked,
  ): Awaitable<TrafficFacts | undefined> {
    if (owner.kind !== "account" || mailboxId === undefined) return undefined;
    const { live, shadow } = policies;
    const isAsked = usesFeedback(live.policy) || (shadow && usesFeedback(shadow.policy)) === true;
    if (!isAsked) return undefined;
    const about = { mailboxId, domain: reportedDomain };
    return this.#deps.feedback.facts(owner.accountId, about, left());
  }

  /** What the check depends on; the text stands last, so that it cannot pass for another part. */
  #cacheKey({ caller, request, policies, asksDns }: Asking): string | undefined {
    if (!asksDns || request.text.length > KEPT_TEXT_MAX_UNITS) return undefined;
    const { owner, tier, trafficSince = 0 } = caller;
    const id = owner.kind === "account" ? owner.accountId : "";
    const { features } = askedBy(policies, this.#deps.tiers[tier].premium);
    const { version } = this.#deps.datasets();
    return `${id} ${String(trafficSince)} ${tier} ${features.join()} ${String(version)} ${request.text}`;
  }

  #kept(key: string): Checked | undefined {
    const kept = this.#checks.get(key);
    return kept !== undefined && kept.expiresAtMs > this.#deps.clock.nowMs() ? kept : undefined;
  }

  async #check(asking: Asking, key: string | undefined): Promise<Checked> {
    const { caller, request, policies, asksDns, left } = asking;
    const { tiers, hash, publicUrl, clock } = this.#deps;
    const { owner, trafficSince } = caller;
    const { premium } = tiers[caller.tier];
    const validation = await this.#deps.check({
      text: request.text,
      mode: "address",
      asked: { ...askedBy(policies, premium), by: ownerKey(owner) },
      budgetMs: asksDns ? left() : 0,
    });
    const datasets = this.#deps.datasets();
    const { entry } = validation;
    const accountId = owner.kind === "account" ? owner.accountId : undefined;
    const hasMailbox = accountId !== undefined && entry.kind === "address";
    const isCounted = accountId !== undefined && trafficSince !== undefined;
    const counter = isCounted ? { accountId, since: trafficSince } : undefined;
    const isAddress = entry.kind === "address";
    const checked = {
      ...checkedEntry(validation, datasets),
      isComplete: asksDns && validation.isComplete,
      result: present(validation, sortFeatures([], { premium }), publicUrl()),
      reportedDomain: isAddress ? reportedDomainOf(entry.domain, datasets) : undefined,
      mailboxId: hasMailbox ? mailboxId(hash, accountId, entry.address) : undefined,
      marks: counter && marksOf(counter, validation, { hash, datasets }),
      expiresAtMs: Math.min(validation.expiresAtMs, clock.nowMs() + KEPT_AT_MOST_MS),
    };
    if (key !== undefined) this.#checks.set(key, checked);
    return checked;
  }

  /** A store that is slow or away costs the token, never the decision. */
  async #tokenOf(
    { caller, request, policies, left }: Asking,
    { isComplete }: Checked,
    { outcome: { decision, reason } }: Ruling,
  ): Promise<string | undefined> {
    const { sign, clock, log } = this.#deps;
    const { text: address, form } = request;
    const policy = `${policies.name}@${String(policies.live.version)}`;
    const signing = sign(caller, { address, decision, reason, policy, isComplete, form });
    try {
      return await inTime(signing, { timeoutMs: left(), late: undefined, clock });
    } catch (fault) {
      log.error("decide.sign_failed", fault);
      return undefined;
    }
  }
}

const carriesToken = ({ caller, request, policies }: Asking): boolean =>
  caller.keyId !== undefined &&
  (request.wantsToken || policies.live.policy.token || caller.isPublishable === true);

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
