import {
  type CallerFact,
  type Decision,
  type Facts,
  type FactSource,
  type FeedbackFacts,
  type SourceCounts,
  type TrafficFacts,
  usesFeedback,
} from "../core/policy/policy.ts";
import { policyFor, type PolicyQuestion } from "../core/policy/default-policy.ts";
import { attempt, type Awaitable, when } from "../core/mail/lookup.ts";
import { type Clock, inTime } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { type Owner, ownerKey } from "../base/owner.ts";
import type { Admission, Admitted, Receipt } from "../accounts/admission/admission.ts";
import type { Caller } from "../accounts/admission/caller.ts";
import { noSuchPolicy, Refusal } from "../base/refusals.ts";
import {
  BUILT_IN,
  builtInPolicy,
  countsMessage,
  countsSources,
  type FindPolicies,
  PASSING,
  type PoliciesInForce,
  rule,
  ruleEarly,
  type Ruling,
  secondsUntilRuled,
} from "./rulings.ts";
import type { DecisionMade } from "./outcomes.ts";
import { type Proof, type ProofOffer, UNPROVEN, type VerifyProof } from "./proof/proof.ts";
import type { SignToken } from "./tokens.ts";
import { type SourceKey, sourceMarks, type TrafficOwner } from "./traffic-marks.ts";
import { type Held, LATE } from "./shared-messages.ts";
import type { CountedQuestion, Traffic } from "./traffic.ts";
import { type DecisionAsker, bodyOf, type CheckedDecision } from "./decision-body.ts";
import { type DecisionCheckDeps, DecisionChecks } from "./decision-checks.ts";
import type { Feedback } from "./feedback.ts";

export interface DecideRequest {
  /** As sent, blanks included; "" and whatever else is no address has no format. */
  readonly text: string;
  /** Absent: "signup". */
  readonly question?: PolicyQuestion;
  readonly policy: string;
  /** 50 to 5,000, counted from when the request came. */
  readonly deadlineMs: number;
  readonly waitedMs: number;
  /** A BCP 47 tag. */
  readonly language: string;
  readonly form?: string | undefined;
  readonly facts: ReadonlyMap<string, CallerFact>;
  readonly subject?: string | undefined;
  /** The person answered a challenge before. */
  readonly isConfirmed?: boolean;
  readonly isKnown?: boolean;
  readonly sources?: readonly SourceKey[];
  readonly wantsToken: boolean;
  /** "no": what was sent can be no proof. Absent: none was sent, or not by a secret key. */
  readonly proof?: ProofOffer | "no" | undefined;
  /** Answers as soon as no missing fact can change the ruling. */
  readonly answersAlways?: true;
}

export interface DecideAnswer {
  /** Makes the JSON body, keys in the contract's order: most hooks have words of their own. */
  readonly body: () => string;
  readonly paidBy: Receipt["paidBy"];
  /** Set when format, lists, rules and the counts in memory decided, uncharged, because this was spent. */
  readonly spent: Refusal | undefined;
  readonly decision: Decision;
  readonly reason: string;
  readonly message: string | undefined;
}

/** Charges one unit and decides on one entry in time. Throws a `Refusal` before anything is charged. */
export type DecideOne = (admitted: Admitted, request: DecideRequest) => Awaitable<DecideAnswer>;

export interface DecideDeps extends DecisionCheckDeps {
  readonly traffic: Pick<
    Traffic,
    "read" | "facts" | "counts" | "count" | "countSources" | "later" | "countMessage"
  >;
  readonly noticeWave: (owner: TrafficOwner) => void;
  readonly feedback: Pick<Feedback, "facts">;
  readonly admission: Pick<Admission, "charge">;
  readonly policies: FindPolicies;
  readonly record: (caller: Caller, made: DecisionMade) => void;
  readonly sign: SignToken;
  readonly prove: VerifyProof;
  readonly clock: Clock;
  readonly log: Pick<Log, "error">;
}

/** What the work behind the last DNS answer takes, and the way back to the client begins. */
const FINISH_MS = 10;

