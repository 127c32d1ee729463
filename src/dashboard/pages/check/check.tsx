import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import { check, checkRun, entryOnPage, type Shown } from "../../app/check-run.ts";
import { t } from "../../app/i18n.ts";
import { fragment } from "../../app/router.ts";
import { PageHead } from "../../parts/page-head.tsx";
import { BlankPostmark } from "../../parts/postmark.tsx";
import { Bones, Failed } from "../../parts/states.tsx";
import { Ask } from "./ask.tsx";
import { RecentChecks } from "./recent-checks.tsx";
import { CheckResult } from "./result.tsx";

/** Checks what a link names behind "#". */
export function useDeepLink(): void {
  const wanted = fragment.value;
  useEffect(() => {
    if (wanted !== "" && wanted !== "content" && wanted !== entryOnPage()) check(wanted);
  }, [wanted]);
}

export function CheckPage(): VNode {
  useDeepLink();
  return (
    <>
      <PageHead title={t("Check")} lead={t("One address or domain. No mail is sent to it.")}>
        <a href="/lists">{t("Check a whole list instead")}</a>
      </PageHead>
      <Ask />
      <Answer shown={checkRun.value.shown} />
    </>
  );
}

/** What the field came to, or what there is to try. */
export function Answer({ shown }: { shown: Shown }): VNode {
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

/** The page before the first check. */
function Teach(): VNode {
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

function Checking({ entry }: { entry: string }): VNode {
  return (
    <section class="sheet verdict">
      <div>
        <code class="subject">{entry}</code>
        <h2 class="say">{t("Asking its name servers…")}</h2>
        <Bones lines={2} />
      </div>
      <BlankPostmark />
    </section>
  );
}
