import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { WebhookState } from "../../api/shapes.ts";
import { announce } from "../../app/announce.ts";
import { useAction } from "../../app/load.ts";
import { Field } from "../../parts/field.tsx";
import { t } from "../../app/i18n.ts";
import { Fault } from "../../parts/states.tsx";

const EVENT_WORDS: Readonly<Record<string, string>> = {
  "bulk.completed": "a list is done",
  "test.ping": "a test from this page",
};

/** Address and events. A new address gets a new secret; `onSaved` gets it, "" if it is unchanged. */
export function WebhookForm(props: {
  state: WebhookState;
  onSaved: (secret: string) => void;
}): VNode {
  const { known_events: known, webhook } = props.state;
  const [url, setUrl] = useState(webhook?.url ?? "");
  const [events, setEvents] = useState<readonly string[]>(webhook?.events ?? []);
  const { busy, fault, run, clear } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      const { secret } = await call<{ readonly secret: string | null }>("POST", "webhook", {
        url: url.trim(),
        events,
      });
      props.onSaved(secret ?? "");
      announce(t("Webhook saved."));
    });
  };
  const choose = (name: string, isChosen: boolean): void =>
    setEvents(known.filter((other) => (other === name ? isChosen : events.includes(other))));
  return (
    <section class="sheet stack">
      <h2>{webhook === null ? t("Where to send it") : t("Address and events")}</h2>
      <form class="form" onSubmit={submit}>
        <UrlField
          url={url}
          onUrl={(text) => {
            setUrl(text);
            clear();
          }}
        />
        <Events known={known} chosen={events} choose={choose} />
        <Fault text={fault} />
        <div>
          <button type="submit" class="main" disabled={busy}>
            {busy ? t("Looking at the address…") : t("Save")}
          </button>
        </div>
      </form>
    </section>
  );
}

function UrlField({ url, onUrl }: { url: string; onUrl: (url: string) => void }): VNode {
  return (
    <Field
      label={t("Address")}
      value={url}
      onValue={onUrl}
      hint={t(
        "A public address that starts with https. Redirects are not followed. Changing it makes a new secret.",
      )}
      input={{
        type: "url",
        class: "mono",
        required: true,
        maxLength: 2_000,
        placeholder: "https://hooks.example.com/gatepost",
        autocomplete: "off",
        spellcheck: false,
      }}
    />
  );
}

function Events(props: {
  known: readonly string[];
  chosen: readonly string[];
  choose: (name: string, isChosen: boolean) => void;
}): VNode {
  return (
    <fieldset class="choices">
      <legend class="label">{t("Tell me when")}</legend>
      {props.known.map((name) => (
        <label key={name} class="choice">
          <input
            type="checkbox"
            checked={props.chosen.includes(name)}
            onChange={(event) => props.choose(name, event.currentTarget.checked)}
          />
          <span>
            {t(EVENT_WORDS[name] ?? name)} <code class="note">{name}</code>
          </span>
        </label>
      ))}
      <span class="note">{t("None chosen means all of them, also ones that come later.")}</span>
    </fieldset>
  );
}
