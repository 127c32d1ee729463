import type { Hook, HookCall } from "../api/gate.ts";
import { t } from "../app/i18n.ts";
import type { Mark } from "./verdict.ts";

const OUTCOMES: Readonly<Record<HookCall["outcome"], readonly [mark: Mark, words: string]>> = {
  accepted: ["yes", "Accepted"],
  refused: ["yes", "Refused by the policy"],
  failed_open: ["unsure", "Let through after a fault"],
  unauthenticated: ["no", "Wrong signature or secret"],
};

/** How a call ended. */
export const outcomeName = (outcome: HookCall["outcome"]): string => t(OUTCOMES[outcome][1]);

/** The light of a hook: green when its last call was answered. */
export function hookMark({ last_call: last }: Hook): {
  readonly mark: Mark;
  readonly words: string;
} {
  if (last === null) return { mark: "quiet", words: t("Waiting for the first call") };
  const [mark] = OUTCOMES[last.outcome];
  return { mark, words: mark === "yes" ? t("Answers") : t(OUTCOMES[last.outcome][1]) };
}
