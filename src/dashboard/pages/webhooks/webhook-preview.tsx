import type { VNode } from "preact";
import { t, tx } from "../../app/i18n.ts";
import { Code } from "../../parts/copy.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { verifySamples, WEBHOOK_EXAMPLE } from "../../words/verify-samples.ts";

/** What a receiver gets, and code that tells a genuine message. */
export function WebhookPreview(): VNode {
  return (
    <section class="sheet stack">
      <h2>{t("What arrives")}</h2>
      <p class="prose">
        {tx(
          "A POST with this body and its signature in {header}. Answer with a status of 2xx within 10 s, and do the work afterwards.",
          { header: <code>X-Service-Signature</code> },
        )}
      </p>
      <Code what={t("Example of a message")} text={WEBHOOK_EXAMPLE} />
      <Tabs
        label={t("Language of the verifier")}
        tabs={verifySamples().map(({ name, text }) => ({
          name,
          content: () => <Code what={t("{name} example", { name })} text={text} />,
        }))}
      />
    </section>
  );
}
