import type { HookOutcome, HookSystem } from "../core/policy/outcomes.ts";
import { dayOf } from "../core/calendar.ts";
import { jsonIn } from "../core/json.ts";
import { messageFor } from "../core/policy/messages.ts";
import type { Account, Accounts } from "../accounts/accounts-store.ts";
import { type Clock, inTime } from "../base/clock.ts";
import { attempt, type Awaitable, when } from "../core/mail/lookup.ts";
import type { Log } from "../base/log.ts";
import { StaleCache } from "../base/stale-cache.ts";

import { type Hook, type HookNews, type Hooks, aboutHook, TEST_HEADER } from "./hooks.ts";
import type { SecretBox } from "../base/secrets.ts";
import type { Admission } from "../accounts/admission/admission.ts";
import { bucketKey } from "../accounts/admission/caller.ts";
import { Refusal } from "../base/refusals.ts";
import { WriteBehind } from "../base/write-behind.ts";
import type { DecideAnswer, DecideOne, DecideOnKnown } from "./decide-one.ts";
import { HOOK_KEY } from "./decision-log.ts";
import type { HookKeys, HookRequest } from "./hook-signatures.ts";
import {
  type HookReply,
  likelySystem,
  readSignUp,
  type HookedSignUp,
  SYSTEMS,
} from "./hook-systems.ts";
import { memoryRateCounter } from "../accounts/admission/counters.ts";

const FIND_MS = 300;

/** The end of a hook's deadline that is kept for what comes after the decision. */
const AFTER_MS = 100;

/** Lets the person in when it is not known which system calls: all but Neon Auth take it for a yes. */
const ACCEPT_ANY: HookReply = { status: 204 };

export interface HookHandlerDeps {
  readonly hooks: Pick<Hooks, "find" | "note">;
  readonly accounts: Pick<Accounts, "find">;
  readonly admission: Pick<Admission, "enterAs">;
  readonly decideOne: DecideOne;
  readonly decideOnKnown: DecideOnKnown;
  readonly box: SecretBox;
  readonly jwks: (url: string, accountId: string) => HookKeys["jwks"];
  readonly counted: (system: HookSystem, outcome: HookOutcome, accountId: string) => void;
  readonly clock: Clock;
  readonly log: Pick<Log, "error">;
}

interface KnownHook {
  readonly hook: Hook;
  /** Undefined: it was sealed with another secret key. */
  readonly secret: string | undefined;
  readonly account: Account;
}

const WRONG_PER_MINUTE = 60;

export interface HookClient {
  readonly clientAddress: string;
  /** Resolves at the end of the connection or of the answer, with whether the answer was sent. */
  readonly isSent: Promise<boolean>;
}

interface ReceivedCall {
  readonly request: HookRequest;
  readonly payload: object | undefined;
  readonly clientAddress: string;
  readonly startedMs: number;
}

interface Ended {
  readonly reply: HookReply;
  readonly outcome: HookOutcome;
  readonly why: string;
}

export class HookHandler {
  readonly #deps: HookHandlerDeps;
  readonly #known: StaleCache<KnownHook>;
  readonly #news: WriteBehind<HookNews>;
  readonly #wrongCalls = memoryRateCounter();

