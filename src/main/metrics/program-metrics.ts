import { Counter, Gauge, type Registry } from "prom-client";
import type { SignInOutcome } from "../../accounts/sign-in/sign-in.ts";

/** Which program this is. */
export function watchProgram(registry: Registry, version: string): void {
  new Gauge({
    name: "gatepost_build_info",
    help: "1, with the versions of the program and of Node.",
    labelNames: ["version", "node"],
    registers: [registry],
  }).set({ version, node: process.version }, 1);
}

/** Cache hits since the start. */
export function watchAnswerCache(
  registry: Registry,
  answerReads: () => { readonly hits: number; readonly misses: number },
): void {
  const reads: Counter = new Counter({
    name: "gatepost_answer_cache_reads_total",
    help: 'Single checks that looked for a finished answer: "hit" or "miss".',
    labelNames: ["outcome"],
    registers: [registry],
    collect() {
      const { hits, misses } = answerReads();
      reads.reset();
      reads.inc({ outcome: "hit" }, hits);
      reads.inc({ outcome: "miss" }, misses);
    },
  });
}

export type WebhookOutcome = "accepted" | "failed" | "removed";

/** Counts webhooks that this process sent, or found that their URL was gone. */
export function webhookCounter(registry: Registry): (outcome: WebhookOutcome) => void {
  const deliveries = new Counter({
    name: "gatepost_webhook_deliveries_total",
    help: 'Webhooks by what came of them: "accepted", "failed" or "removed" (the URL was gone).',
    labelNames: ["outcome"],
    registers: [registry],
  });
  return (outcome) => deliveries.inc({ outcome });
}

/** Counts passwords that were tried in the dashboard. */
export function signInCounter(registry: Registry): (outcome: SignInOutcome) => void {
  const signIns = new Counter({
    name: "gatepost_sign_ins_total",
    help: 'Passwords tried in the dashboard: "right", "wrong" or "delayed" (refused unread after many wrong ones).',
    labelNames: ["outcome"],
    registers: [registry],
  });
  return (outcome) => signIns.inc({ outcome });
}