/** Of the time of a message; in the rest it is counted. */
const MESSAGE_CHECK_PART = 0.8;

/** Early answers whose checks go on: beyond that their checks end at what is known. */
const UNFINISHED_MAX = 1_000;

export type DecideOnKnown = (owner: Owner, request: DecideRequest) => Promise<DecideAnswer>;

interface DecisionRun {
  readonly admitted: Admitted;
  readonly caller: Caller;
  readonly request: DecideRequest;
  readonly policies: PoliciesInForce;
  /** Milliseconds until the answer is to be made. */
  readonly left: () => number;
}

type KnownRun = Pick<DecisionRun, "caller" | "request" | "policies">;

interface Payment {
  readonly receipt?: Receipt | undefined;
  readonly spent?: Refusal | undefined;
}

/** Written out where it is made: an object that is spread costs a decision more than all its rules. */
interface Findings {
  readonly checked: CheckedDecision;
  readonly isCached: boolean;
  readonly asked: CountedQuestion;
  readonly feedback: FeedbackFacts | undefined;
  readonly proof: Proof | undefined;
  readonly payment: Payment;
}

interface DecisionOutcome {
  readonly checked: CheckedDecision;
  readonly ruling: Ruling;
  readonly seen?: number | undefined;
  readonly counts?: SourceCounts | undefined;
  readonly proof?: Proof | undefined;
  readonly retryAfter?: number | undefined;
  readonly payment: Payment;
}

const DNS_AND_ACCOUNT: ReadonlySet<FactSource> = new Set(["dns", "account"]);
const ACCOUNT: ReadonlySet<FactSource> = new Set(["account"]);

const UNPAID: Payment = {};
const NOT_PROVEN: Proof = { verified: "no", isPrivate: false };

/** Finds the policy, takes the unit, checks, reads what the account counted, rules, and answers. */
export class Decider {
  readonly #deps: DecideDeps;
  readonly #checks: DecisionChecks;
  /** Decisions whose answers went out early. */
  #unfinished = 0;

  constructor(deps: DecideDeps) {
    this.#deps = deps;
    this.#checks = new DecisionChecks(deps);
  }

  readonly decideOne: DecideOne = (admitted, request) => {
    const { clock } = this.#deps;
    const endMs = clock.monotonicMs() - request.waitedMs + request.deadlineMs - FINISH_MS;
    const left = (): number => Math.max(0, endMs - clock.monotonicMs());
    const { caller } = admitted;
    return when(this.#policiesOf(caller, request, left()), (policies) => {
      if (policies === undefined) throw noSuchPolicy();
      const run = { admitted, caller, request, policies, left };
      const full = this.#full(run);
      const isEarly = full instanceof Promise && request.answersAlways === true;
      return when(isEarly ? this.#first(run, full) : full, (made) => this.#answer(run, made));
    });
  };

  /** For when `decideOne` fails or is late: rules on what is known without DNS, counts and payment, at once if the policy was read before. */
  readonly decideOnKnown: DecideOnKnown = async (owner, request) => {
    const caller: Caller = { owner, tier: "anonymous", clientAddress: "" };
    const policies = (await this.#policiesOf(caller, request, 0)) ?? BUILT_IN;
    const run = { caller, request, policies };
    const checked = this.#withoutDns(run);
    const { facts, isConfirmed: confirmed, language } = request;
    const known: Facts = { checked: checked.facts, caller: facts, confirmed };
    const ruling = rule(checked, policies, known, language);
    return answered(run, { checked, ruling, payment: UNPAID }, undefined);
  };

  #policiesOf(
    { owner, isUnidentified }: Caller,
    { policy: name, question }: DecideRequest,
    timeoutMs: number,
  ): Awaitable<PoliciesInForce | undefined> {
    if (isUnidentified === true)
      return builtInPolicy(name) ?? builtInPolicy(policyFor(question ?? "signup"));
    if (owner.kind === "account") return this.#deps.policies(owner.accountId, name, timeoutMs);
    return name === BUILT_IN.name ? BUILT_IN : undefined;
  }

