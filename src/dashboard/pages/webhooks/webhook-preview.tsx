import type { VNode } from "preact";
import { t, tx } from "../../app/i18n.ts";
import { Code } from "../../parts/copy.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { RECEIVER_URL, receiverSamples, SECRET_VARIABLE } from "../../words/receiver-samples.ts";
import { WEBHOOK_EXAMPLE } from "../../words/verify-samples.ts";

/** What a receiver gets, and a whole receiver to copy; `secret` while it is on the screen, else "". */
export function WebhookPreview({ secret }: { secret: string }): VNode {
  const samples = receiverSamples(secret === "" ? undefined : secret);
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
      <h2>{t("A receiver to copy")}</h2>
      <p class="prose">
        {tx(
          "It checks the signature, answers at once and works on each list once. It listens at {address}: put your https server or a tunnel in front of it. curl sends it a signed test.",
          { address: <code>{RECEIVER_URL}</code> },
        )}{" "}
        {secret === ""
          ? tx("It reads the secret from {code}.", { code: <code>{SECRET_VARIABLE}</code> })
          : t("It holds your secret as long as this page shows it.")}
      </p>
      <Tabs
        label={t("Language of the receiver")}
        tabs={samples.map(({ name, text }) => ({
          name,
          content: () => <Code what={t("{name} example", { name })} text={text} />,
        }))}
      />
    </section>
  );
}
