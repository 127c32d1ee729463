import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { AdminAccount, AdminAccounts } from "../../api/shapes.ts";
import { useLoad } from "../../app/load.ts";
import { count, counted } from "../../app/numbers.ts";
import { fragment } from "../../app/router.ts";
import { useRested } from "../../app/rested.ts";
import { PageHead } from "../../parts/page-head.tsx";
import { Empty, Shown } from "../../parts/states.tsx";
import { Time } from "../../parts/time.tsx";
import { tierName } from "../../words/tiers.ts";
import { t, tx } from "../../app/i18n.ts";
import { TIERS } from "./account-forms.tsx";
import { AccountPage } from "./account-page.tsx";

const STATES = [
  ["", "All accounts"],
  ["admin", "Administrators"],
  ["signed_up", "Signed up"],
  ["disabled", "Switched off"],
] as const;

/** All accounts by pages, or the one that the link names behind "#". */
export function AdminAccountsPage(): VNode {
  const id = fragment.value;
  return id === "" || id === "content" ? <Directory /> : <AccountPage key={id} id={id} />;
}

function Directory(): VNode {
  const [text, setText] = useState("");
  const [tier, setTier] = useState("");
  const [state, setState] = useState("");
  const [page, setPage] = useState(1);
  const q = useRested(text);
  useEffect(() => setPage(1), [q, tier, state]);
  const query = new URLSearchParams({ q, tier, state, page: String(page) }).toString();
  const loading = useLoad<AdminAccounts>(`admin/accounts?${query}`);
  return (
    <>
      <PageHead title={t("Accounts")} lead={t("Everybody who has an account on this service.")}>
        <input
          class="search"
          type="search"
          aria-label={t("Search by email address or id")}
          placeholder={t("Email address or id")}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </PageHead>
      <section class="sheet stack">
        <div class="bar">
          <Choice label={t("Which accounts")} value={state} onValue={setState}>
            {STATES.map(([name, words]) => [name, t(words)] as const)}
          </Choice>
          <Choice label={t("Which plan")} value={tier} onValue={setTier}>
            {[
              ["", t("Any plan")] as const,
              ...TIERS.map((name) => [name, tierName(name)] as const),
            ]}
          </Choice>
        </div>
        <Shown loading={loading} lines={6}>
          {(found) => (
            <Accounts found={found} isNarrowed={q + tier + state !== ""} onPage={setPage} />
          )}
        </Shown>
      </section>
    </>
  );
}

function Choice(props: {
  label: string;
  value: string;
  onValue: (value: string) => void;
  children: readonly (readonly [value: string, words: string])[];
}): VNode {
  return (
    <select
      class="kind"
      aria-label={props.label}
      value={props.value}
      onChange={(event) => props.onValue(event.currentTarget.value)}
    >
      {props.children.map(([value, words]) => (
        <option key={value} value={value}>
          {words}
        </option>
      ))}
    </select>
  );
}

function NobodyFound({ isNarrowed }: { isNarrowed: boolean }): VNode {
  return isNarrowed ? (
    <Empty title={t("Nobody found")}>
      <p>{t("No account fits the search and the choices.")}</p>
    </Empty>
  ) : (
    <Empty title={t("No accounts yet")}>
      <p>
        {tx("People sign up here, or you make accounts with {code}.", {
          code: <code>gatepost account create</code>,
        })}
      </p>
    </Empty>
  );
}

function Accounts(props: {
  found: AdminAccounts;
  isNarrowed: boolean;
  onPage: (page: number) => void;
}): VNode {
  const { accounts, total, page, page_size: size } = props.found;
  const pages = Math.max(1, Math.ceil(total / size));
  if (accounts.length === 0) return <NobodyFound isNarrowed={props.isNarrowed} />;
  return (
    <>
      <p class="note" role="status">
        {counted(total, "{n} account", "{n} accounts")}
        {pages > 1 ? `, ${t("page {n} of {all}", { n: count(page), all: count(pages) })}` : ""}
      </p>
      <AccountTable accounts={accounts} />
      {pages > 1 ? (
        <div class="bar">
          <button type="button" disabled={page <= 1} onClick={() => props.onPage(page - 1)}>
            {t("Previous page")}
          </button>
          <button type="button" disabled={page >= pages} onClick={() => props.onPage(page + 1)}>
            {t("Next page")}
          </button>
        </div>
      ) : null}
    </>
  );
}

function AccountTable(props: { accounts: readonly AdminAccount[] }): VNode {
  return (
    <div class="scroll">
      <table class="folds">
        <thead>
          <tr>
            <th scope="col">{t("Email address")}</th>
            <th scope="col">{t("Plan")}</th>
            <th scope="col" class="number">
              {t("Credits")}
            </th>
            <th scope="col">{t("Made")}</th>
            <th scope="col">{t("State")}</th>
          </tr>
        </thead>
        <tbody>
          {props.accounts.map((account) => (
            <AccountRow key={account.id} account={account} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function AccountRow({ account }: { account: AdminAccount }): VNode {
  return (
    <tr>
      <td class="break">
        <a href={`/admin/accounts#${account.id}`}>{account.email}</a>
      </td>
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
    </tr>
  );
}