  /** All that is known at once is done in one turn: promises would cost as much as the rules. */
  #full(run: DecisionRun): Awaitable<DecisionOutcome> {
    return when(this.#pay(run), (payment) =>
      attempt(
        () => this.#paid(run, payment),
        (fault) => this.#afterFault(run, payment, fault),
      ),
    );
  }

  #paid(run: DecisionRun, payment: Payment): Awaitable<DecisionOutcome> {
    const proving = run.request.proof && this.#prove(run, run.request.proof);
    return when(this.#check(run, payment), ({ checked, isCached }) => {
      const asked = this.#asked(run.request, checked);
      return when(this.#readCounts(run, checked, asked, payment), (feedback) =>
        when(proving, (proof) =>
          this.#rule(run, { checked, isCached, asked, feedback, proof, payment }),
        ),
      );
    });
  }

  async #afterFault(run: DecisionRun, { receipt }: Payment, fault: unknown) {
    await receipt?.refund();
    this.#deps.log.error("decide.failed", fault);
    const checked = this.#withoutDns(run);
    const asked = this.#asked(run.request, checked);
    const proof = run.request.proof && UNPROVEN;
    const found = { checked, isCached: false, asked, proof, payment: UNPAID };
    return this.#rule(run, { ...found, feedback: undefined });
  }

  /** What nothing missing can change is ruled at once; the full ruling is made all the same, for the counts. */
  async #first(run: DecisionRun, full: Promise<DecisionOutcome>): Promise<DecisionOutcome> {
    const isAtOnce = full.then(
      () => true,
      () => true,
    );
    if (await Promise.race([isAtOnce, nextTurn()])) return full;
    const early = this.#early(run);
    if (early === undefined) return full;
    this.#unfinished += 1;
    full
      .catch((fault: unknown) => this.#deps.log.error("decide.failed", fault))
      .finally(() => (this.#unfinished -= 1));
    return early;
  }

  #early(run: DecisionRun): DecisionOutcome | undefined {
    const { facts: caller, language, isConfirmed: confirmed } = run.request;
    const kept = this.#checks.kept(questionOf(run));
    const checked = kept ?? this.#withoutDns(run);
    const missing = kept === undefined ? DNS_AND_ACCOUNT : ACCOUNT;
    const ruling = ruleEarly(checked, run.policies, { caller, confirmed, language }, missing);
    return ruling && { checked, ruling, payment: UNPAID };
  }

  /** A store that cannot say in time whether a unit is left costs the unit, never the decision. */
  #pay({ admitted, left }: DecisionRun): Awaitable<Payment> {
    const { admission, clock, log } = this.#deps;
    const { caller, spent } = admitted;
    const unpaid = (error: unknown): Payment => {
      if (!(error instanceof Refusal)) log.error("decide.charge_failed", error);
      else if (error.status === 429 && caller.keyId !== undefined) return { spent: error };
      else throw error;
      return UNPAID;
    };
    if (spent !== undefined) return { spent };
    if (caller.isUnidentified === true) return UNPAID;
    try {
      if (admitted.refusal !== undefined) throw admitted.refusal;
      const paying = admission.charge(admitted, 1);
      if (!(paying instanceof Promise)) return { receipt: paying };
      const inLeft = inTime(paying, { timeoutMs: left(), late: undefined, clock });
      return inLeft.then((receipt) => ({ receipt })).catch(unpaid);
    } catch (error) {
      return unpaid(error);
    }
  }

  async #prove({ caller, request, left }: DecisionRun, proof: ProofOffer | "no"): Promise<Proof> {
    const { prove, clock, log } = this.#deps;
    if (proof === "no") return NOT_PROVEN;
    const by = ownerKey(caller.owner);
    const until = {
      get isPast() {
        return left() <= 0;
      },
    };
    const proving = prove({ ...proof, text: request.text, by, until }).catch((fault: unknown) => {
      log.error("decide.proof_failed", fault);
      return UNPROVEN;
    });
    return await inTime(proving, { timeoutMs: left(), late: UNPROVEN, clock });
  }

  #check(run: DecisionRun, { spent }: Payment): Awaitable<Pick<Findings, "checked" | "isCached">> {
    if (spent !== undefined || this.#unfinished > UNFINISHED_MAX) {
      return { checked: this.#withoutDns(run, false), isCached: false };
    }
    const question = questionOf(run);
    const kept = this.#checks.kept(question);
    if (kept !== undefined) return { checked: kept, isCached: true };
    const { question: asked = "signup" } = run.request;
    const timeoutMs = run.left() * (asked === "signup" ? 1 : MESSAGE_CHECK_PART);
    const checking = this.#checks.check(question, timeoutMs);
    return checking.then((checked) => ({ checked, isCached: false }));
  }

  #withoutDns(run: KnownRun, isComplete?: boolean): CheckedDecision {
    return this.#checks.withoutDns(questionOf(run), isComplete);
  }

  #asked(
    { question = "signup", isKnown = false, sources = [] }: DecideRequest,
    { marks }: CheckedDecision,
  ): CountedQuestion {
    const marked =
      marks === undefined || sources.length === 0
        ? []
        : sourceMarks(this.#deps.hash, marks.owner, question, sources);
    return { question, isKnown, sources: marked };
  }

  /** Feedback is read only where a rule asks for it, and where somebody pays. */
  #readCounts(
    { caller: { owner }, policies, left }: DecisionRun,
    { mailboxId, reportedDomain, marks }: CheckedDecision,
    asked: CountedQuestion,
    { spent }: Payment,
  ): Awaitable<FeedbackFacts | undefined> {
    const { traffic, feedback } = this.#deps;
    const from = spent === undefined ? "store" : "memory";
    const counting = marks && traffic.read(marks, left(), asked, from);
    const isAsked = asksFor(policies, usesFeedback) && spent === undefined;
    const isReported = owner.kind === "account" && mailboxId !== undefined && isAsked;
    const about = { mailboxId: mailboxId ?? "", domain: reportedDomain };
    const reading = isReported ? feedback.facts(owner.accountId, about, left()) : undefined;
    return counting instanceof Promise ? counting.then(() => reading) : reading;
  }

  /** Reads the counts, rules and counts in one turn of the event loop, so that questions which come at once see each other. */
  #rule(run: DecisionRun, findings: Findings): Awaitable<DecisionOutcome> {
    const { request, policies } = run;
    const { checked, asked, feedback, proof } = findings;
    const { traffic: counter } = this.#deps;
    const { marks } = checked;
    const facts: Facts = {
      checked: checked.facts,
      caller: request.facts,
      traffic: marks && counter.facts(marks, asked),
      counts: marks && counter.counts(marks, asked),
      feedback,
      verified: proof?.verified,
      confirmed: request.isConfirmed,
    };
    const first = rule(checked, policies, facts, request.language);
    if (asked.question !== "signup") return this.#ruleMessage(run, findings, facts, first);
    const { decision } = first.outcome;
    if (marks !== undefined && decision !== "reject" && checked.facts.dns === "yes") {
      counter.count(marks);
    }
    return this.#made(run, findings, facts, first);
  }

  #ruleMessage(run: DecisionRun, findings: Findings, facts: Facts, first: Ruling) {
    const { request, policies, left } = run;
    const { checked, asked } = findings;
    const { traffic: counter, noticeWave } = this.#deps;
    const { marks } = checked;
    const { traffic } = facts;
    const ruledWith = (sent: TrafficFacts): Ruling =>
      rule(checked, policies, { ...facts, traffic: { ...traffic, ...sent } }, request.language);
    const held = ({ sent, retryAfter }: Held): DecisionOutcome => {
      const ruling = ruledWith(sent);
      const isPassing = PASSING.has(ruling.outcome.reason);
      return this.#made(run, findings, facts, ruling, isPassing ? retryAfter : undefined);
    };
    // Nobody knows whose message it is, so nobody counts it.
    if (run.caller.isUnidentified === true) return held(LATE);
    if (marks === undefined) return this.#made(run, findings, facts, first);
    if (traffic?.wave === true && traffic.sent_known === false) noticeWave(marks.owner);
    if (!countsMessage(asked, policies, first)) return this.#made(run, findings, facts, first);
    const { decision } = first.outcome;
    const isStillRight = (sent: TrafficFacts): boolean =>
      ruledWith(sent).outcome.decision === decision;
    const how = { isSent: decision === "accept", timeoutMs: left() };
    const counting = counter.countMessage(marks, asked, how, isStillRight);
    const made = (one: Held | undefined): DecisionOutcome =>
      one === undefined ? this.#made(run, findings, facts, first) : held(one);
    return counting instanceof Promise ? counting.then(made) : made(counting);
  }

  #made(run: DecisionRun, findings: Findings, facts: Facts, ruling: Ruling, heldFor?: number) {
    const { policies } = run;
    const { checked, asked, proof, payment } = findings;
    const { marks } = checked;
    const { traffic: counter } = this.#deps;
    this.#note(run, findings, ruling);
    let retryAfter = heldFor;
    if (retryAfter === undefined && marks !== undefined && PASSING.has(ruling.outcome.reason)) {
      retryAfter = secondsUntilRuled(policies, facts, counter.later(marks, asked));
    }
    if (marks !== undefined && countsSources(asked, policies, ruling)) {
      counter.countSources(marks, asked);
    }
    const { counts } = facts;
    const seen = facts.traffic?.mailbox_seen;
    return { checked, ruling, seen, counts, proof, retryAfter, payment };
  }

  #note({ caller, request, policies }: DecisionRun, findings: Findings, ruling: Ruling): void {
    const { checked, isCached } = findings;
    const { sources = [] } = request;
    const { outcome, shadow } = ruling;
    this.#deps.record(caller, {
      outcome,
      shadow,
      facts: checked.facts,
      policies,
      form: request.form ?? "",
      asked: request.question ?? "signup",
      isCached,
      isComplete: checked.isComplete,
      mailboxId: checked.mailboxId,
      subject: request.subject,
      sources,
      shape: checked.marks?.shape?.of,
    });
  }

  #answer(run: DecisionRun, outcome: DecisionOutcome): Awaitable<DecideAnswer> {
    if (!carriesToken(run)) return answered(run, outcome, undefined);
    return this.#tokenOf(run, outcome).then((token) => answered(run, outcome, token));
  }

  /** A store that is slow or away costs the token, never the decision. */
  async #tokenOf(
    { caller, request, policies, left }: DecisionRun,
    { checked: { isComplete }, ruling, proof }: DecisionOutcome,
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

