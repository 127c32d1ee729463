import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Key } from "../../api/shapes.ts";
import { useLooks } from "../../app/every.ts";
import type { MadeKey } from "../../app/fresh-key.ts";
import { t, tx } from "../../app/i18n.ts";
import { Code } from "../../parts/copy.tsx";
import { Mark } from "../../parts/mark.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { checkSamples, type Sample, widgetSample } from "../../words/samples.ts";

/** True as soon as the key was used. */
function useIsUsed(id: string): boolean {
  const [isUsed, setUsed] = useState(false);
  useLooks(!isUsed, async () => {
    const { keys } = await call<{ readonly keys: readonly Key[] }>("GET", "keys");
    if (keys.find((key) => key.id === id)?.last_used_at) setUsed(true);
  });
  return isUsed;
}

/** A ready request with the key in it, and a light that turns green when it came. */
export function FirstRequest({ made, base }: { made: MadeKey; base: string }): VNode {
  const isUsed = useIsUsed(made.id);
  return (
    <>
      <div class="bar">
        <h2>{t("Make the first request")}</h2>
        <span class="push" role="status">
          <Mark
            mark={isUsed ? "yes" : "quiet"}
            words={isUsed ? t("The first request came") : t("Waiting for your first request")}
          />
        </span>
      </div>
      <Samples samples={checkSamples(base, made.api_key)} />
    </>
  );
}

/** One request in several languages. */
export function Samples({ samples }: { samples: readonly Sample[] }): VNode {
  return (
    <Tabs
      label={t("Language of the example")}
      tabs={samples.map(({ name, text }) => ({
        name,
        content: () => <Code wrap what={name} text={text} />,
      }))}
    />
  );
}

/** The two lines that guard a form of a web page. */
export function WidgetSample({ made, base }: { made: MadeKey; base: string }): VNode {
  return (
    <>
      <h2>{t("Guard a form of your page")}</h2>
      <p class="prose">
        {tx(
          "The widget asks when the address changes, shows the message beside the field and adds a signed token as {name}. When the service does not answer, the form works as before.",
          { name: <code>gatepost-token</code> },
        )}
      </p>
      <Code wrap what="HTML" text={widgetSample(base, made.api_key)} />
    </>
  );
}
