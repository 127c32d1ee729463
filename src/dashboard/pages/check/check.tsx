import type { VNode } from "preact";
import type { FrontPage as Front } from "../../api/shapes.ts";
import { check, checkRun } from "../../app/check-run.ts";
import { t } from "../../app/i18n.ts";
import { useLoad } from "../../app/load.ts";
import { PageHead } from "../../parts/page-head.tsx";
import { FrontExamples } from "../front/front-examples.tsx";
import { Answer } from "./answer.tsx";
import { Ask, useDeepLink } from "./ask.tsx";
import { RecentChecks } from "./recent-checks.tsx";

export function CheckPage(): VNode {
  useDeepLink();
  return (
    <>
      <PageHead title={t("Check")} lead={t("One address or domain. No mail is sent to it.")}>
        <a href="/lists">{t("Check a whole list instead")}</a>
      </PageHead>
      <Ask />
      {checkRun.value.shown.state === "nothing" ? <Teach /> : <Answer />}
    </>
  );
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
