import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { backTestPolicy, type PolicyBackTest, type PolicyDocument } from "../../api/gate.ts";
import { t } from "../../app/i18n.ts";
import { useAction } from "../../app/load.ts";
import { count } from "../../app/numbers.ts";
import { Fault } from "../../parts/states.tsx";
import { decisionWords } from "../../words/policy.ts";
import { DecisionBar, DecisionKeys } from "./policy-effect.tsx";

/** The draft against the domains of the last 30 days; nothing is kept and nothing charged. */
export function BackTest({ name, draft }: { name: string; draft: PolicyDocument }): VNode {
  const [answer, setAnswer] = useState<PolicyBackTest>();
  const { busy, fault, run } = useAction();
  const test = (): void => run(async () => setAnswer(await backTestPolicy(name, draft)));
  return (
    <section class="sheet stack">
      <h2>{t("What the draft would have done")}</h2>
      <div class="bar">
        <button type="button" disabled={busy} onClick={test}>
          {t("Test against 30 days")}
        </button>
        <span class="note grow">
          {t("Uses the counted domains of the last 30 days. Nothing is charged.")}
        </span>
      </div>
      <Fault text={fault} />
      <div aria-live="polite">{answer === undefined ? null : <Answer answer={answer} />}</div>
    </section>
  );
}

function Answer({ answer }: { answer: PolicyBackTest }): VNode {
  const { checks, changed_checks: changed, live, draft, untestable } = answer;
  return (
    <div class="stack close">
      <p>
        {checks === 0
          ? t("No checks were counted in these days.")
          : t("{changed} of {all} checks would have been decided otherwise.", {
              changed: count(changed),
              all: count(checks),
            })}
      </p>
      {checks === 0 ? null : (
        <>
          <DecisionBar name={t("live")} counts={live} />
          <DecisionBar name={t("draft")} counts={draft} />
          <DecisionKeys was={live} becomes={draft} />
        </>
      )}
      {untestable.map(({ rule, facts }) => (
        <p key={rule} class="note">
          {t("Rule {n} could not be tested: {facts} is known for single addresses only.", {
            n: rule + 1,
            facts: facts.join(", "),
          })}
        </p>
      ))}
      {answer.changed.length === 0 ? null : (
        <ul class="lines">
          {answer.changed
            .slice(0, 10)
            .map(({ domain, live: was, draft: becomes, checks: times }) => (
              <li key={domain}>
                <span class="mono grow">{domain}</span>
                <span class="note">
                  {decisionWords(was)} → {decisionWords(becomes)}, {count(times)}
                </span>
              </li>
            ))}
        </ul>
      )}
    </div>
  );
}
