import type { VNode } from "preact";
import { sentenceFor } from "../../core/policy/sentence.ts";
import { useLoad } from "../lib/load.ts";
import { Pairs, Sheet } from "../parts/basic.tsx";
import { useChoice } from "../parts/form.tsx";
import type { PolicyDocument } from "../words/policy.ts";

const languages = new Intl.DisplayNames("en", { type: "language" });

const LANGUAGES = ["en", "de", "fr", "es", "it", "pt", "nl", "pl"].map(
  (code) => [code, languages.of(code) ?? code] as const,
);

export function Messages(props: { draft: PolicyDocument; reasons: readonly string[] }): VNode {
  const [language, choice] = useChoice("Language", LANGUAGES, "en");
  const { value: words } = useLoad<Readonly<Record<string, string>>>(
    `messages?language=${language}`,
    0,
  );
  const said = props.draft.rules.flatMap(({ then, reason, message }, rule) => {
    const messages = message && new Map(Object.entries(message));
    const outcome = { decision: then, reason: reason ?? props.reasons[rule] ?? "" };
    const spoken = { language, meant: outcome.reason === "typo" ? "jo@gmail.com" : undefined };
    const all = { ...outcome, ...(messages && { messages }) };
    const sentence = sentenceFor(all, spoken, (use) => words?.[use]);
    const quoted = <span lang={language}>{words && `“${sentence ?? ""}”`}</span>;
    return then === "accept" ? [] : [[`Rule ${String(rule + 1)}`, quoted] as const];
  });
  return (
    <Sheet title="What the person reads" aside={choice}>
      <Pairs rows={said} />
    </Sheet>
  );
}
