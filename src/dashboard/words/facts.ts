import type { Result } from "../api/shapes.ts";
import { t } from "../app/i18n.ts";
import { isAddress, type Mark } from "./verdict.ts";

export interface Fact {
  readonly mark: Mark;
  readonly words: string;
}

/** Short facts beside the verdict; none for what has no format. */
export function factsOf(result: Result): readonly Fact[] {
  if (!result.format) return [{ mark: "no", words: t("Bad format") }];
  return [
    { mark: "yes", words: t("Format valid") },
    mailFact(result),
    result.disposable
      ? { mark: "no", words: t("Disposable") }
      : { mark: "yes", words: t("Not disposable") },
    ...(result.whitelist ? [{ mark: "yes" as const, words: t("Known good") }] : []),
    ...(isAddress(result) ? addressFacts(result) : []),
    { mark: "quiet", words: result.free ? t("Free provider") : t("Not a free provider") },
  ];
}

function mailFact(result: Result): Fact {
  if (result.dns) return { mark: "yes", words: t("Accepts mail") };
  return result.signals.includes("dns_indeterminate")
    ? { mark: "quiet", words: t("Mail server unknown") }
    : { mark: "no", words: t("No mail server") };
}

function addressFacts(result: Result): readonly Fact[] {
  return [
    { mark: "quiet", words: result.role ? t("Role address") : t("Not a role address") },
    ...(result.alias === true ? [{ mark: "quiet" as const, words: t("An alias") }] : []),
  ];
}
