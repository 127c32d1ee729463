import type { VNode } from "preact";
import { call } from "../../api/client.ts";
import type { SignIn } from "../../api/shapes.ts";
import { announce } from "../../app/announce.ts";
import { useAction, useLoad } from "../../app/load.ts";
import { Fault, Shown } from "../../parts/states.tsx";
import { Time } from "../../parts/time.tsx";
import { t, tx } from "../../app/i18n.ts";
import { browserName } from "../../words/browser.ts";

/** Browsers that are signed in, each of which can be signed out. */
export function Sessions(): VNode {
  const loading = useLoad<{ readonly sessions: readonly SignIn[] }>("sessions");
  const { busy, fault, run } = useAction();
  const revoke = (path: string, said: string): void =>
    run(async () => {
      await call("DELETE", path);
      announce(said);
      loading.reload();
    });
  return (
    <section class="sheet stack">
      <h2>{t("Where you are signed in")}</h2>
      <Fault text={fault} />
      <Shown loading={loading}>
        {({ sessions }) => (
          <>
            <ul class="rows">
              {sessions.map((known) => (
                <SessionRow
                  key={known.id}
                  known={known}
                  busy={busy}
                  onRevoke={() => revoke(`sessions/${known.id}`, t("Signed out there."))}
                />
              ))}
            </ul>
            {sessions.length > 1 ? (
              <div>
                <button
                  type="button"
                  disabled={busy}
                  onClick={() => revoke("sessions", t("Signed out everywhere else."))}
                >
                  {t("Sign out everywhere else")}
                </button>
              </div>
            ) : null}
          </>
        )}
      </Shown>
    </section>
  );
}

function SessionRow(props: { known: SignIn; busy: boolean; onRevoke: () => void }): VNode {
  const { known } = props;
  return (
    <li>
      <div class="bar">
        <span>{browserName(known.user_agent)}</span>
        {known.current ? <span class="chip">{t("This browser")}</span> : null}
        <span class="push" />
        {known.current ? null : (
          <button type="button" class="small" disabled={props.busy} onClick={props.onRevoke}>
            {t("Sign out")}
            <span class="unseen"> {browserName(known.user_agent)}</span>
          </button>
        )}
      </div>
      <div class="note">
        {tx("From {more}, signed in {time}, last seen {time2}", {
          more: <span class="mono">{known.client_address}</span>,
          time: <Time at={known.created_at} />,
          time2: <Time at={known.last_seen_at} />,
        })}
      </div>
    </li>
  );
}
