import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call, post } from "../lib/client.ts";
import { duration } from "../lib/format.ts";
import { useAction, useLoad } from "../lib/load.ts";
import type { Delivery, WebhookState } from "../lib/shapes.ts";
import { announce, shownOnce, told } from "../lib/state.ts";
import { Sheet, Shown, Time } from "../parts/basic.tsx";
import { Act, Ask, Checks, Code, Fault, Field } from "../parts/form.tsx";
import { VERIFY } from "../words/samples.ts";

/** One address that is told when a list is done, its log, and what arrives there. */
export function WebhookSheet(): VNode {
  const log = useLoad<{ readonly deliveries: readonly Delivery[] }>("webhook/deliveries");
  return (
    <Shown loading={useLoad<WebhookState>("webhook")} lines={5}>
      {(state) => (
        <Sheet title="Webhook" aside={state.webhook === null ? undefined : TOOLS}>
          <p class="prose">
            When a list is done, a signed message goes to one address of yours. It is tried once;
            the list stays readable either way.
          </p>
          <WebhookForm key={state.webhook?.url ?? ""} {...state} />
          <details>
            <summary>How your server knows that a message is genuine</summary>
            <p class="prose">
              The header <code>X-Service-Signature</code> is the HMAC-SHA-256 of the raw body.
              Answer with a status of 2xx within 10 s, and do the work afterwards.
            </p>
            <Code what="Node" text={VERIFY} />
          </details>
          <h3>Messages of the last 7 days</h3>
          <Shown loading={log}>
            {({ deliveries }) =>
              deliveries.length === 0 ? (
                <p class="note">Nothing was sent.</p>
              ) : (
                <ul class="rows">{deliveries.map(deliveryRow)}</ul>
              )
            }
          </Shown>
        </Sheet>
      )}
    </Shown>
  );
}

const EVENT_WORDS: Readonly<Record<string, string>> = {
  "bulk.completed": "a list is done",
  "test.ping": "a test from this page",
};

interface Made {
  readonly secret: string | null;
}

const showSecret = ({ secret: value }: Made): void => {
  if (value !== null) shownOnce.value = { title: "The signing secret", value };
};

/** Address and events. A new address gets a new secret. */
function WebhookForm({ known_events: known, webhook }: WebhookState): VNode {
  const [url, setUrl] = useState(webhook?.url ?? "");
  const [events, setEvents] = useState<readonly string[]>(webhook?.events ?? []);
  const { busy, fault, run, clear } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      showSecret(await post<Made>("webhook", { url: url.trim(), events }));
      announce("Webhook saved.");
    });
  };
  return (
    <form class="form" onSubmit={submit}>
      <Field
        label="Address"
        value={url}
        onValue={(text) => {
          setUrl(text);
          clear();
        }}
        hint="A public address that starts with https. Redirects are not followed. Changing it makes a new secret."
        input={{
          type: "url",
          class: "mono",
          required: true,
          maxLength: 2_000,
          placeholder: "https://hooks.example.com/gatepost",
          autocomplete: "off",
        }}
      />
      <Checks
        legend="Tell me when"
        rows={known.map((name) => [
          name,
          <span>
            {EVENT_WORDS[name] ?? name} <code class="note">{name}</code>
          </span>,
        ])}
        chosen={events}
        onChosen={setEvents}
      />
      <span class="note">None chosen means all of them, also ones that come later.</span>
      <Fault text={fault} />
      <div>
        <button type="submit" disabled={busy}>
          {busy ? "Looking at the address…" : "Save the webhook"}
        </button>
      </div>
    </form>
  );
}

const ping = (): Promise<void> =>
  told(post("webhook/ping"), "The test was sent. Its answer is in the log.");
const renew = async (): Promise<void> => showSecret(await post<Made>("webhook/secret"));
const remove = (): Promise<void> => told(call("DELETE", "webhook"), "Webhook removed.");

const TOOLS = (
  <>
    <Act act="Send a test" work={ping} />
    <Ask act="Make a new secret" class="small plain" title="Make a new secret?" send={renew}>
      The old one stops signing at once, also for messages that are already waiting. Your receiver
      refuses them until it knows the new one.
    </Ask>
    <Ask act="Remove it" class="small plain grave" title="Remove the webhook?" send={remove}>
      Nothing is sent any more, and messages that wait are dropped. The log stays for 7 days.
    </Ask>
  </>
);

function outcomeOf({ status, error }: Delivery): readonly [mark: string, words: string] {
  if (status !== null) return [error === null ? "yes" : "no", `Answered ${String(status)}`];
  return error === null ? ["", "On its way"] : ["no", "Not delivered"];
}

/** What was sent and what came back; a message that was not taken can be sent again. */
function deliveryRow(delivery: Delivery): VNode {
  const { id, event, status, error, response, session } = delivery;
  const [mark, words] = outcomeOf(delivery);
  const resend = (): Promise<void> => told(post(`webhook/deliveries/${id}/resend`), "Sent again.");
  return (
    <li key={id}>
      <div class="bar">
        <span class={`chip ${mark}`}>{words}</span>
        <code>{event}</code>
        <span class="note push">
          <Time at={delivery.attempted_at} />
          {delivery.duration_ms === null ? "" : `, ${duration(delivery.duration_ms)}`}
        </span>
        {session !== null && (status !== null || error !== null) ? (
          <Act act="Send again" of={id} work={resend} />
        ) : null}
      </div>
      {error === null ? null : <div class="note">{error}</div>}
      {response === null || response === "" ? null : (
        <details>
          <summary>Its answer</summary>
          <pre class="wrap">{response}</pre>
        </details>
      )}
    </li>
  );
}
