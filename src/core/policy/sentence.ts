import type { FormatProblem } from "../validate/malformed.ts";
import type { Messages, Outcome } from "./policy.ts";

/** One sentence for the person at the form, of the words of a language; undefined for an accepted entry. */
export function sentenceFor(
  { decision, reason, messages }: Outcome,
  { language, meant, problem }: Spoken,
  words: (use: string) => string | undefined,
): string | undefined {
  if (decision === "accept") return undefined;
  if (messages !== undefined) return ownMessage(messages, language);
  if (decision === "review") return words(`review.${reason}`) ?? words("decision.review");
  const suggestion = meant === undefined ? undefined : words("meant")?.replace("{0}", () => meant);
  if (reason === "typo" && suggestion !== undefined) return suggestion;
  if (reason !== "format") return words(`reason.${reason}`) ?? words(`decision.${decision}`);
  const fault = problem && words(`format.${problem.code}`);
  if (suggestion === undefined) return fault ?? words("reason.format");
  return fault === undefined ? suggestion : `${fault} ${suggestion}`;
}

export interface Spoken {
  readonly language: string;
  readonly meant: string | undefined;
  readonly problem?: FormatProblem | undefined;
}

function ownMessage(messages: Messages, tag: string): string | undefined {
  const exact = tag.toLowerCase().replaceAll("_", "-");
  const [primary = ""] = exact.split("-");
  const [first] = messages.values();
  return messages.get(exact) ?? messages.get(primary) ?? messages.get("en") ?? first;
}

/** Says behind `before` that a save deleted old versions; "" when it did not. */
export function prunedWords({ pruned = 0 }: { readonly pruned?: number }, before = ""): string {
  if (pruned === 0) return "";
  const what = pruned === 1 ? "1 old version was" : `${String(pruned)} old versions were`;
  return `${before}${what} deleted to make room`;
}
