import type { ComponentChildren, VNode } from "preact";
import { SIGNALS } from "../../core/evidence/signals.ts";
import { freshKey } from "../app/fresh-key.ts";
import { session } from "../app/session.ts";
import { Code } from "../parts/copy.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { checkSamples, listSample, type Sample } from "../words/samples.ts";
import { librarySamples } from "../words/library-samples.ts";
import { t, tx } from "../app/i18n.ts";
import { verifySamples } from "../words/verify-samples.ts";

/** Everything a programmer needs to begin, with the reader's own key where there is one. */
export function GuidePage(): VNode {
  const key = freshKey.value?.api_key;
  const baseUrl = session.value?.public_url ?? location.origin;
  return (
    <>
      <PageHead
        title={t("Guide")}
        lead={
          <>
            {tx(
              "From nothing to a first answer in a minute. Every path and field is in the {link}.",
              { link: <a href="/docs">{t("API reference")}</a> },
            )}
          </>
        }
      />
      <QuickStart samples={checkSamples(baseUrl, key)} hasKey={key !== undefined} />
      {session.value?.parts.includes("gate") === true ? (
        <Libraries samples={librarySamples(baseUrl, key)} />
      ) : null}
      <Reading />
      <Lists text={listSample(baseUrl, key)} />
      <WebhookPart />
      <SignalPart />
    </>
  );
}

function Section({ title, children }: { title: string; children: ComponentChildren }): VNode {
  return (
    <section class="sheet stack">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Samples({ samples, label }: { samples: readonly Sample[]; label: string }): VNode {
  return (
    <Tabs
      label={label}
      tabs={samples.map(({ name, text }) => ({
        name,
        content: () => <Code what={`${label}: ${name}`} text={text} />,
      }))}
    />
  );
}

function QuickStart({ samples, hasKey }: { samples: readonly Sample[]; hasKey: boolean }): VNode {
  return (
    <Section title={t("One check")}>
      <p class="prose">
        {hasKey
          ? t(
              "The samples hold the key that you have just made. It is shown until you reload this page.",
            )
          : tx(
              "The samples run as they are, without a key and with lower limits. Set {code} in the environment, or {link} and come back: the samples then hold it.",
              { code: <code>GATEPOST_KEY</code>, link: <a href="/keys">{t("create a key")}</a> },
            )}{" "}
        {t("When the service does not answer, they let the person in.")}
      </p>
      <Samples label={t("Language of the example")} samples={samples} />
    </Section>
  );
}

function Libraries({ samples }: { samples: readonly Sample[] }): VNode {
  return (
    <Section title={t("A sign-up, by a client library")}>
      <p class="prose">
        {t(
          "A library decides by your policy and within its deadline, repeats what may be repeated, and lets the person in when the service is away.",
        )}
      </p>
      <Samples label={t("Language of the library")} samples={samples} />
    </Section>
  );
}

function Reading(): VNode {
  return (
    <Section title={t("Reading the answer")}>
      <dl class="pairs">
        <dt>
          <code>format</code>
        </dt>
        <dd>
          {t("Look here first. When it is false, no mail can be sent to the address at all.")}
        </dd>
        <dt>
          <code>disposable</code>
        </dt>
        <dd>
          {tx("A throw-away inbox. {code} says how sure, from 0 to 100; 50 is the line.", {
            code: <code>confidence</code>,
          })}
        </dd>
        <dt>
          <code>dns</code>
        </dt>
        <dd>
          {tx(
            "Whether a mail server is there. When {code} holds {code2}, nobody could say: try again later, and do not turn the person away for it.",
            { code: <code>signals</code>, code2: <code>dns_indeterminate</code> },
          )}
        </dd>
        <dt>
          <code>signals</code>
        </dt>
        <dd>{t("The evidence, most important first. What each one means stands below.")}</dd>
      </dl>
      <p class="prose">
        {tx(
          "Take any status other than 200 as “not checked”, and let the person through. A 429 names the seconds to wait in {code}.",
          { code: <code>Retry-After</code> },
        )}
      </p>
    </Section>
  );
}

function Lists({ text }: { text: string }): VNode {
  return (
    <Section title={t("Whole lists")}>
      <p class="prose">
        {tx(
          "Send many entries at once. Up to 100 are answered directly; more are queued, and {code} leads to the result. Handle both answers. Results stay for 15 minutes.",
          { code: <code>session</code> },
        )}
      </p>
      <Code what={t("curl commands for a list")} text={text} />
    </Section>
  );
}

function WebhookPart(): VNode {
  return (
    <Section title={t("Verifying webhooks")}>
      <p class="prose">
        {tx(
          "The header {code} is the lower-case hexadecimal HMAC-SHA256 of the body, keyed with your signing secret. Compute it over the bytes as they came, compare in constant time, and refuse everything that is not exactly 64 such digits.",
          { code: <code>X-Service-Signature</code> },
        )}
      </p>
      <Samples label={t("Language of the verifier")} samples={verifySamples()} />
    </Section>
  );
}

function SignalPart(): VNode {
  return (
    <Section title={t("Signals")}>
      <div class="scroll">
        <table class="folds">
          <thead>
            <tr>
              <th scope="col">{t("Signal")}</th>
              <th scope="col">{t("Means")}</th>
              <th scope="col" class="number">
                {t("Weight")}
              </th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(SIGNALS).map(([name, { means, weight }]) => (
              <tr key={name}>
                <th scope="row">
                  <code>{name}</code>
                </th>
                <td>{t(means)}</td>
                <td class="number" data-label={t("Weight")}>
                  {weight.toFixed(2)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="prose">
        {t(
          "Confidence is 100 × (1 − the product of (1 − weight)) over the signals present. From 50 on an entry is called disposable.",
        )}
      </p>
    </Section>
  );
}
