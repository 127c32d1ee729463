import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Hook } from "../../api/gate.ts";
import { t } from "../../app/i18n.ts";
import { useAction } from "../../app/load.ts";
import { Code } from "../../parts/copy.tsx";
import { Fault } from "../../parts/states.tsx";

interface Reply {
  readonly status: number;
  readonly body: string;
}

/** A signed example, as the system would send it, and what it would hear. */
export function HookTest({ hook, onTested }: { hook: Hook; onTested: () => void }): VNode {
  const [email, setEmail] = useState("jo@mailinator.com");
  const [reply, setReply] = useState<Reply>();
  const { busy, fault, run } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      setReply(await call<Reply>("POST", `hooks/${hook.id}/test`, { email: email.trim() }));
      onTested();
    });
  };
  return (
    <>
      <form class="bar" onSubmit={submit}>
        <input
          class="grow mono"
          aria-label={t("Address to test with")}
          value={email}
          onInput={(event) => setEmail(event.currentTarget.value)}
          required
          maxLength={300}
          autocomplete="off"
          spellcheck={false}
        />
        <button type="submit" disabled={busy}>
          {t("Send a test")}
        </button>
      </form>
      <Fault text={fault} />
      <div aria-live="polite">
        {reply === undefined ? null : (
          <>
            <p class="note">
              {t("The system would receive: status {status}", { status: reply.status })}
            </p>
            {reply.body === "" ? null : (
              <Code wrap what={t("Answer of the hook")} text={reply.body} />
            )}
          </>
        )}
      </div>
      <p class="note">{t("A test costs 1 check and counts as a call.")}</p>
    </>
  );
}
