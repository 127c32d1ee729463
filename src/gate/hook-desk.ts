import { dayOf } from "../core/calendar.ts";
import { messageFor } from "../core/policy/messages.ts";
import type { Decision } from "../core/policy/policy.ts";
import type { Account, Accounts } from "../accounts/accounts-store.ts";
import type { Clock } from "../base/clock.ts";
import { inTime } from "../base/in-time.ts";
import type { Log } from "../base/log.ts";
import type { HookOutcome, HookSystem } from "./hook-types.ts";
import type { Hook, HookNews, Hooks } from "./hooks-store.ts";
import type { SecretBox } from "../base/secrets.ts";
import type { Admission } from "../accounts/admission/admission.ts";
import { Refusal } from "../base/refusals.ts";
import { WriteBehind } from "../base/write-behind.ts";
import type { DecideAnswer, DecideOne } from "./decide-one.ts";
import { aboutHook } from "./hooks.ts";
import type { HookKeys, HookRequest } from "./hook-signatures.ts";
import { type HookReply, readSignUp, SYSTEMS } from "./hook-systems.ts";

/** Hooks and their accounts are believed this long: a removed one answers 404 within 5 s. */
const BELIEVED_MS = 4_000;
const KEPT_MAX = 5_000;

const FIND_MS = 300;

/** The end of a hook's deadline that is kept for what comes after the decision. */
const AFTER_MS = 100;

/** Lets the person in when it is not known which system calls: all but Neon Auth take it for a yes. */
const ACCEPT_ANY: HookReply = { status: 204 };

export interface HookDesk {
  /** Undefined: no such hook. Never rejects. `request` may be the reason why the call could not be read. */
  answer(
    id: string,
    request: HookRequest | { readonly unread: string },
    clientAddress: string,
  ): Promise<HookReply | undefined>;
  flush(): Promise<void>;
}

export interface HookDeskDeps {
  readonly hooks: Pick<Hooks, "find" | "note">;
  readonly accounts: Pick<Accounts, "find">;
  readonly admission: Pick<Admission, "enterAs">;
  readonly decideOne: DecideOne;
  readonly box: SecretBox;
  readonly jwks: (url: string) => HookKeys["jwks"];
  readonly counted: (system: HookSystem, outcome: HookOutcome) => void;
  readonly clock: Clock;
  readonly log: Pick<Log, "error">;
}

interface Known {
  readonly hook: Hook;
  /** Undefined: it was sealed with another secret key. */
  readonly secret: string | undefined;
  readonly account: Account;
  readonly staleAtMs: number;
}

interface Ended {
  readonly reply: HookReply;
  readonly outcome: HookOutcome;
  readonly why: string;
}

export function createHookDesk(deps: HookDeskDeps): HookDesk {
  const { clock, log, hooks } = deps;
  const known = finder(deps);
  const news = new WriteBehind<HookNews>({
    afterMs: 1_000,
    batch: 100,
    max: 10_000,
    merge: (older, newer) => ({ ...newer, count: older.count + newer.count }),
    save: (items) => hooks.note(items),
    clock,
    failed: (fault, lost) => log.error("hooks.flush_failed", fault, { lost }),
  });
  return {
    async answer(id, request, clientAddress) {
      const startedMs = clock.monotonicMs();
      const spentMs = (): number => clock.monotonicMs() - startedMs;
      let found: Known | undefined;
      try {
        found = await known(id);
      } catch (fault) {
        log.error("hooks.find_failed", fault);
        return ACCEPT_ANY;
      }
      if (found === undefined) return undefined;
      const { deadlineMs } = SYSTEMS[found.hook.system];
      const late = letThrough(found.hook, "The decision took too long.");
      const ending = ended(found, request, { clientAddress, spentMs, deps });
      const timeoutMs = deadlineMs - spentMs();
      const { reply, outcome, why } = await inTime(ending, { timeoutMs, late, clock });
      const last = { atMs: clock.nowMs(), outcome, why, durationMs: Math.round(spentMs()) };
      const day = dayOf(last.atMs);
      news.note(`${id} ${outcome} ${String(day)}`, { day, hook_id: id, outcome, count: 1, last });
      deps.counted(found.hook.system, outcome);
      return reply;
    },
    flush: () => news.flush(),
  };
}

