import type { VNode } from "preact";
import type { Delivery } from "../../api/shapes.ts";
import { useLoad } from "../../app/load.ts";
import { duration } from "../../app/numbers.ts";
import { Empty, Shown } from "../../parts/states.tsx";
import { t } from "../../app/i18n.ts";
import { Time } from "../../parts/time.tsx";

/** What was sent in the last 7 days and what came back. */
export function Deliveries({ isSetUp }: { isSetUp: boolean }): VNode {
  const loading = useLoad<{ readonly deliveries: readonly Delivery[] }>("webhook/deliveries");
  return (
    <section class="sheet stack">
      <div class="bar">
        <h2>{t("Deliveries of the last 7 days")}</h2>
        <span class="push" />
        <button type="button" class="small" onClick={loading.reload}>
          {t("Look again")}
        </button>
      </div>
      <Shown loading={loading} lines={4}>
        {({ deliveries }) =>
          deliveries.length === 0 ? (
            <Empty title={t("Nothing was sent")}>
              <p>
                {isSetUp
                  ? t("Send a test above, or check a list.")
                  : t("Save an address first. Then every message shows up here with its answer.")}
              </p>
            </Empty>
          ) : (
            <ul class="rows">
              {deliveries.map((delivery) => (
                <DeliveryRow key={delivery.id} delivery={delivery} />
              ))}
            </ul>
          )
        }
      </Shown>
    </section>
  );
}

/** Why a delivery failed. The code in brackets behind the sentence, as "(ECONNRESET)", is the system's. */
export function failureText(error: string): string {
  const [, sentence = error, code = ""] = /^(.+\.)( \([^)]*\))$/.exec(error) ?? [];
  return `${sentence}${code}`;
}

function outcomeOf({ status, error }: Delivery): readonly [mark: string, words: string] {
  if (status !== null && error === null) return ["yes", t("Answered {status}", { status })];
  if (status !== null) return ["no", t("Answered {status}", { status })];
  return error === null ? ["", t("On its way")] : ["no", t("Not delivered")];
}

function DeliveryRow({ delivery }: { delivery: Delivery }): VNode {
  const [mark, words] = outcomeOf(delivery);
  return (
    <li>
      <details class="delivery">
        <summary>
          <span class={`chip ${mark}`}>{words}</span>
          <code>{delivery.event}</code>
          <span class="note push">
            <Time at={delivery.attempted_at} />
            {delivery.duration_ms === null ? "" : `, ${duration(delivery.duration_ms)}`}
          </span>
          {delivery.error === null ? null : (
            <span class="reason">{failureText(delivery.error)}</span>
          )}
        </summary>
        <DeliveryDetails delivery={delivery} />
      </details>
    </li>
  );
}

function DeliveryDetails({ delivery }: { delivery: Delivery }): VNode {
  return (
    <dl class="pairs">
      <dt>{t("Delivery")}</dt>
      <dd class="mono">{delivery.id}</dd>
      {delivery.session === null ? null : (
        <>
          <dt>{t("Session")}</dt>
          <dd class="mono">{delivery.session}</dd>
        </>
      )}
      <dt>{t("Answer")}</dt>
      <dd>
        {delivery.response === null || delivery.response === "" ? (
          t("Nothing was kept of it.")
        ) : (
          <pre class="wrap">{delivery.response}</pre>
        )}
      </dd>
    </dl>
  );
}
