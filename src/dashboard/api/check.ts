import { SIGNALS } from "../../core/evidence/signals.ts";
import { readLines, send } from "./client.ts";
import type { CheckStep, EvidenceShape, Result } from "./shapes.ts";

/** Without a session nobody says what was matched: the table's weights stand in. */
function fromTable(result: Result): readonly EvidenceShape[] {
  return result.signals.map((signal) => ({
    signal,
    weight: Math.round(SIGNALS[signal].weight * 100),
    lists: [],
  }));
}

/** Checks as the signed-in account. `take` gets the core facts first and the whole result last. */
export async function checkAsAccount(
  entry: string,
  take: (step: CheckStep) => void,
  signal: AbortSignal,
): Promise<void> {
  const response = await send("POST", "/account/check", { entry, features: ["all"] }, signal);
  await readLines(response, (value) => take(value as CheckStep));
}

/** Checks as a visitor, by the public API and within its limits for this address. */
export async function checkAsVisitor(
  entry: string,
  take: (step: CheckStep) => void,
  signal: AbortSignal,
): Promise<void> {
  const family = entry.includes("@") ? "email" : "domain";
  const response = await send("POST", `/api/${family}`, { [family]: entry }, signal);
  const result = (await response.json()) as Result;
  take({ step: "full", result, evidence: fromTable(result), advice: [] });
}
