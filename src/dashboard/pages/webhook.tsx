import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call, post } from "../lib/client.ts";
import { duration } from "../lib/format.ts";
import { useAction, useLoad } from "../lib/load.ts";
import type { Delivery, WebhookState } from "../lib/shapes.ts";
import { announce } from "../lib/state.ts";
import { Fault, Sheet, Shown, Time } from "../parts/basic.tsx";
import { Act, Ask, Code, Field, Secret } from "../parts/form.tsx";
import { VERIFY } from "../words/samples.ts";

/** One address that is told when a list is done, its log, and what arrives there. */
export function WebhookSheets(): VNode {
  const loading = useLoad<WebhookState>("webhook");
  const log = useLoad<{ readonly deliveries: readonly Delivery[] }>("webhook/deliveries");
  const [secret, setSecret] = useState("");
  const saved = (made = ""): void => {
    if (made !== "") setSecret(made);
    loading.reload();
    log.reload();
  };
  return (
    <>
      {secret === "" ? null : (
        <Secret title="The signing secret" value={secret} onDone={() => setSecret("")} />
      )}
      <Shown loading={loading} lines={5}>
        {(state) => (
          <Sheet
            title="Webhook"
            aside={state.webhook === null ? undefined : <Tools onDone={saved} />}
          >
            <p class="prose">
              When a list is done, a signed message goes to one address of yours. It is tried once;
              the list stays readable either way.
            </p>
            <WebhookForm key={state.webhook?.url ?? ""} state={state} onSaved={saved} />
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
              {({ deliveries }) => <Log deliveries={deliveries} onSent={log.reload} />}
            </Shown>
          </Sheet>
        )}
      </Shown>
    </>
  );
}

const EVENT_WORDS: Readonly<Record<string, string>> = {
  "bulk.completed": "a list is done",
  "test.ping": "a test from this page",
};

/** Address and events. A new address gets a new secret. */
function WebhookForm(props: { state: WebhookState; onSaved: (secret?: string) => void }): VNode {
  const { known_events: known, webhook } = props.state;
  const [url, setUrl] = useState(webhook?.url ?? "");
  const [events, setEvents] = useState<readonly string[]>(webhook?.events ?? []);
  const { busy, fault, run, clear } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      const body = { url: url.trim(), events };
      const { secret } = await post<{ readonly secret: string | null }>("webhook", body);
      props.onSaved(secret ?? "");
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
      <fieldset class="choices">
        <legend class="label">Tell me when</legend>
        {known.map((name) => (
          <label key={name} class="choice">
            <input
              type="checkbox"
              checked={events.includes(name)}
              onChange={({ currentTarget: { checked } }) =>
                setEvents(known.filter((one) => (one === name ? checked : events.includes(one))))
              }
            />
            <span>
              {EVENT_WORDS[name] ?? name} <code class="note">{name}</code>
            </span>
          </label>
        ))}
        <span class="note">None chosen means all of them, also ones that come later.</span>
      </fieldset>
      <Fault text={fault} />
      <div>
        <button type="submit" disabled={busy}>
          {busy ? "Looking at the address…" : "Save the webhook"}
        </button>
      </div>
    </form>
  );
}

function Tools({ onDone }: { onDone: (secret?: string) => void }): VNode {
  const ping = async (): Promise<void> => {
    await post("webhook/ping");
    announce("The test was sent. Its answer is in the log.");
    onDone();
  };
  const renew = async (): Promise<void> =>
    onDone((await post<{ readonly secret: string }>("webhook/secret")).secret);
  const remove = async (): Promise<void> => {
    await call("DELETE", "webhook");
    announce("Webhook removed.");
    onDone();
  };
  return (
    <>
      <Act act="Send a test" work={ping} />
      <Ask act="Make a new secret" class="small plain" title="Make a new secret?" work={renew}>
        The old one stops signing at once, also for messages that are already waiting. Your receiver
        refuses them until it knows the new one.
      </Ask>
      <Ask act="Remove it" class="small plain grave" title="Remove the webhook?" work={remove}>
        Nothing is sent any more, and messages that wait are dropped. The log stays for 7 days.
      </Ask>
    </>
  );
}

function outcomeOf({ status, error }: Delivery): readonly [mark: string, words: string] {
  if (status !== null) return [error === null ? "yes" : "no", `Answered ${String(status)}`];
  return error === null ? ["", "On its way"] : ["no", "Not delivered"];
}

/** What was sent and what came back; a message that was not taken can be sent again. */
function Log(props: { deliveries: readonly Delivery[]; onSent: () => void }): VNode {
  const { deliveries, onSent } = props;
  if (deliveries.length === 0) return <p class="note">Nothing was sent.</p>;
  return (
    <ul class="rows">
      {deliveries.map((delivery) => {
        const { id, event, status, error, response, session } = delivery;
        const [mark, words] = outcomeOf(delivery);
        const resend = async (): Promise<void> => {
          await post(`webhook/deliveries/${id}/resend`);
          announce("Sent again.");
          onSent();
        };
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
      })}
    </ul>
  );
}
