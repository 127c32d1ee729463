import { DEFAULT_NAME, DEFAULT_POLICY, DEFAULT_VERSION } from "../core/policy/default-policy.ts";
import { parsePolicyText } from "../core/policy/parse-policy.ts";
import type { Policy } from "../core/policy/policy.ts";
import type { Awaitable } from "../core/mail/lookup.ts";
import type { Clock } from "../base/clock.ts";
import { inTime } from "../base/in-time.ts";
import type { Log } from "../base/log.ts";
import type { Notices } from "../store/notices.ts";
import type { PolicyStore, PolicyVersion } from "./policy-store.ts";

export interface ReadyPolicy {
  readonly version: number;
  readonly policy: Policy;
}

export interface PoliciesInForce {
  readonly name: string;
  readonly live: ReadyPolicy;
  readonly shadow?: ReadyPolicy;
}

export const BUILT_IN: PoliciesInForce = {
  name: DEFAULT_NAME,
  live: { version: DEFAULT_VERSION, policy: DEFAULT_POLICY },
};

/** Undefined for an unknown name. In `timeoutMs`, with what the store said last, or else the built-in policy. */
export type FindPolicies = (
  accountId: string,
  name: string,
  timeoutMs: number,
) => Awaitable<PoliciesInForce | undefined>;

export interface FindPoliciesDeps {
  readonly store: Pick<PolicyStore, "inForce">;
  readonly clock: Pick<Clock, "monotonicMs" | "after">;
  readonly log: Pick<Log, "error">;
  /** Absent: a change is seen within 5 s. */
  readonly notices?: Pick<Notices, "hear">;
}

/** A change by another process is seen within 5 s, of which this leaves a second to the question itself. */
const BELIEVED_MS = 4_000;

const KEPT_MAX = 10_000;

const NAME = /^[a-z0-9_-]{1,32}$/;

export const isPolicyName = (name: string): boolean => NAME.test(name);

interface Kept {
  readonly policies: PoliciesInForce | undefined;
  readonly staleAtMs: number;
}

export function createFindPolicies(deps: FindPoliciesDeps): FindPolicies {
  const finder = new Finder(deps);
  return (accountId, name, timeoutMs) => finder.find(accountId, name, timeoutMs);
}

class Finder {
  readonly #deps: FindPoliciesDeps;
  readonly #kept = new Map<string, Kept>();
  readonly #asking = new Map<string, Promise<PoliciesInForce | undefined>>();
  /** Questions that began before a change do not count as news of it. */
  #changes = 0;

  constructor(deps: FindPoliciesDeps) {
    this.#deps = deps;
    deps.notices?.hear("policies", () => this.#expire());
  }

  find(accountId: string, name: string, timeoutMs: number): Awaitable<PoliciesInForce | undefined> {
    if (!isPolicyName(name)) return undefined;
    const key = `${accountId} ${name}`;
    const kept = this.#kept.get(key);
    if (kept !== undefined && this.#deps.clock.monotonicMs() < kept.staleAtMs) return kept.policies;
    const asking = this.#asking.get(key) ?? this.#ask(key, accountId, name);
    this.#asking.set(key, asking);
    return this.#inTime(asking, kept, timeoutMs);
  }

  async #inTime(
    asking: Promise<PoliciesInForce | undefined>,
    kept: Kept | undefined,
    timeoutMs: number,
  ): Promise<PoliciesInForce | undefined> {
    const { clock, log } = this.#deps;
    const fallback = kept === undefined ? BUILT_IN : kept.policies;
    try {
      return await inTime(asking, { timeoutMs, late: fallback, clock });
    } catch (fault) {
      log.error("policies.read_failed", fault);
      return fallback;
    }
  }

  async #ask(key: string, accountId: string, name: string): Promise<PoliciesInForce | undefined> {
    const changes = this.#changes;
    try {
      const { live, shadow } = await this.#deps.store.inForce(accountId, name);
      const policies = this.#ready(name, live, shadow);
      const staleAtMs =
        changes === this.#changes ? this.#deps.clock.monotonicMs() + BELIEVED_MS : 0;
      if (this.#kept.size >= KEPT_MAX) this.#kept.clear();
      this.#kept.set(key, { policies, staleAtMs });
      return policies;
    } finally {
      this.#asking.delete(key);
    }
  }

  #ready(
    name: string,
    live: PolicyVersion | undefined,
    shadow: PolicyVersion | undefined,
  ): PoliciesInForce | undefined {
    const builtIn = name === DEFAULT_NAME ? BUILT_IN.live : undefined;
    const decides = live === undefined ? builtIn : readyOf(live);
    if (decides === undefined) return undefined;
    return { name, live: decides, ...(shadow !== undefined && { shadow: readyOf(shadow) }) };
  }

  /** Kept to fall back on, but asked for again. */
  #expire(): void {
    this.#changes += 1;
    for (const [key, { policies }] of this.#kept) this.#kept.set(key, { policies, staleAtMs: 0 });
    this.#asking.clear();
  }
}

/** The plan may have changed since it was saved: a rule about the age of domains then never matches. */
function readyOf({ version, document }: PolicyVersion): ReadyPolicy {
  const read = parsePolicyText(document, { hasDomainAge: true });
  if (!read.ok) throw new Error(`policy version ${String(version)}: ${read.mistakes.join("; ")}`);
  return { version, policy: read.policy };
}