  constructor(deps: HookHandlerDeps) {
    const { clock, log, hooks } = deps;
    this.#deps = deps;
    this.#known = new StaleCache(clock);
    this.#news = new WriteBehind<HookNews>({
      afterMs: 1_000,
      batch: 100,
      max: 10_000,
      merge: (older, newer) => ({ ...newer, count: older.count + newer.count }),
      save: (items) => hooks.note(items),
      clock,
      failed: (fault, lost) => log.error("hooks.flush_failed", fault, { lost }),
    });
  }

  /** Undefined: no such hook. `request`: or the reason why it could not be received. Never rejects. */
  async answer(
    id: string,
    request: HookRequest | { readonly unreceived: string },
    { clientAddress, isSent }: HookClient,
  ): Promise<HookReply | undefined> {
    const { clock, log } = this.#deps;
    const startedMs = clock.monotonicMs();
    const finding = this.#known.find(id, () => this.#find(id), {
      timeoutMs: FIND_MS,
      failed: (fault) => log.error("hooks.find_failed", fault),
    });
    const found = finding instanceof Promise ? await finding : finding;
    if (found === undefined) return undefined;
    if (found === "unknown") return await this.#answerUnknown(request, clientAddress);
    const ended =
      "unreceived" in request
        ? letThrough(found.hook, request.unreceived)
        : await this.#endedInTime(found, {
            request,
            payload: payloadOf(request.body),
            clientAddress,
            startedMs,
          });
    const durationMs = Math.round(clock.monotonicMs() - startedMs);
    const isTest = "headers" in request && request.headers[TEST_HEADER] !== undefined;
    if (!isTest || ended.outcome === "unauthenticated") {
      void isSent.then((sent) => this.#note(found.hook, sent ? ended : late(ended), durationMs));
    }
    return ended.reply;
  }

  #note(
    { id, system, account_id: accountId }: Hook,
    { outcome, why }: Omit<Ended, "reply">,
    durationMs: number,
  ): void {
    const last = { atMs: this.#deps.clock.nowMs(), outcome, why, durationMs };
    const day = dayOf(last.atMs);
    const news = { day, hook_id: id, outcome, count: 1, last };
    this.#news.note(`${id} ${outcome} ${String(day)}`, news);
    this.#deps.counted(system, outcome, accountId);
  }

  flush(): Promise<void> {
    return this.#news.flush();
  }

  async #find(id: string): Promise<KnownHook | undefined> {
    const { hooks, accounts, box } = this.#deps;
    const hook = await hooks.find(id);
    const account = hook && (await accounts.find(hook.account_id));
    return hook && account && { hook, account, secret: box.open(hook.secret, aboutHook(id)) };
  }

  /** While the store cannot say whose hook it is, the lists refuse all the same, in the words of the likely system. */
  async #answerUnknown(
    request: HookRequest | { readonly unreceived: string },
    clientAddress: string,
  ): Promise<HookReply> {
    const payload = "unreceived" in request ? undefined : payloadOf(request.body);
    if ("unreceived" in request || payload === undefined) return ACCEPT_ANY;
    const system = SYSTEMS[likelySystem(request, payload)];
    const signUp = readSignUp(payload, system);
    if (signUp.unchecked !== undefined) return ACCEPT_ANY;
    const owner = { kind: "bucket", bucket: clientAddress } as const;
    const answer = await this.#deps.decideOnKnown(owner, requestOf(signUp, "default"));
    if (answer.decision !== "reject") return ACCEPT_ANY;
    return system.reject(wordsOf(answer, signUp.language), payload);
  }

  #endedInTime(found: KnownHook, call: ReceivedCall): Awaitable<Ended> {
    const { clock } = this.#deps;
    const ending = this.#ended(found, call);
    if (!(ending instanceof Promise)) return ending;
    const passedMs = clock.monotonicMs() - call.startedMs;
    const timeoutMs = SYSTEMS[found.hook.system].deadlineMs - passedMs;
    const inLimit = inTime(ending, { timeoutMs, late: undefined, clock });
    return inLimit.then(
      (ended) => ended ?? this.#endedOnKnown(found, call, "The decision took too long."),
    );
  }

  #ended(found: KnownHook, call: ReceivedCall): Awaitable<Ended> {
    const { hook } = found;
    return attempt(
      () =>
        when(this.#forgery(found, call.request), (wrong): Awaitable<Ended> => {
          if (wrong !== undefined) return this.#unauthenticated(wrong, call);
          if (call.payload !== undefined) return this.#decided(found, call.payload, call);
          const why = "The body is not a JSON object.";
          return { reply: SYSTEMS[hook.system].accept, outcome: "unread", why };
        }),
      (fault) => {
        if (fault instanceof Refusal) return this.#endedOnKnown(found, call, fault.message);
        this.#deps.log.error("hooks.call_failed", fault, { system: hook.system });
        return this.#endedOnKnown(found, call, "A fault of this service: see its log.");
      },
    );
  }

  /** Only wrong calls are refused by the limit: whoever shares the address with a forger is served. */
  #unauthenticated(why: string, { clientAddress }: ReceivedCall): Ended {
    const nowMs = this.#deps.clock.monotonicMs();
    const { isGranted } = this.#wrongCalls.take(bucketKey(clientAddress), WRONG_PER_MINUTE, nowMs);
    const error = isGranted ? why : "Too many calls with a wrong signature or secret.";
    const reply = { status: isGranted ? 401 : 429, body: JSON.stringify({ error }) };
    return { reply, outcome: "unauthenticated", why };
  }

  #forgery({ hook, secret }: KnownHook, request: HookRequest): Awaitable<string | undefined> {
    if (secret === undefined) {
      throw new Error("the hook's secret was sealed with another secret key");
    }
    const { jwks_url: url, system } = hook;
    const jwks = url === null ? () => Promise.resolve([]) : this.#deps.jwks(url, hook.account_id);
    const nowMs = this.#deps.clock.nowMs();
    return SYSTEMS[system].authenticate(request, { secret, nowMs, jwks });
  }

  #decided({ hook, account }: KnownHook, payload: object, call: ReceivedCall): Awaitable<Ended> {
    const { admission, clock, decideOne } = this.#deps;
    const system = SYSTEMS[hook.system];
    const signUp = readSignUp(payload, system);
    const { unchecked } = signUp;
    if (unchecked !== undefined) return { reply: system.accept, ...unchecked };
    const entering = admission.enterAs(account, call.clientAddress, HOOK_KEY + hook.id);
    const about = { hook, payload, language: signUp.language };
    return when(entering, (admitted) => {
      const deadlineMs = system.deadlineMs - AFTER_MS;
      const waitedMs = clock.monotonicMs() - call.startedMs;
      const asked = requestOf(signUp, hook.policy, { deadlineMs, waitedMs });
      return when(decideOne(admitted, asked), (answer) =>
        endedBy(answer, about, answer.spent?.message),
      );
    });
  }

  /** Something failed or is late, so format, lists and rules decide alone. A call that nobody proved may be refused, too. */
  async #endedOnKnown(
    { hook, account }: KnownHook,
    call: ReceivedCall,
    failure: string,
  ): Promise<Ended> {
    const { payload } = call;
    const signUp = payload && readSignUp(payload, SYSTEMS[hook.system]);
    if (signUp === undefined || signUp.unchecked !== undefined) return letThrough(hook, failure);
    try {
      const owner = { kind: "account", accountId: account.id } as const;
      const answer = await this.#deps.decideOnKnown(owner, requestOf(signUp, hook.policy));
      return endedBy(answer, { hook, payload, language: signUp.language }, failure);
    } catch (fault) {
      this.#deps.log.error("hooks.call_failed", fault, { system: hook.system });
      return letThrough(hook, failure);
    }
  }
}

