import { Counter, type Registry } from "prom-client";
import { DEFAULT_POLICY } from "../../core/policy/default-policy.ts";
import type { DecisionMade } from "../../gate/outcome-recorder.ts";

/** Reasons that have a series of their own; those that a policy makes up are "own". */
const REASONS: ReadonlySet<string> = new Set([
  ...DEFAULT_POLICY.rules.map(({ reason }) => reason),
  "abuse",
  "role",
  "relay",
  "alias",
  "free",
  "fresh_domain",
  "repeated_mailbox",
  "caller",
  "denied",
  "ok",
]);

/** Counts decisions of this process, with and without a key. */
export function decisionCounter(registry: Registry): (made: DecisionMade) => void {
  const decisions = new Counter({
    name: "gatepost_decisions_total",
    help: 'Sign-up decisions by decision and reason; reasons that a policy makes up are "own".',
    labelNames: ["decision", "reason"],
    registers: [registry],
  });
  return ({ decision, reason }) =>
    decisions.inc({ decision, reason: REASONS.has(reason) ? reason : "own" });
}

/** Counts calls of identity systems to this process. */
export function hookCounter(registry: Registry): (system: string, outcome: string) => void {
  const calls = new Counter({
    name: "gatepost_hook_calls_total",
    help: 'Calls of identity systems: "accepted", "refused", "failed_open" or "unauthenticated".',
    labelNames: ["system", "outcome"],
    registers: [registry],
  });
  return (system, outcome) => calls.inc({ system, outcome });
}

/** Counts feedback given to this process. */
export function feedbackCounter(registry: Registry): (outcome: string) => void {
  const given = new Counter({
    name: "gatepost_feedback_total",
    help: 'What accounts reported of their sign-ups: "abuse", "bounce" or "fine".',
    labelNames: ["outcome"],
    registers: [registry],
  });
  return (outcome) => given.inc({ outcome });
}