/** Once the event loop has seen to what was ready. */
const nextTurn = (): Promise<false> =>
  new Promise((resolve) => void setImmediate(() => resolve(false)));

const questionOf = ({ caller, request: { text }, policies }: KnownRun) => ({
  caller,
  text,
  policies,
});

const asksFor = (
  { live, shadow }: PoliciesInForce,
  uses: (policy: PoliciesInForce["live"]["policy"]) => boolean,
): boolean => uses(live.policy) || (shadow !== undefined && uses(shadow.policy));

function askerOf({ isPublishable, owner }: Caller): DecisionAsker {
  if (isPublishable === true) return "page";
  return owner.kind === "account" ? "account" : "nobody";
}

/** A page gets no result and no mailbox, and nobody else than an account a mailbox. */
function answered(
  { caller, policies }: Pick<DecisionRun, "caller" | "policies">,
  { checked, ruling, seen, counts, retryAfter, proof, payment }: DecisionOutcome,
  token: string | undefined,
): DecideAnswer {
  const asker = askerOf(caller);
  const said = { ruling, policies, asker, retryAfter, seen, counts, proof };
  const { decision, reason } = ruling.outcome;
  const { message } = ruling;
  const { receipt, spent } = payment;
  const paidBy = receipt?.paidBy ?? "plan";
  return { body: () => bodyOf(checked, said, token), paidBy, spent, decision, reason, message };
}

const carriesToken = ({ caller, request, policies }: DecisionRun): boolean =>
  caller.keyId !== undefined &&
  (request.wantsToken || policies.live.policy.token || caller.isPublishable === true);