const late = ({ why }: Ended): Omit<Ended, "reply"> => ({
  outcome: "late",
  why: `The caller left before the answer: ${why}`,
});

const requestOf = (
  { email, facts, sources, language, subject }: HookedSignUp,
  policy: string,
  { deadlineMs, waitedMs } = { deadlineMs: 0, waitedMs: 0 },
) => ({
  text: email,
  subject,
  policy,
  deadlineMs,
  waitedMs,
  language,
  facts,
  sources,
  wantsToken: false,
  answersAlways: true as const,
});

/** `failure`: why DNS had no say, though it should. */
function endedBy(
  answer: DecideAnswer,
  {
    hook,
    payload,
    language,
  }: { readonly hook: Hook; readonly payload: unknown; readonly language: string },
  failure: string | undefined,
): Ended {
  const system = SYSTEMS[hook.system];
  const refuses =
    answer.decision === "reject" || (answer.decision !== "accept" && hook.challenge === "reject");
  const decision = `${answer.decision}: ${answer.reason}`;
  const why = failure === undefined ? decision : `${decision} (without DNS: ${failure})`;
  const outcome = refuses ? "refused" : failure === undefined ? "accepted" : "failed_open";
  if (hook.system === "standard") {
    return { reply: { status: 200, body: answer.body() }, outcome, why };
  }
  const reply = refuses ? system.reject(wordsOf(answer, language), payload) : system.accept;
  return { reply, outcome, why };
}

const letThrough = ({ system }: Hook, why: string): Ended => ({
  reply: SYSTEMS[system].accept,
  outcome: "failed_open",
  why,
});

const UTF8 = new TextDecoder();

function payloadOf(body: Uint8Array): object | undefined {
  const value = jsonIn(UTF8.decode(body));
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
}

/** Never empty: to Supabase an empty message is no refusal. */
function wordsOf({ message, reason }: DecideAnswer, language: string): string {
  const usual = { language, meant: undefined };
  return (
    message ??
    messageFor({ decision: "reject", reason }, usual) ??
    "Please use another email address."
  );
}
