import type { JsonWebKey } from "node:crypto";
import { dayOf } from "../../core/calendar.ts";
import { messageFor } from "../../core/policy/messages.ts";
import type { Decision } from "../../core/policy/policy.ts";
import type { Account, Accounts } from "../../ports/admission/accounts.ts";
import type { Clock } from "../../ports/process/clock.ts";
import { inTime } from "../../ports/process/in-time.ts";
import type { Log } from "../../ports/process/log.ts";
import type {
  Hook,
  HookCall,
  HookNews,
  HookOutcome,
  Hooks,
  HookSystem,
} from "../../ports/policy/hooks.ts";
import type { SecretBox } from "../../ports/webhooks/secret-box.ts";
import type { Admission } from "../admission/admission.ts";
import { Refusal } from "../refusals.ts";
import { WriteBehind } from "../upkeep/write-behind.ts";
import type { DecideAnswer, DecideOne } from "./decide-one.ts";
import { aboutHook } from "./hooks.ts";
import type { HookRequest } from "./hook-signatures.ts";
import { emailIn, type HookReply, SYSTEMS } from "./hook-systems.ts";

/** Hooks and their accounts are believed this long: a removed one answers 404 within 5 s. */
const BELIEVED_MS = 4_000;
const KEPT_MAX = 5_000;

/** What admission and the stores may take beyond the deadline of a decision. */
const LATE_MS = 100;

export interface HookDesk {
  /** Undefined: there is no such hook. Never rejects: on any fault of ours the person is let through. */
  answer(id: string, request: HookRequest, clientAddress: string): Promise<HookReply | undefined>;
  /** Writes what waits; rejects when the store does. */
  flush(): Promise<void>;
}

export interface HookDeskDeps {
  readonly hooks: Pick<Hooks, "find" | "note">;
  readonly accounts: Pick<Accounts, "find">;
  readonly admission: Pick<Admission, "enterAs">;
  readonly decideOne: DecideOne;
  readonly box: SecretBox;
  readonly jwks: (url: string) => Promise<readonly JsonWebKey[]>;
  readonly counted: (system: HookSystem, outcome: HookOutcome) => void;
  readonly clock: Clock;
  readonly log: Pick<Log, "error">;
}

interface Known {
  readonly hook: Hook;
  readonly account: Account;
  readonly staleAtMs: number;
}

interface Ended {
  readonly reply: HookReply;
  readonly outcome: HookOutcome;
  readonly why: string;
}

interface CallNews {
  readonly day: number;
  readonly hookId: string;
  readonly outcome: HookOutcome;
  readonly count: number;
  readonly last: HookCall;
}

export function createHookDesk(deps: HookDeskDeps): HookDesk {
  const { clock, log, hooks } = deps;
  const known = finder(deps);
  const news = new WriteBehind<CallNews>({
    afterMs: 1_000,
    batch: 100,
    max: 10_000,
    merge: (older, newer) => ({ ...newer, count: older.count + newer.count }),
    save: (items) => hooks.note(newsOf(items)),
    clock,
    failed: (fault, lost) => log.error("hooks.flush_failed", fault, { lost }),
  });
  return {
    async answer(id, request, clientAddress) {
      const startedMs = clock.monotonicMs();
      const found = await known(id);
      if (found === undefined) return undefined;
      const { accept, deadlineMs } = SYSTEMS[found.hook.system];
      const late = {
        reply: accept,
        outcome: "failed_open",
        why: "The stores are too slow.",
      } as const;
      const ending = ended(found, request, { clientAddress, deps });
      const timeoutMs = deadlineMs + LATE_MS;
      const { reply, outcome, why } = await inTime(ending, { timeoutMs, late, clock });
      const last = {
        atMs: clock.nowMs(),
        outcome,
        why,
        durationMs: Math.round(clock.monotonicMs() - startedMs),
      };
      const day = dayOf(last.atMs);
      news.note(`${id} ${outcome} ${String(day)}`, { day, hookId: id, outcome, count: 1, last });
      deps.counted(found.hook.system, outcome);
      return reply;
    },
    flush: () => news.flush(),
  };
}

