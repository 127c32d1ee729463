import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { type PolicyDocument, type Tried, tryPolicy } from "../../api/gate.ts";
import { t } from "../../app/i18n.ts";
import { useAction } from "../../app/load.ts";
import { Mark } from "../../parts/mark.tsx";
import { Fault } from "../../parts/states.tsx";
import { DECISION_MARKS, decisionWords } from "../../words/policy.ts";

/** One address against the draft, before it is published. */
export function TryPolicy({ name, draft }: { name: string; draft: PolicyDocument }): VNode {
  const [entry, setEntry] = useState("");
  const [tried, setTried] = useState<Tried>();
  const { busy, fault, run } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => setTried(await tryPolicy(name, draft, entry.trim())));
  };
  return (
    <section class="sheet stack">
      <h2>{t("Try an address")}</h2>
      <form class="bar" onSubmit={submit}>
        <input
          class="grow mono"
          aria-label={t("Address")}
          placeholder={t("name@domain")}
          value={entry}
          onInput={(event) => setEntry(event.currentTarget.value)}
          required
          maxLength={2_000}
          autocomplete="off"
          spellcheck={false}
        />
        <button type="submit" disabled={busy}>
          {t("Try")}
        </button>
      </form>
      <Fault text={fault} />
      <div aria-live="polite">{tried === undefined ? null : <Outcome tried={tried} />}</div>
      <p class="note">{t("Trying costs 1 check.")}</p>
    </section>
  );
}

function Outcome({ tried }: { tried: Tried }): VNode {
  const { decision, rule, reason, message } = tried;
  return (
    <div class="stack close">
      <div class="bar">
        <Mark mark={DECISION_MARKS[decision]} words={decisionWords(decision)} />
        <span class="note">
          {rule === null ? t("No rule fits.") : t("Rule {n}", { n: rule + 1 })}{" "}
          <code>{reason}</code>
        </span>
      </div>
      {message === undefined ? null : <p>“{message}”</p>}
    </div>
  );
}
