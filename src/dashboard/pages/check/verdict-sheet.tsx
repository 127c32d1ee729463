import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { CheckStep } from "../../api/shapes.ts";
import { announce } from "../../app/announce.ts";
import { check } from "../../app/check-run.ts";
import { t } from "../../app/i18n.ts";
import type { Loadable } from "../../app/loaded-parts.ts";
import { copyText } from "../../parts/copy.tsx";
import { Lazy } from "../../parts/lazy.tsx";
import { Postmark } from "../../parts/postmark.tsx";
import { factsOf } from "../../words/facts.ts";
import { verdictOf } from "../../words/verdict.ts";

/** Why, and what was found: fetched when a check is near, and shown once the verdict is seen. */
export const DETAILS: Loadable = {
  load: async () => (await import("./details.tsx")).Details,
};

interface ResultProps {
  entry: string;
  step: CheckStep;
  atMs: number;
}

/** The verdict; and once it is seen why, and what was found. `step` "core" still waits for the premium part. */
export function CheckResult(props: ResultProps): VNode {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => setSeen(true), []);
  // What stands below does not move when the rest comes.
  const room = <div style={{ minHeight: "100vh" }} />;
  return (
    <>
      <VerdictSheet {...props} />
      {isSeen ? <Lazy part={DETAILS} wait={room} /> : room}
    </>
  );
}

function VerdictSheet({ entry, step, atMs }: ResultProps): VNode {
  const { suggestion, ...verdict } = verdictOf(step, entry);
  return (
    <section class="sheet verdict">
      <div>
        <code class="subject">{entry}</code>
        <h2 class="say">{verdict.sentence}</h2>
        {verdict.reason === "" ? null : <p class="why">{verdict.reason}</p>}
        <div class="facts">
          {factsOf(step.result).map(({ mark, words }) => (
            <span key={words} class={`chip ${mark}`}>
              {words}
            </span>
          ))}
        </div>
        <div class="bar acts">
          {suggestion === undefined ? null : (
            <button type="button" class="main" onClick={() => check(suggestion)}>
              {t("Did you mean {name}?", { name: suggestion })}
            </button>
          )}
          <button type="button" class="small" onClick={() => check(entry)}>
            {t("Check again")}
          </button>
          <CopyLink entry={entry} />
        </div>
      </div>
      <Postmark key={`${entry} ${verdict.stamp}`} {...verdict} atMs={atMs} />
    </section>
  );
}

function CopyLink({ entry }: { entry: string }): VNode {
  const [isCopied, setCopied] = useState(false);
  const link = `${location.origin}/#${encodeURIComponent(entry)}`;
  const copy = (): void => {
    copyText(link).then(
      () => {
        setCopied(true);
        announce(t("Link copied."));
      },
      () => announce(t("The browser does not allow copying. The address bar has the link.")),
    );
  };
  return (
    <button type="button" class="small plain" onClick={copy}>
      {isCopied ? t("Link copied") : t("Copy link")}
    </button>
  );
}
