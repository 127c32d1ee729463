import { LRUCache } from "lru-cache";
import {
  type CallerFact,
  type CheckFacts,
  type Decision,
  type Facts,
  type FactSource,
  type FeedbackFacts,
  usesFeedback,
} from "../core/policy/policy.ts";
import { policyFor, type PolicyQuestion } from "../core/policy/default-policy.ts";
import type { Awaitable } from "../core/mail/lookup.ts";
import { type Clock, inTime } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { type Owner, ownerKey } from "../base/owner.ts";
import type { Admission, Admitted, Receipt } from "../accounts/admission/admission.ts";
import type { Caller } from "../accounts/admission/caller.ts";
import type { Tiers } from "../accounts/admission/tiers.ts";
import {
  type SingleCheck,
  type TimedValidation,
  type CheckWithoutDns,
  KEPT_AT_MOST_MS,
  present,
  sortFeatures,
} from "../check/single-check.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import { noSuchPolicy, Refusal } from "../base/refusals.ts";
import {
  askedBy,
  BUILT_IN,
  builtInPolicy,
  checkedEntry,
  type FindPolicies,
  type PoliciesInForce,
  rule,
  ruleEarly,
  type Ruling,
  secondsUntilRuled,
  TOO_OFTEN,
} from "./rulings.ts";
import type { DecisionMade } from "./outcomes.ts";
import { type Proof, type ProofOffer, UNPROVEN, type VerifyProof } from "./proof/proof.ts";
import type { SignToken } from "./tokens.ts";
import {
  type AccountHash,
  mailboxId,
  type Marks,
  marksOf,
  reportedDomainOf,
  type Traffic,
  type TrafficOwner,
} from "./traffic.ts";
import { type DecisionAsker, bodyOf, type CheckedDecision } from "./decision-body.ts";
import type { Feedback } from "./feedback.ts";