/** The hook with its account; what was known last while the stores are away or too slow. */
function finder({
  hooks,
  accounts,
  box,
  clock,
}: HookDeskDeps): (id: string) => Promise<Known | undefined> {
  const kept = new Map<string, Known>();
  const finding = new Map<string, Promise<Known | undefined>>();
  const find = async (id: string): Promise<Known | undefined> => {
    const hook = await hooks.find(id);
    const account = hook && (await accounts.find(hook.account_id));
    if (hook === undefined || account === undefined) {
      kept.delete(id);
      return undefined;
    }
    if (kept.size >= KEPT_MAX) kept.clear();
    const secret = box.open(hook.secret, aboutHook(id));
    const made = { hook, secret, account, staleAtMs: clock.monotonicMs() + BELIEVED_MS };
    kept.set(id, made);
    return made;
  };
  return async (id) => {
    const before = kept.get(id);
    if (before !== undefined && clock.monotonicMs() < before.staleAtMs) return before;
    const asked = finding.get(id) ?? find(id).finally(() => finding.delete(id));
    finding.set(id, asked);
    try {
      const found = await inTime(asked, { timeoutMs: FIND_MS, late: "late" as const, clock });
      if (found !== "late") return found;
      finding.delete(id); // it may never answer: the next call asks again
      throw new Error("the store did not find a hook in time");
    } catch (fault) {
      // A store that is away must not end sign-ups of a hook that is known.
      if (before === undefined) throw fault;
      return before;
    }
  };
}

interface Passage {
  readonly clientAddress: string;
  readonly spentMs: () => number;
  readonly deps: HookDeskDeps;
}

const letThrough = ({ system }: Hook, why: string): Ended => ({
  reply: SYSTEMS[system].accept,
  outcome: "failed_open",
  why,
});

async function ended(
  found: Known,
  request: HookRequest | { readonly unread: string },
  passage: Passage,
): Promise<Ended> {
  const { hook } = found;
  if ("unread" in request) return letThrough(hook, request.unread);
  try {
    const wrong = await forgery(found, request, passage.deps);
    if (wrong !== undefined) {
      const body = JSON.stringify({ error: wrong });
      return { reply: { status: 401, body }, outcome: "unauthenticated", why: wrong };
    }
    const payload = payloadOf(request.body);
    if (payload === undefined) return letThrough(hook, "The body is not a JSON object.");
    return await decided(found, payload, passage);
  } catch (fault) {
    if (fault instanceof Refusal) return letThrough(hook, fault.message);
    passage.deps.log.error("hooks.call_failed", fault, { system: hook.system });
    return letThrough(hook, "A fault of this service: see its log.");
  }
}

async function forgery(
  { hook, secret }: Known,
  request: HookRequest,
  { jwks, clock }: HookDeskDeps,
): Promise<string | undefined> {
  if (secret === undefined) throw new Error("the hook's secret was sealed with another secret key");
  const { jwks_url: keysAt, system } = hook;
  const keys = keysAt === null ? () => Promise.resolve([]) : jwks(keysAt);
  return await SYSTEMS[system].authenticate(request, { secret, nowMs: clock.nowMs(), jwks: keys });
}

/** Drops a byte order mark. */
const UTF8 = new TextDecoder();

/** The error of the parser would quote the body, which holds an address, so it is dropped. */
function payloadOf(body: Uint8Array): object | undefined {
  try {
    const value: unknown = JSON.parse(UTF8.decode(body));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

async function decided(
  { hook, account }: Known,
  payload: object,
  { clientAddress, spentMs, deps }: Passage,
): Promise<Ended> {
  const system = SYSTEMS[hook.system];
  const { email, unchecked, facts, language } = readSignUp(payload, system);
  if (unchecked !== undefined) return { reply: system.accept, outcome: "accepted", why: unchecked };
  const entrance = await deps.admission.enterAs(account, clientAddress, `hook:${hook.id}`);
  const answer = await deps.decideOne(entrance, {
    text: email,
    policy: hook.policy,
    deadlineMs: system.deadlineMs - AFTER_MS,
    waitedMs: spentMs(),
    language,
    facts,
    wantsToken: false,
    whenSpent: "decide_without_dns",
  });
  const refuses = isRefused(answer.decision, hook);
  const decision = `${answer.decision}: ${answer.reason}`;
  const { spent } = answer;
  const why = spent === undefined ? decision : `${decision} (without DNS: ${spent.message})`;
  const outcome = refuses ? "refused" : spent === undefined ? "accepted" : "failed_open";
  if (hook.system === "standard")
    return { reply: { status: 200, body: answer.body }, outcome, why };
  const reply = refuses ? system.reject(wordsOf(answer, language), payload) : system.accept;
  return { reply, outcome, why };
}

const isRefused = (decision: Decision, { challenge }: Hook): boolean =>
  decision === "reject" || (decision !== "accept" && challenge === "reject");

/** Never empty: to Supabase an empty message is no refusal. */
function wordsOf({ message, reason }: DecideAnswer, language: string): string {
  const usual = { language, meant: undefined };
  return (
    message ??
    messageFor({ decision: "reject", reason }, usual) ??
    "Please use another email address."
  );
}
