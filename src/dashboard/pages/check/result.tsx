import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { announce } from "../../app/announce.ts";
import { check } from "../../app/check-run.ts";
import type { CheckStep } from "../../api/shapes.ts";
import { freshKey } from "../../app/fresh-key.ts";
import { t } from "../../app/i18n.ts";
import { session } from "../../app/session.ts";
import { Code, copyText } from "../../parts/copy.tsx";
import { Postmark } from "../../parts/postmark.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { checkSamples } from "../../words/samples.ts";
import { factsOf } from "../../words/facts.ts";
import { verdictOf } from "../../words/verdict.ts";
import { Why } from "./evidence-fall.tsx";
import { MailSetUp } from "./mail-set-up.tsx";
import { RecentChecks } from "./recent-checks.tsx";
import { ReportWrong } from "./report-wrong.tsx";

interface ResultProps {
  entry: string;
  step: CheckStep;
  atMs: number;
}

/** The verdict; and once it is seen why, and what was found. `step` "core" still waits for the premium part. */
export function CheckResult(props: ResultProps): VNode {
  const { entry, step } = props;
  const [isSeen, setSeen] = useState(false);
  useEffect(() => setSeen(true), []);
  if (!isSeen) {
    return (
      <>
        <VerdictSheet {...props} />
        {/* What stands below does not move when the rest comes. */}
        <div style={{ minHeight: "100vh" }} />
      </>
    );
  }
  return (
    <>
      <VerdictSheet {...props} />
      <div class="two start">
        <div class="stack wide">
          <Why step={step} />
          <RecentChecks />
        </div>
        <section class="sheet" aria-label={t("This result for programs")}>
          <Formats entry={entry} step={step} />
        </section>
      </div>
      <MailSetUp step={step} />
    </>
  );
}

function Formats({ entry, step }: { entry: string; step: CheckStep }): VNode {
  const key = freshKey.value?.api_key;
  const samples = checkSamples(session.value?.public_url ?? location.origin, key, entry);
  return (
    <Tabs
      label={t("This result for programs")}
      tabs={[
        {
          name: "JSON",
          content: () => <Code what={t("JSON")} text={JSON.stringify(step.result, null, 2)} />,
        },
        ...samples.map(({ name, text }) => ({
          name,
          content: () => <Code wrap={name === "curl"} what={name} text={text} />,
        })),
      ]}
    />
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
          <ReportWrong entry={entry} step={step} />
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
