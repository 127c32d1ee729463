import type { VNode } from "preact";
import { checkRun } from "../../app/check-run.ts";
import type { CheckStep } from "../../api/shapes.ts";
import { freshKey } from "../../app/fresh-key.ts";
import { t } from "../../app/i18n.ts";
import { session } from "../../app/session.ts";
import { Code } from "../../parts/copy.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { checkSamples } from "../../words/samples.ts";
import { Why } from "./evidence-fall.tsx";
import { MailSetUp } from "./mail-set-up.tsx";
import { RecentChecks } from "./recent-checks.tsx";

/** Why, and what was found, for programs too. */
export function Details(): VNode | null {
  const { shown } = checkRun.value;
  if (shown.state !== "answered") return null;
  const { entry, step } = shown;
  return (
    <>
      <div class="two start">
        <div class="stack wide">
          <Why step={step} />
          <RecentChecks />
        </div>
        <section class="sheet unprinted" aria-label={t("This result for programs")}>
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
