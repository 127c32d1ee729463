import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { AdminAccount, AdminAccountPage, Key } from "../../api/shapes.ts";
import { announce } from "../../app/announce.ts";
import { t, tx } from "../../app/i18n.ts";
import { useAction, useLoad } from "../../app/load.ts";
import { count } from "../../app/numbers.ts";
import { session } from "../../app/session.ts";
import { Secret } from "../../parts/copy.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { Fault, Shown } from "../../parts/states.tsx";
import { Time } from "../../parts/time.tsx";
import { tierName } from "../../words/tiers.ts";
import { CreditForm, PasswordForm, PromoteForm, TierForm } from "./account-forms.tsx";
import { UsageFigures } from "./usage-figures.tsx";

/** One account: what it used, its keys, and everything an administrator may change. */
export function AccountPage({ id }: { id: string }): VNode {
  const loading = useLoad<AdminAccountPage>(`admin/accounts/${encodeURIComponent(id)}`);
  return (
    <Shown loading={loading} lines={8}>
      {(page) => (
        <>
          <PageHead title={page.account.email} lead={<Lead account={page.account} />}>
            <a class="button plain" href="/admin/accounts">
              {t("All accounts")}
            </a>
          </PageHead>
          <Used page={page} />
          <div class="two start">
            <Changes account={page.account} onChanged={loading.reload} />
            <Keys keys={page.keys} />
          </div>
        </>
      )}
    </Shown>
  );
}

function Lead({ account }: { account: AdminAccount }): VNode {
  return (
    <>
      {tierName(account.tier)}, {account.admin ? `${t("Administrator")}, ` : ""}
      {account.disabled ? `${t("Switched off")}, ` : ""}
      {tx("made {time}", { time: <Time at={account.created_at} /> })}{" "}
      <span class="mono">{account.id}</span>
    </>
  );
}

function Used({ page: { days, allowance } }: { page: AdminAccountPage }): VNode {
  const sum = (pick: (day: (typeof days)[number]) => number): number =>
    days.reduce((all, day) => all + pick(day), 0);
  const figures = [
    [t("checks in 30 days"), count(sum(({ units, credits }) => units + credits))],
    [t("requests in 30 days"), count(sum(({ requests }) => requests))],
    [t("refused requests"), count(sum(({ refusals }) => refusals))],
    [
      allowance.day.limit === null
        ? t("checks today, no limit")
        : t("checks today, of {limit}", { limit: count(allowance.day.limit) }),
      count(allowance.day.used),
    ],
    [t("credits"), count(allowance.credits)],
  ] as const;
  return <UsageFigures figures={figures} days={days} />;
}

function Changes(props: { account: AdminAccount; onChanged: () => void }): VNode {
  const { account, onChanged } = props;
  const { busy, fault, run } = useAction();
  const [newPassword, setNewPassword] = useState("");
  const change = (action: string, body: unknown, said: string): void =>
    run(async () => {
      const path = `admin/accounts/${account.id}/${action}`;
      const answer = await call<{ readonly password?: string } | undefined>("POST", path, body);
      if (answer?.password !== undefined) setNewPassword(answer.password);
      announce(said);
      onChanged();
    });
  return (
    <section class="sheet stack">
      <h2>{t("Change the account")}</h2>
      {newPassword === "" ? null : (
        <Secret
          title={t("The account's new password")}
          value={newPassword}
          words={t("This is the only time it is shown. Tell it to the account's owner.")}
          onDone={() => setNewPassword("")}
        />
      )}
      <TierForm account={account} busy={busy} change={change} />
      <CreditForm account={account} busy={busy} change={change} />
      <PasswordForm account={account} busy={busy} change={change} />
      {account.admin ? null : <PromoteForm account={account} busy={busy} change={change} />}
      <Fault text={fault} />
      <Switches account={account} busy={busy} change={change} />
    </section>
  );
}

function Switches(props: {
  account: AdminAccount;
  busy: boolean;
  change: (action: string, body: unknown, said: string) => void;
}): VNode {
  const { account, busy, change } = props;
  const isOwn = session.value?.account?.id === account.id;
  if (isOwn)
    return <p class="note">{t("You cannot switch yourself off or take your own rights.")}</p>;
  return (
    <div class="bar">
      {account.admin ? (
        <button
          type="button"
          disabled={busy}
          onClick={() => change("demote", {}, t("No longer an administrator"))}
        >
          {t("Take the administrator rights away")}
        </button>
      ) : null}
      {account.disabled ? (
        <button
          type="button"
          disabled={busy}
          onClick={() => change("enable", {}, t("Account switched on."))}
        >
          {t("Switch the account on")}
        </button>
      ) : (
        <button
          type="button"
          class="grave"
          disabled={busy}
          onClick={() => change("disable", {}, t("Account switched off."))}
        >
          {t("Switch the account off")}
        </button>
      )}
    </div>
  );
}

function Keys({ keys }: { keys: readonly Key[] }): VNode {
  return (
    <section class="sheet stack close">
      <h2>{t("Keys")}</h2>
      {keys.length === 0 ? <p class="note">{t("No keys yet")}</p> : null}
      <ul class="lines">
        {keys.map((key) => (
          <li key={key.id}>
            <span class="grow break">
              {key.name === "" ? t("Unnamed") : key.name}
              <br />
              <span class="note mono whole">
                {key.prefix}…{key.last_four}
              </span>
            </span>
            <span class="note">
              {key.revoked_at === null
                ? key.last_used_at === null
                  ? t("never used")
                  : tx("used {time}", { time: <Time at={key.last_used_at} /> })
                : tx("Revoked {time}", { time: <Time at={key.revoked_at} /> })}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
