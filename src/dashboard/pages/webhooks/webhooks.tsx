import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Webhook, WebhookState } from "../../api/shapes.ts";
import { announce } from "../../app/announce.ts";
import { useAction, useLoad } from "../../app/load.ts";
import { duration } from "../../app/numbers.ts";
import { Secret } from "../../parts/copy.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { Fault, Shown } from "../../parts/states.tsx";
import { Deliveries, failureText } from "./webhook-log.tsx";
import { t, tx } from "../../app/i18n.ts";
import { WebhookPreview } from "./webhook-preview.tsx";
import { WebhookForm } from "./webhook-form.tsx";

export function WebhooksPage(): VNode {
  const loading = useLoad<WebhookState>("webhook");
  const [secret, setSecret] = useState("");
  const [pings, setPings] = useState(0);
  const saved = (newSecret: string): void => {
    if (newSecret !== "") setSecret(newSecret);
    loading.reload();
  };
  return (
    <>
      <PageHead
        title={t("Webhooks")}
        lead={t(
          "When a list is done, we send a signed message to one address of yours. It is tried once; the list's session stays readable either way.",
        )}
      />
      {secret === "" ? null : (
        <Secret title={t("The signing secret")} value={secret} onDone={() => setSecret("")} />
      )}
      <Shown loading={loading} lines={5}>
        {(state) => (
          <>
            <div class={state.webhook === null ? "stack" : "two"}>
              <WebhookForm key={state.webhook?.url ?? ""} state={state} onSaved={saved} />
              {state.webhook === null ? null : (
                <Tools
                  key={state.webhook.url}
                  webhook={state.webhook}
                  onSaved={saved}
                  onPing={() => setPings(pings + 1)}
                />
              )}
            </div>
            <Deliveries key={pings} isSetUp={state.webhook !== null} />
            <WebhookPreview secret={secret} />
          </>
        )}
      </Shown>
    </>
  );
}

interface PingAnswer {
  readonly status: number | null;
  readonly error: string | null;
  readonly duration_ms: number | null;
}

function Tools(props: {
  webhook: Webhook;
  onSaved: (secret: string) => void;
  onPing: () => void;
}): VNode {
  const [asked, setAsked] = useState<"secret" | "remove">();
  const [answer, setAnswer] = useState<PingAnswer>();
  const { busy, fault, run } = useAction();
  const close = (): void => setAsked(undefined);
  const ping = (): void =>
    run(async () => {
      setAnswer(undefined);
      setAnswer(await call<PingAnswer>("POST", "webhook/ping"));
      props.onPing();
    });
  return (
    <section class="sheet stack">
      <h2>{t("Try it")}</h2>
      <p class="prose">
        {tx("Sends a {code} to {code2} and shows what came back.", {
          code: <code>test.ping</code>,
          code2: <code>{props.webhook.url}</code>,
        })}
      </p>
      <div class="bar">
        <button type="button" disabled={busy} onClick={ping}>
          {busy ? t("Waiting for the answer…") : t("Send a test")}
        </button>
        <button type="button" class="plain" onClick={() => setAsked("secret")}>
          {t("Make a new secret")}
        </button>
        <button type="button" class="plain grave" onClick={() => setAsked("remove")}>
          {t("Remove the webhook")}
        </button>
      </div>
      <div aria-live="polite">{answer === undefined ? null : <Pong answer={answer} />}</div>
      <Fault text={fault} />
      {asked === "secret" ? <NewSecret onClose={close} onSaved={props.onSaved} /> : null}
      {asked === "remove" ? <Remove onClose={close} onSaved={props.onSaved} /> : null}
    </section>
  );
}

function Pong({ answer }: { answer: PingAnswer }): VNode {
  const { status, error, duration_ms: durationMs } = answer;
  const time = durationMs === null ? "" : ` (${duration(durationMs)})`;
  if (error === null && status !== null) {
    return (
      <p class="notice yes">
        {t("It arrived: your server answered {status}.", { status })}
        {time}
      </p>
    );
  }
  return (
    <p class="notice no">
      {status === null ? t("No answer") : t("Your server answered {status}", { status })}
      {time}
      {error === null ? "" : `: ${failureText(error)}`}
    </p>
  );
}

function NewSecret(props: { onClose: () => void; onSaved: (secret: string) => void }): VNode {
  const work = async (): Promise<void> => {
    const made = await call<{ readonly secret: string }>("POST", "webhook/secret");
    props.onSaved(made.secret);
    announce(t("New secret made. It is shown once, at the top of the page."));
  };
  return (
    <Confirm
      title={t("Make a new secret?")}
      act={t("Make a new secret")}
      work={work}
      onClose={props.onClose}
    >
      {t(
        "The old one stops signing at once, also for messages that are already waiting. Your receiver refuses them until it knows the new one.",
      )}
    </Confirm>
  );
}

function Remove(props: { onClose: () => void; onSaved: (secret: string) => void }): VNode {
  const work = async (): Promise<void> => {
    await call("DELETE", "webhook");
    props.onSaved("");
    announce(t("Webhook removed."));
  };
  return (
    <Confirm
      title={t("Remove the webhook?")}
      act={t("Remove it")}
      work={work}
      onClose={props.onClose}
    >
      {t("Nothing is sent any more, and messages that wait are dropped. The log stays for 7 days.")}
    </Confirm>
  );
}