export interface DecideRequest {
  /** Not empty; as sent, blanks included. */
  readonly text: string;
  /** Absent: "signup". */
  readonly question?: PolicyQuestion;
  readonly policy: string;
  /** 50 to 5,000, counted from when the request came. */
  readonly deadlineMs: number;
  /** What of it is spent already. */
  readonly waitedMs: number;
  /** A BCP 47 tag. */
  readonly language: string;
  readonly form?: string | undefined;
  readonly facts: ReadonlyMap<string, CallerFact>;
  readonly subject?: string | undefined;
  readonly wantsToken: boolean;
  /** Absent: none was sent, or not by a secret key. */
  readonly proof?: ProofOffer | undefined;
  /** Answers as soon as no missing fact can change the ruling, and also when rate, quota or credits are spent. */
  readonly answersAlways?: true;
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
export type DecideOne = (admitted: Admitted, request: DecideRequest) => Promise<DecideAnswer>;

export interface DecideDeps {
  readonly tiers: Tiers;
  readonly publicUrl: () => string;
  readonly hash: AccountHash;
  readonly traffic: Pick<
    Traffic,
    "read" | "facts" | "count" | "messageFactsLater" | "countMessage"
  >;
  readonly noticeWave: (owner: TrafficOwner) => void;
  readonly feedback: Pick<Feedback, "facts">;
  readonly admission: Pick<Admission, "charge">;
  readonly check: SingleCheck;
  readonly checkWithoutDns: CheckWithoutDns;
  readonly datasets: () => Datasets;
  readonly policies: FindPolicies;
  readonly record: (caller: Caller, made: DecisionMade) => void;
  readonly sign: SignToken;
  readonly prove: VerifyProof;
  readonly clock: Clock;
  readonly log: Pick<Log, "error">;
}

/** What the work behind the last DNS answer takes, and the way back to the client begins. */
const FINISH_MS = 10;

const KEPT_TEXT_MAX_UNITS = 1_024;

const KEPT_BYTES = 24 * 1_048_576;

/** Early answers whose checks go on: beyond that their checks end at what is known. */
const UNFINISHED_MAX = 1_000;

/** Objects and cells around one kept check, in bytes. */
const OVERHEAD_BYTES = 1_000;

export type DecideOnKnown = (owner: Owner, request: DecideRequest) => Promise<DecideAnswer>;

interface Asking {
  readonly admitted: Admitted;
  readonly caller: Caller;
  readonly request: DecideRequest;
  readonly policies: PoliciesInForce;
  /** Undefined: the check is not kept. */
  readonly key: string | undefined;
  readonly kept: CheckedDecision | undefined;
  readonly left: () => number;
  /** Once all is known. */
  isDecided: boolean;
}

interface Decided {
  readonly checked: CheckedDecision;
  readonly ruling: Ruling;
  /** Spellings of the mailbox. */
  readonly seen?: number | undefined;
  readonly proof?: Proof | undefined;
  readonly retryAfter?: number | undefined;
  readonly paidBy: Receipt["paidBy"];
  readonly spent: Refusal | undefined;
}

const DNS_AND_ACCOUNT: ReadonlySet<FactSource> = new Set(["dns", "account"]);
const ACCOUNT: ReadonlySet<FactSource> = new Set(["account"]);

export class Decider {
  readonly #deps: DecideDeps;
  readonly #checks = new LRUCache<string, CheckedDecision>({
    maxSize: KEPT_BYTES,
    sizeCalculation: ({ result }, key) => result.length + key.length + OVERHEAD_BYTES,
  });
  /** Decisions whose answers went out early. */
  #unfinished = 0;

  constructor(deps: DecideDeps) {
    this.#deps = deps;
  }

  readonly decideOne: DecideOne = async (admitted, request) => {
    const { clock } = this.#deps;
    const endMs = clock.monotonicMs() - request.waitedMs + request.deadlineMs - FINISH_MS;
    const left = (): number => Math.max(0, endMs - clock.monotonicMs());
    const { caller } = admitted;
    const finding = this.#policiesOf(caller.owner, request, left(), caller.isUnidentified);
    const policies = finding instanceof Promise ? await finding : finding;
    if (policies === undefined) throw noSuchPolicy();
    const key = this.#cacheKey(caller, request, policies);
    const kept = key === undefined ? undefined : this.#kept(key);
    const isDecided = false;
    const asking: Asking = { admitted, caller, request, policies, key, kept, left, isDecided };
    const deciding = this.#decided(asking);
    // What is not decided at once waits for DNS or a store.
    const isWaiting = request.answersAlways === true && !asking.isDecided;
    if (!isWaiting) return this.#answer(asking, await deciding);
    deciding.catch(() => undefined); // a fault of `early` must not leave its own unheard
    const early = this.#early(asking);
    if (early === undefined) return this.#answer(asking, await deciding);
    this.#unfinished += 1;
    deciding
      .catch((fault: unknown) => this.#deps.log.error("decide.failed", fault))
      .finally(() => (this.#unfinished -= 1));
    return this.#answer(asking, early);
  };

  /** For when `decideOne` fails or is late: rules on what is known without DNS, counts and payment, at once if the policy was read before. */
  readonly decideOnKnown: DecideOnKnown = async (owner, request) => {
    const policies = (await this.#policiesOf(owner, request, 0)) ?? BUILT_IN;
    const caller: Caller = { owner, tier: "anonymous", clientAddress: "" };
    const asking = { caller, request, policies };
    return answered(asking, this.#known(asking), undefined);
  };

  #policiesOf(
    owner: Owner,
    { policy: name, question }: DecideRequest,
    timeoutMs: number,
    isUnidentified?: boolean,
  ): Awaitable<PoliciesInForce | undefined> {
    if (isUnidentified === true) return builtInPolicy(policyFor(question ?? "signup"));
    if (owner.kind === "account") return this.#deps.policies(owner.accountId, name, timeoutMs);
    return name === BUILT_IN.name ? BUILT_IN : undefined;
  }

  /** A store that cannot say in time whether a unit is left costs the unit, never the decision. */
  #pay({ admitted, request, left }: Asking): Awaitable<Receipt | Refusal | undefined> {
    const { admission, clock, log } = this.#deps;
    const unpaid = (error: unknown): Refusal | undefined => {
      if (!(error instanceof Refusal)) log.error("decide.charge_failed", error);
      else if (error.status === 429 && request.answersAlways === true) return error;
      else throw error;
      return undefined;
    };
    if (admitted.caller.isUnidentified === true) return undefined;
    try {
      if (admitted.refusal !== undefined) throw admitted.refusal;
      const paying = admission.charge(admitted, 1);
      if (!(paying instanceof Promise)) return paying;
      return inTime(paying, { timeoutMs: left(), late: undefined, clock }).catch(unpaid);
    } catch (error) {
      return unpaid(error);
    }
  }

  /** What is ruled at once, unless DNS or the account's counts can still change it. */
  #early(asking: Asking): Decided | undefined {
    const { facts: caller, language } = asking.request;
    const { kept } = asking;
    const checked = kept ?? this.#checkedWithoutDns(asking);
    const missing = kept === undefined ? DNS_AND_ACCOUNT : ACCOUNT;
    const ruling = ruleEarly(checked, asking.policies, { caller, language }, missing);
    return ruling && { checked, ruling, paidBy: "plan", spent: undefined };
  }

  #known(asking: Pick<Asking, "caller" | "request" | "policies">): Decided {
    const { facts: caller, language } = asking.request;
    const checked = this.#checkedWithoutDns(asking);
    const proof = asking.request.proof && UNPROVEN;
    const known = { caller, verified: proof?.verified };
    const ruling = rule(checked, asking.policies, known, language);
    return { checked, ruling, proof, paidBy: "plan", spent: undefined };
  }

  async #prove({ caller, request, left }: Asking): Promise<Proof | undefined> {
    const { prove, clock, log } = this.#deps;
    const { proof, text } = request;
    if (proof === undefined) return undefined;
    const by = ownerKey(caller.owner);
    const until = {
      get isPast() {
        return left() <= 0;
      },
    };
    const proving = prove({ ...proof, text, by, until }).catch((fault: unknown) => {
      log.error("decide.proof_failed", fault);
      return UNPROVEN;
    });
    return await inTime(proving, { timeoutMs: left(), late: UNPROVEN, clock });
  }

  /** Pays, checks, rules and counts. A fault on the way leaves what is known without DNS. */
  async #decided(asking: Asking): Promise<Decided> {
    const paying = this.#pay(asking);
    const payment = paying instanceof Promise ? await paying : paying;
    const spent = payment instanceof Refusal ? payment : undefined;
    const receipt = payment instanceof Refusal ? undefined : payment;
    const proving = asking.request.proof && this.#prove(asking);
    try {
      const checking = this.#checkedFor(asking, spent !== undefined);
      const checked = checking instanceof Promise ? await checking : checking;
      const reading = this.#feedbackOf(asking, checked);
      const feedback = reading instanceof Promise ? await reading : reading;
      const { question } = asking.request;
      const counting =
        checked.marks && this.#deps.traffic.read(checked.marks, asking.left(), question);
      if (counting instanceof Promise) await counting;
      const proof = proving && (await proving);
      const reported = { feedback, verified: proof?.verified };
      const { ruling, seen, retryAfter } = this.#ruled(asking, checked, reported);
      asking.isDecided = true;
      const paidBy = receipt?.paidBy ?? "plan";
      return { checked, ruling, seen, retryAfter, proof, paidBy, spent };
    } catch (fault) {
      await receipt?.refund();
      this.#deps.log.error("decide.failed", fault);
      return this.#known(asking);
    }
  }

  #checkedFor(asking: Asking, isSpent: boolean): Awaitable<CheckedDecision> {
    if (isSpent || this.#unfinished > UNFINISHED_MAX) {
      return { ...this.#checkedWithoutDns(asking), isComplete: false };
    }
    return asking.kept ?? this.#check(asking);
  }

  /** Reads the counts, rules and counts in one turn of the event loop, so that questions which come at once see each other. */
  #ruled(
    asking: Asking,
    checked: CheckedDecision,
    { feedback, verified }: Pick<Facts, "feedback" | "verified">,
  ) {
    const { request, policies, caller, kept } = asking;
    const { question = "signup" } = request;
    const { traffic: counts } = this.#deps;
    const { marks } = checked;
    const traffic = marks && counts.facts(marks, question);
    const known = { caller: request.facts, traffic, feedback, verified };
    const ruling = rule(checked, policies, known, request.language);
    const { outcome, shadow } = ruling;
    const retryAfter =
      marks && outcome.reason === TOO_OFTEN
        ? secondsUntilRuled(checked, policies, known, counts.messageFactsLater(marks))
        : undefined;
    if (marks !== undefined) this.#count(marks, question, checked.facts.dns, outcome.decision);
    this.#deps.record(caller, {
      outcome,
      shadow,
      facts: checked.facts,
      policies,
      form: request.form ?? "",
      asked: question,
      isCached: checked === kept,
      isComplete: checked.isComplete,
      mailboxId: checked.mailboxId,
      subject: request.subject,
    });
    return { ruling, seen: traffic?.mailbox_seen, retryAfter };
  }

  #count(marks: Marks, question: PolicyQuestion, dns: CheckFacts["dns"], decision: Decision): void {
    const { traffic, noticeWave } = this.#deps;
    if (question === "signup") {
      if (decision !== "reject" && dns === "yes") traffic.count(marks);
    } else if (decision === "accept" || decision === "challenge") {
      if (traffic.countMessage(marks)) noticeWave(marks.owner);
    }
  }

  #answer(asking: Asking, decided: Decided): Awaitable<DecideAnswer> {
    if (!carriesToken(asking)) return answered(asking, decided, undefined);
    return this.#tokenOf(asking, decided).then((token) => answered(asking, decided, token));
  }

  /** Only where a rule asks for it. */
  #feedbackOf(
    { caller: { owner }, policies, left }: Asking,
    { mailboxId, reportedDomain }: CheckedDecision,
  ): Awaitable<FeedbackFacts | undefined> {
    if (owner.kind !== "account" || mailboxId === undefined) return undefined;
    const { live, shadow } = policies;
    const isAsked = usesFeedback(live.policy) || (shadow && usesFeedback(shadow.policy)) === true;
    if (!isAsked) return undefined;
    const about = { mailboxId, domain: reportedDomain };
    return this.#deps.feedback.facts(owner.accountId, about, left());
  }

  /** What the check depends on; the text stands last, so that it cannot pass for another part. */
  #cacheKey(
    { owner, tier, trafficSince = 0, isPublishable }: Caller,
    { text }: DecideRequest,
    policies: PoliciesInForce,
  ): string | undefined {
    if (text.length > KEPT_TEXT_MAX_UNITS) return undefined;
    const id = owner.kind === "account" ? owner.accountId : "";
    const { features } = askedBy(policies, this.#deps.tiers[tier].premium);
    const { version } = this.#deps.datasets();
    const traffic = `${isPublishable === true ? "page " : ""}${String(trafficSince)}`;
    return `${id} ${traffic} ${tier} ${features.join()} ${String(version)} ${text}`;
  }

  #kept(key: string): CheckedDecision | undefined {
    const kept = this.#checks.get(key);
    return kept !== undefined && kept.expiresAtMs > this.#deps.clock.nowMs() ? kept : undefined;
  }

  async #check(asking: Asking): Promise<CheckedDecision> {
    const { caller, key, left } = asking;
    const validation = await this.#deps.check({ ...this.#questionOf(asking), budgetMs: left() });
    const datasets = this.#deps.datasets();
    const { owner, trafficSince: since, isPublishable: isPage = false } = caller;
    const isCounted = owner.kind === "account" && since !== undefined;
    const counter = isCounted ? { accountId: owner.accountId, since, isPage } : undefined;
    const { hash } = this.#deps;
    const marks = counter && marksOf(counter, validation, { hash, datasets });
    const checked = { ...this.#checkedOf(asking, validation), marks };
    if (key !== undefined) this.#checks.set(key, checked);
    return checked;
  }

  #checkedWithoutDns(asking: Pick<Asking, "caller" | "request" | "policies">): CheckedDecision {
    return this.#checkedOf(asking, this.#deps.checkWithoutDns(this.#questionOf(asking)));
  }

  #questionOf({ caller, request, policies }: Pick<Asking, "caller" | "request" | "policies">) {
    const { premium } = this.#deps.tiers[caller.tier];
    const asked = { ...askedBy(policies, premium), by: ownerKey(caller.owner) };
    return { text: request.text, mode: "address" as const, asked };
  }

  #checkedOf({ caller }: Pick<Asking, "caller">, validation: TimedValidation): CheckedDecision {
    const { tiers, hash, publicUrl, clock } = this.#deps;
    const datasets = this.#deps.datasets();
    const { owner, tier } = caller;
    const { premium } = tiers[tier];
    const { entry } = validation;
    const isAddress = entry.kind === "address";
    const hasMailbox = owner.kind === "account" && isAddress;
    return {
      ...checkedEntry(validation, datasets),
      isComplete: validation.isComplete,
      result: present(validation, sortFeatures([], { premium }), publicUrl()),
      reportedDomain: isAddress ? reportedDomainOf(entry.domain, datasets) : undefined,
      mailboxId: hasMailbox ? mailboxId(hash, owner.accountId, entry.address) : undefined,
      marks: undefined,
      expiresAtMs: Math.min(validation.expiresAtMs, clock.nowMs() + KEPT_AT_MOST_MS),
    };
  }

  /** A store that is slow or away costs the token, never the decision. */
  async #tokenOf(
    { caller, request, policies, left }: Asking,
    { checked: { isComplete }, ruling, proof }: Decided,
  ): Promise<string | undefined> {
    const { sign, clock, log } = this.#deps;
    const { decision, reason } = ruling.outcome;
    const { text: address, form } = request;
    const policy = `${policies.name}@${String(policies.live.version)}`;
    const said = { address, decision, reason, policy, isComplete, form };
    const signing = sign(caller, { ...said, verified: proof?.verified });
    try {
      return await inTime(signing, { timeoutMs: left(), late: undefined, clock });
    } catch (fault) {
      log.error("decide.sign_failed", fault);
      return undefined;
    }
  }
}

function askerOf({ isPublishable, owner }: Caller): DecisionAsker {
  if (isPublishable === true) return "page";
  return owner.kind === "account" ? "account" : "nobody";
}

/** A page gets no result and no mailbox, and nobody else than an account a mailbox. */
function answered(
  { caller, policies }: Pick<Asking, "caller" | "policies">,
  { checked, ruling, seen, retryAfter, proof, paidBy, spent }: Decided,
  token: string | undefined,
): DecideAnswer {
  const asker = askerOf(caller);
  const said = { ruling, policies, asker, retryAfter, seen, proof };
  const { decision, reason } = ruling.outcome;
  const { message } = ruling;
  return { body: bodyOf(checked, said, token), paidBy, spent, decision, reason, message };
}

const carriesToken = ({ caller, request, policies }: Asking): boolean =>
  caller.keyId !== undefined &&
  (request.wantsToken || policies.live.policy.token || caller.isPublishable === true);
