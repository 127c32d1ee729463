import { LRUCache } from "lru-cache";
import {
  DEFAULT_NAME,
  DEFAULT_POLICY,
  DEFAULT_VERSION,
  SEND_NAME,
  SEND_POLICY,
} from "../core/policy/default-policy.ts";
import { parsePolicyText, working } from "../core/policy/parse-policy.ts";
import type { Policy } from "../core/policy/policy.ts";
import type { Awaitable } from "../core/mail/lookup.ts";
import { Believed } from "../base/believed.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Notices } from "../store/notices.ts";
import type { PolicyInForce, PolicyStore, PolicyVersion } from "./policy-store.ts";

export interface ReadyPolicy {
  readonly version: number;
  readonly policy: Policy;
}

export interface PoliciesInForce {
  readonly name: string;
  readonly live: ReadyPolicy;
  readonly shadow?: ReadyPolicy;
}

const builtIn = (name: string, policy: Policy): PoliciesInForce => ({
  name,
  live: { version: DEFAULT_VERSION, policy },
});

export const BUILT_IN = builtIn(DEFAULT_NAME, DEFAULT_POLICY);
const BUILT_IN_SEND = builtIn(SEND_NAME, SEND_POLICY);

/** What every account, and who has none, has under this name. */
export const builtInPolicy = (name: string): PoliciesInForce | undefined =>
  [BUILT_IN, BUILT_IN_SEND].find((one) => one.name === name);

/** Undefined for an unknown name. In `timeoutMs`, with what the store said last, or else the built-in policy. */
export type FindPolicies = (
  accountId: string,
  name: string,
  timeoutMs: number,
) => Awaitable<PoliciesInForce | undefined>;

export interface FindPoliciesDeps {
  readonly store: Pick<PolicyStore, "inForce">;
  readonly clock: Pick<Clock, "monotonicMs" | "after">;
  readonly log: Pick<Log, "error" | "warn">;
  /** Absent: a change is seen within 5 s. */
  readonly notices?: Pick<Notices, "hear">;
}

/** Versions whose mistakes are said once. */
const SAID_MAX = 1_000;

const NAME = /^[a-z0-9_-]{1,32}$/;

export const isPolicyName = (name: string): boolean => NAME.test(name);

export function createFindPolicies(deps: FindPoliciesDeps): FindPolicies {
  const { store, clock, log, notices } = deps;
  const failed = (fault: unknown): void => log.error("policies.read_failed", fault);
  const known = new Believed<PoliciesInForce>(clock, failed);
  notices?.hear("policies", () => known.expire());
  const orBuiltIn = (name: string, found: PoliciesInForce | "unknown" | undefined) =>
    found === "unknown" ? (builtInPolicy(name) ?? BUILT_IN) : found;
  const said = new LRUCache<string, true>({ max: SAID_MAX });
  return (accountId, name, timeoutMs) => {
    if (!isPolicyName(name)) return undefined;
    const ignored = (version: number, parts: readonly string[]): void => {
      const one = `${accountId} ${name} ${String(version)}`;
      if (said.has(one)) return;
      said.set(one, true);
      log.warn("policies.parts_ignored", { account: accountId, policy: name, version, parts });
    };
    const ask = async () => ready(name, await store.inForce(accountId, name), ignored);
    const found = known.find(`${accountId} ${name}`, timeoutMs, ask);
    return found instanceof Promise
      ? found.then((one) => orBuiltIn(name, one))
      : orBuiltIn(name, found);
  };
}

type Ignored = (version: number, parts: readonly string[]) => void;

function ready(
  name: string,
  { live, shadow }: PolicyInForce,
  ignored: Ignored,
): PoliciesInForce | undefined {
  const decides = live === undefined ? builtInPolicy(name)?.live : readyOf(live, ignored);
  if (decides === undefined) return undefined;
  return { name, live: decides, ...(shadow && { shadow: readyOf(shadow, ignored) }) };
}

/** The plan may have changed since it was saved: a rule about the age of domains then never matches. */
function readyOf({ version, document }: PolicyVersion, ignored: Ignored): ReadyPolicy {
  const read = parsePolicyText(document, { hasDomainAge: true });
  const policy = working(read);
  if (policy === undefined) throw new Error(`policy version ${String(version)} is no JSON object`);
  if (!read.ok)
    ignored(
      version,
      read.mistakes.map((mistake) => mistake.split(":")[0] ?? ""),
    );
  return { version, policy };
}
