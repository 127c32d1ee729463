import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { AdminAccount } from "../../api/shapes.ts";
import { useLoad } from "../../app/load.ts";
import { count, counted } from "../../app/numbers.ts";
import { useRested } from "../../app/rested.ts";
import { PageHead } from "../../parts/page-head.tsx";
import { Empty, Shown } from "../../parts/states.tsx";
import { Time } from "../../parts/time.tsx";
import { tierName } from "../../words/tiers.ts";
import { t, tx } from "../../app/i18n.ts";
import { AccountDialog } from "./account-dialog.tsx";

interface Found {
  readonly accounts: readonly AdminAccount[];
  /** How many match, of which the first are sent. */
  readonly total: number;
}

export function AdminAccountsPage(): VNode {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState<AdminAccount>();
  const sought = useRested(text);
  const loading = useLoad<Found>(`admin/accounts?q=${encodeURIComponent(sought)}`);
  return (
    <>
      <PageHead title={t("Accounts")} lead={t("Everybody who has an account on this service.")}>
        <input
          class="search"
          type="search"
          aria-label={t("Search by e-mail address or id")}
          placeholder={t("E-mail address or id")}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </PageHead>
      <section class="sheet">
        <Shown loading={loading} lines={6}>
          {(found) => <Accounts found={found} sought={sought} onChoose={setChosen} />}
        </Shown>
      </section>
      {chosen === undefined ? null : (
        <AccountDialog
          account={chosen}
          onClose={() => setChosen(undefined)}
          onChanged={loading.reload}
        />
      )}
    </>
  );
}

function Accounts(props: {
  found: Found;
  sought: string;
  onChoose: (account: AdminAccount) => void;
}): VNode {
  const { accounts, total } = props.found;
  if (accounts.length === 0) {
    return (
      <Empty title={props.sought === "" ? t("No accounts yet") : t("Nobody found")}>
        <p>
          {props.sought === "" ? (
            <>
              {tx("People sign up here, or you make accounts with {code}.", {
                code: <code>gatepost account create</code>,
              })}
            </>
          ) : (
            t("No address or id holds that text.")
          )}
        </p>
      </Empty>
    );
  }
  return (
    <>
      <p class="note" role="status">
        {total > accounts.length
          ? t("The first {n} of {all}: search to narrow them.", {
              n: count(accounts.length),
              all: counted(total, "{n} account", "{n} accounts"),
            })
          : counted(total, "{n} account", "{n} accounts")}
      </p>
      <AccountTable accounts={accounts} onChoose={props.onChoose} />
    </>
  );
}

function AccountTable(props: {
  accounts: readonly AdminAccount[];
  onChoose: (account: AdminAccount) => void;
}): VNode {
  return (
    <div class="scroll">
      <table class="folds">
        <thead>
          <tr>
            <th scope="col">{t("E-mail address")}</th>
            <th scope="col">{t("Plan")}</th>
            <th scope="col" class="number">
              {t("Credits")}
            </th>
            <th scope="col">{t("Made")}</th>
            <th scope="col">{t("State")}</th>
            <th scope="col">
              <span class="unseen">{t("Change")}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {props.accounts.map((account) => (
            <AccountRow key={account.id} account={account} onChoose={props.onChoose} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function AccountRow(props: {
  account: AdminAccount;
  onChoose: (account: AdminAccount) => void;
}): VNode {
  const { account } = props;
  return (
    <tr>
      <td class="break">{account.email}</td>
      <td>{tierName(account.tier)}</td>
      <td class="number" data-label={t("Credits")}>
        {count(account.credits)}
      </td>
      <td data-label={t("Made")}>
        <Time at={account.created_at} />
      </td>
      <td>
        {!account.disabled ? (
          account.admin ? (
            <span class="chip">{t("Administrator")}</span>
          ) : (
            <span class="note whole">
              {account.origin === "signup" ? t("Signed up") : t("Made by operator")}
            </span>
          )
        ) : (
          <span class="chip no">{t("Switched off")}</span>
        )}
      </td>
      <td class="act">
        <button type="button" class="small" onClick={() => props.onChoose(account)}>
          {t("Change")}
          <span class="unseen"> {account.email}</span>
        </button>
      </td>
    </tr>
  );
}
