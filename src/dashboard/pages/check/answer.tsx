import type { VNode } from "preact";
import type { FrontPage as Front } from "../../api/shapes.ts";
import { check, checkRun } from "../../app/check-run.ts";
import { t } from "../../app/i18n.ts";
import { useLoad } from "../../app/load.ts";
import { Failed } from "../../parts/states.tsx";
import { FrontExamples } from "../front/front-examples.tsx";
import { Checking } from "./ask.tsx";
import { RecentChecks } from "./recent-checks.tsx";
import { CheckResult } from "./result.tsx";

/** What the field came to, or what there is to try. */
export function Answer(): VNode {
  const { shown } = checkRun.value;
  switch (shown.state) {
    case "nothing":
      return <Teach />;
    case "checking":
      return <Checking entry={shown.entry} />;
    case "failed":
      return <Failed message={shown.message} retry={() => check(shown.entry)} />;
    case "answered":
      return <CheckResult entry={shown.entry} step={shown.step} atMs={shown.atMs} />;
  }
}

const EXAMPLES = [
  ["someone@mailinator.com", "an inbox that anyone can read"],
  ["maria@gmail.con", "a typing error"],
  ["info@iana.org", "an organisation's role address"],
] as const;

/** The page before the first check: three results of this server, or entries to try where it has none. */
function Teach(): VNode {
  const { loaded } = useLoad<Front>("front");
  const front = loaded.state === "ready" ? loaded.value : undefined;
  const isLoading = loaded.state === "loading";
  if (isLoading || (front?.examples.length ?? 0) > 0) {
    return (
      <>
        <FrontExamples front={front} isLoading={isLoading} />
        <RecentChecks />
      </>
    );
  }
  return (
    <div class="two start">
      <section class="sheet stack">
        <h2>{t("What you will see")}</h2>
        <p class="prose">
          {t(
            "Whether it can receive mail, whether it is disposable or misspelt, and the reason: which list, since when, which word. Try one:",
          )}
        </p>
        <ul class="lines">
          {EXAMPLES.map(([entry, words]) => (
            <li key={entry}>
              <button type="button" class="link mono grow" onClick={() => check(entry)}>
                {entry}
              </button>
              <span class="note">{t(words)}</span>
            </li>
          ))}
        </ul>
      </section>
      <RecentChecks />
    </div>
  );
}
