import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { AuditEntry } from "../../api/shapes.ts";
import { exactTime, timeMs } from "../../app/clock.ts";
import { useAction, useLoad } from "../../app/load.ts";
import { go } from "../../app/router.ts";
import { session, signedOut } from "../../app/session.ts";
import { AuditTable } from "../../parts/audit-table.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field, UserName } from "../../parts/field.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { Empty, Fault, Shown } from "../../parts/states.tsx";
import { PASSWORD_HINT, passwordInput } from "../../words/password.ts";
import { tierName } from "../../words/tiers.ts";
import { Sessions } from "./settings-sessions.tsx";
import { t } from "../../app/i18n.ts";
import { Spellings } from "./settings-spellings.tsx";

/** How long a new account has smaller limits. */
const DAY_MS = 86_400_000;

export function SettingsPage(): VNode | null {
  const account = session.value?.account;
  if (account === undefined) return null;
  return (
    <>
      <PageHead title={t("Your account")} />
      <section class="sheet">
        <dl class="pairs">
          <dt>{t("Email address")}</dt>
          <dd>{account.email}</dd>
          <dt>{t("Plan")}</dt>
          <dd>
            {tierName(account.tier)} · <a href="/pricing">{t("see plans")}</a>
            {account.tier === "new_free" ? (
              <p class="note">
                {t("From {time} on, the larger limits of the plan Free apply.", {
                  time: exactTime(timeMs(account.created_at) + DAY_MS),
                })}
              </p>
            ) : null}
          </dd>
          <dt>{t("Account")}</dt>
          <dd class="mono">{account.id}</dd>
          <dt>{t("Made")}</dt>
          <dd>{exactTime(timeMs(account.created_at))}</dd>
        </dl>
      </section>
      <div class="even">
        <Password />
        <Sessions />
      </div>
      <Activity />
      <Spellings isOn={account.counts_traffic} />
      <Delete />
    </>
  );
}

function Password(): VNode {
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const [isDone, setDone] = useState(false);
  const { busy, fault, run } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    setDone(false);
    run(async () => {
      await call("POST", "password", { current_password: current, new_password: next });
      setCurrent("");
      setNext("");
      setDone(true);
    });
  };
  return (
    <section class="sheet stack">
      <h2>{t("Change your password")}</h2>
      <form class="form" onSubmit={submit}>
        <UserName email={session.value?.account?.email ?? ""} />
        <Field
          label={t("Current password")}
          value={current}
          onValue={setCurrent}
          input={passwordInput("current-password")}
        />
        <Field
          label={t("New password")}
          value={next}
          onValue={setNext}
          hint={`${t(PASSWORD_HINT)} ${t("All other browsers are signed out.")}`}
          input={passwordInput("new-password")}
        />
        <Fault text={fault} />
        {isDone ? (
          <p class="notice yes" role="status">
            {t("Your password is changed.")}
          </p>
        ) : null}
        <div>
          <button type="submit" disabled={busy}>
            {t("Change it")}
          </button>
        </div>
      </form>
    </section>
  );
}

function Activity(): VNode {
  const loading = useLoad<{ readonly entries: readonly AuditEntry[] }>("activity");
  return (
    <section class="sheet stack">
      <h2>{t("What happened in this account")}</h2>
      <Shown loading={loading}>
        {({ entries }) =>
          entries.length === 0 ? (
            <Empty title={t("Nothing yet")}>
              <p>
                {t("Every change to your account shows up here, with who made it and from where.")}
              </p>
            </Empty>
          ) : (
            <AuditTable entries={entries} own={session.value?.account?.email ?? ""} />
          )
        }
      </Shown>
    </section>
  );
}

function Delete(): VNode {
  const [isAsked, setAsked] = useState(false);
  return (
    <section class="sheet stack">
      <h2>{t("Delete the account")}</h2>
      <p class="prose">
        {t(
          "Keys stop working, results and settings are erased, credits are lost. This cannot be undone.",
        )}
      </p>
      <div>
        <button type="button" class="grave" onClick={() => setAsked(true)}>
          {t("Delete the account")}
        </button>
      </div>
      {isAsked ? <DeleteDialog onClose={() => setAsked(false)} /> : null}
    </section>
  );
}

function DeleteDialog({ onClose }: { onClose: () => void }): VNode {
  const [password, setPassword] = useState("");
  const { busy, fault, run } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      await call("POST", "delete", { current_password: password });
      go("/");
      await signedOut();
    });
  };
  return (
    <Dialog title={t("Delete this account for good?")} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        <UserName email={session.value?.account?.email ?? ""} />
        <Field
          label={t("Your password, to be sure it is you")}
          value={password}
          onValue={setPassword}
          input={passwordInput("current-password")}
        />
        <Fault text={fault} />
        <div class="bar">
          <span class="push" />
          <button type="button" class="plain" onClick={onClose}>
            {t("Keep the account")}
          </button>
          <button type="submit" class="main grave" disabled={busy}>
            {t("Delete it")}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