/** The hook with its account; what was known last while the store is away. */
function finder({
  hooks,
  accounts,
  clock,
}: HookDeskDeps): (id: string) => Promise<Known | undefined> {
  const kept = new Map<string, Known>();
  return async (id) => {
    const found = kept.get(id);
    if (found !== undefined && clock.monotonicMs() < found.staleAtMs) return found;
    try {
      const hook = await hooks.find(id);
      const account = hook && (await accounts.find(hook.accountId));
      if (hook === undefined || account === undefined) {
        kept.delete(id);
        return undefined;
      }
      if (kept.size >= KEPT_MAX) kept.clear();
      const made = { hook, account, staleAtMs: clock.monotonicMs() + BELIEVED_MS };
      kept.set(id, made);
      return made;
    } catch (fault) {
      // A store that is away must not end sign-ups of a hook that is known.
      if (found === undefined) throw fault;
      return found;
    }
  };
}

function newsOf(items: readonly CallNews[]): HookNews {
  const lastCalls = new Map<string, HookCall>();
  const lastFailures = new Map<string, HookCall>();
  const keep = (calls: Map<string, HookCall>, id: string, call: HookCall): void => {
    if ((calls.get(id)?.atMs ?? 0) <= call.atMs) calls.set(id, call);
  };
  for (const { hookId, last } of items) {
    keep(lastCalls, hookId, last);
    const isFailure = last.outcome === "failed_open" || last.outcome === "unauthenticated";
    if (isFailure) keep(lastFailures, hookId, last);
  }
  const counts = items.map(({ day, hookId, outcome, count }) => ({ day, hookId, outcome, count }));
  return { counts, lastCalls, lastFailures };
}

interface Passage {
  readonly clientAddress: string;
  readonly deps: HookDeskDeps;
}

async function ended(found: Known, request: HookRequest, passage: Passage): Promise<Ended> {
  const { hook } = found;
  const { accept } = SYSTEMS[hook.system];
  try {
    const wrong = await forgery(hook, request, passage.deps);
    if (wrong !== undefined) {
      const body = JSON.stringify({ error: wrong });
      return { reply: { status: 401, body }, outcome: "unauthenticated", why: wrong };
    }
    return await decided(found, request, passage);
  } catch (fault) {
    if (fault instanceof Refusal) {
      return { reply: accept, outcome: "failed_open", why: fault.message };
    }
    passage.deps.log.error("hooks.call_failed", fault, { system: hook.system });
    return { reply: accept, outcome: "failed_open", why: "A fault of this service: see its log." };
  }
}

async function forgery(
  hook: Hook,
  request: HookRequest,
  { box, jwks, clock }: HookDeskDeps,
): Promise<string | undefined> {
  const secret = box.open(hook.secret, aboutHook(hook.id));
  if (secret === undefined) throw new Error("the hook's secret was sealed with another secret key");
  const { jwksUrl } = hook;
  const keys = () => (jwksUrl === undefined ? Promise.resolve([]) : jwks(jwksUrl));
  const { authenticate } = SYSTEMS[hook.system];
  return await authenticate(request, { secret, nowMs: clock.nowMs(), jwks: keys });
}

async function decided(found: Known, request: HookRequest, passage: Passage): Promise<Ended> {
  const { hook, account } = found;
  const { deps, clientAddress } = passage;
  const system = SYSTEMS[hook.system];
  const email = emailIn(JSON.parse(Buffer.from(request.body).toString()) as unknown, system);
  if (email === "") {
    return { reply: system.accept, outcome: "accepted", why: "The payload has no address." };
  }
  const entrance = await deps.admission.enterAs(account, clientAddress);
  if (entrance.refusal !== undefined) throw entrance.refusal;
  const caller = { ...entrance.caller, keyId: `hook:${hook.id}` };
  const answer = await deps.decideOne(
    { ...entrance, caller },
    {
      text: email,
      policy: hook.policy,
      deadlineMs: system.deadlineMs,
      waitedMs: 0,
      language: "en",
      facts: new Map(),
      wantsToken: false,
    },
  );
  const why = `${answer.decision}: ${answer.reason}`;
  const refuses = isRefused(answer.decision, hook);
  const outcome = refuses ? "refused" : "accepted";
  if (hook.system === "standard")
    return { reply: { status: 200, body: answer.body }, outcome, why };
  return { reply: refuses ? system.reject(wordsOf(answer), email) : system.accept, outcome, why };
}

const isRefused = (decision: Decision, { challenge }: Hook): boolean =>
  decision === "reject" || (decision !== "accept" && challenge === "reject");

/** Never empty: to Supabase an empty message is no refusal. */
function wordsOf({ message, reason }: DecideAnswer): string {
  const usual = { language: "en", meant: undefined };
  return (
    message ??
    messageFor({ decision: "reject", reason }, usual) ??
    "Please use another email address."
  );
}
