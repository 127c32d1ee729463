import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { post } from "../lib/client.ts";
import { count, counted, exactTime, timeMs } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import { fragment } from "../lib/router.ts";
import { session } from "../lib/session.ts";
import type { AdminAccount, AdminAccountPage, AdminAccounts } from "../lib/shapes.ts";
import { announce, say, shownOnce } from "../lib/state.ts";
import { Lines, PageHead, Pairs, Sheet, Shown, Table, Time } from "../parts/basic.tsx";
import {
  Act,
  Ask,
  EMAIL,
  type FieldSpec,
  Form,
  OWN_PASSWORD,
  textField,
  useChoice,
  useSearch,
  type Values,
} from "../parts/form.tsx";
import { tierName } from "../words/names.ts";
import { nameOf, shortOf } from "./keys.tsx";
import { Requests } from "./usage.tsx";

const TIERS = ["free", "starter", "pro"].map((name) => [name, tierName(name)] as const);

const STATES = [
  ["", "All accounts"],
  ["admin", "Administrators"],
  ["signed_up", "Signed up"],
  ["disabled", "Switched off"],
] as const;

/** All accounts by pages, or the one that the link names behind "#". */
export function AccountsPage(): VNode {
  const id = fragment.value;
  return id === "" ? <Directory /> : <AccountPage key={id} id={id} />;
}

interface MadeLink {
  readonly link: string;
  readonly expires_at: string;
}

function showLink({ link: value, expires_at: ends }: MadeLink): void {
  const words = `Send it to the account's owner. It works once, until ${exactTime(timeMs(ends))}, and is shown this once.`;
  shownOnce.value = { title: "The link for a new password", value, words };
}

const ownEmail = (): string => session.value?.account?.email ?? "";

const TIER: FieldSpec = { name: "tier", label: "Plan", choices: TIERS };

async function create(values: Values): Promise<void> {
  showLink(await post<MadeLink>("admin/accounts", values));
  announce("Account made. The link for its password is at the top of the page.");
}

function Directory(): VNode {
  const [q, search] = useSearch("Email address or id");
  const [state, stateChoice] = useChoice("Which accounts", STATES);
  const [tier, tierChoice] = useChoice("Which plan", [["", "Any plan"], ...TIERS]);
  const query = new URLSearchParams({ q, tier, state }).toString();
  return (
    <>
      <PageHead title="Accounts" lead="Everybody who has an account on this service.">
        <Ask
          act="Create an account"
          class="main"
          yes="Create"
          user={ownEmail()}
          fields={[EMAIL, TIER, OWN_PASSWORD]}
          send={create}
        >
          You get a link with which its owner chooses a password.
        </Ask>
      </PageHead>
      <section class="sheet stack">
        <div class="bar">
          {search}
          {stateChoice}
          {tierChoice}
        </div>
        <Found query={query} />
      </section>
    </>
  );
}

function Found({ query }: { query: string }): VNode {
  const [turned, setTurned] = useState({ query, page: 1 });
  const at = String(turned.query === query ? turned.page : 1);
  const turn = (page: number): void => setTurned({ query, page });
  return (
    <Shown loading={useLoad<AdminAccounts>(`admin/accounts?${query}&page=${at}`)} lines={6}>
      {({ accounts, total, page, page_size: size }) => {
        const pages = Math.max(1, Math.ceil(total / size));
        return (
          <>
            <p class="note" role="status">
              {counted(total, "account")}
              {pages > 1 ? `, page ${count(page)} of ${count(pages)}` : ""}
            </p>
            <Table
              label="Accounts"
              head={["Email address", "Plan", "Credits", "Made", "State"]}
              numbers={[2]}
              none="No account fits the search and the choices."
              rows={accounts.map((account) => [
                <a href={`admin/accounts#${account.id}`}>{account.email}</a>,
                tierName(account.tier),
                count(account.credits),
                <Time at={account.created_at} />,
                stateOf(account),
              ])}
            />
            {pages > 1 ? (
              <div class="bar">
                <button type="button" disabled={page <= 1} onClick={() => turn(page - 1)}>
                  Previous page
                </button>
                <button type="button" disabled={page >= pages} onClick={() => turn(page + 1)}>
                  Next page
                </button>
              </div>
            ) : null}
          </>
        );
      }}
    </Shown>
  );
}

function stateOf({ disabled, admin, origin }: AdminAccount): VNode {
  if (disabled) return <span class="chip no">Switched off</span>;
  if (admin) return <span class="chip">Administrator</span>;
  return <span class="note">{origin === "signup" ? "Signed up" : "Made by operator"}</span>;
}

const AccountPage = ({ id }: { id: string }): VNode => (
  <Shown loading={useLoad<AdminAccountPage>(`admin/accounts/${encodeURIComponent(id)}`)} lines={8}>
    {({ account, allowance, days, keys }) => (
      <>
        <PageHead
          title={account.email}
          lead={
            <>
              {tierName(account.tier)}, made <Time at={account.created_at} />,{" "}
              <span class="mono">{account.id}</span> {stateOf(account)}
            </>
          }
        >
          <a class="button plain" href="admin/accounts">
            All accounts
          </a>
        </PageHead>
        <div class="two start">
          <Changes {...account} />
          <Sheet title="Keys">
            <Lines
              none="No keys yet."
              rows={keys.map((key) => [
                <>
                  {nameOf(key)}
                  <div class="note mono">{shortOf(key)}</div>
                </>,
                <span class="note">
                  {key.revoked_at === null ? "used " : "revoked "}
                  <Time at={key.revoked_at ?? key.last_used_at} />
                </span>,
              ])}
            />
          </Sheet>
        </div>
        <Figures {...{ allowance, days }} />
        <Requests rows={days} />
      </>
    )}
  </Shown>
);

function Figures({ days, allowance }: Pick<AdminAccountPage, "days" | "allowance">): VNode {
  const { used, limit } = allowance.day;
  const sum = (pick: (day: (typeof days)[number]) => number): string =>
    count(days.reduce((all, day) => all + pick(day), 0));
  const today = limit === null ? "checks today, no limit" : `checks today, of ${count(limit)}`;
  return (
    <Pairs
      cells
      rows={[
        ["checks in 30 days", sum(({ units, credits }) => units + credits)],
        ["requests in 30 days", sum(({ requests }) => requests)],
        ["refused requests", sum(({ refusals }) => refusals)],
        [today, count(used)],
        ["credits", count(allowance.credits)],
      ]}
    />
  );
}

const CREDIT_FIELDS: readonly FieldSpec[] = [
  textField("amount", "Credits to add", "A negative number takes some back.", {
    type: "number",
    step: 1,
    required: true,
  }),
  textField("reason", "Reason", "The account sees it.", { maxLength: 200 }),
];

const change = <Answer,>(id: string, action: string, body: unknown = {}): Promise<Answer> =>
  post<Answer>(`admin/accounts/${id}/${action}`, body);

function Changes(account: AdminAccount): VNode {
  const { id, tier, admin, email, credits } = account;
  const setTier = async ({ tier: next = "" }: Values): Promise<void> => {
    await change(id, "tier", { tier: next });
    say(`${email} has the plan ${tierName(next)}.`, () => change(id, "tier", { tier }));
  };
  const move = async ({ amount, reason }: Values): Promise<void> => {
    await change(id, "credits", { amount: Number(amount), reason });
    say("The credits are moved.");
  };
  return (
    <Sheet title="Change the account">
      {admin ? (
        <p class="note">An administrator's plan is Pro.</p>
      ) : (
        <Form
          key={tier}
          act="Change the plan"
          keeps
          fields={[{ ...TIER, value: tier }]}
          send={setTier}
        />
      )}
      <div class="bar">
        <Ask
          act="Add or take credits"
          title={`Credits of ${email}`}
          yes="Move the credits"
          fields={CREDIT_FIELDS}
          send={move}
        >
          It has {counted(credits, "credit")} now.
        </Ask>
        <Ask
          act="Make a link for a new password"
          title="Make a link for a new password?"
          yes="Make the link"
          user={ownEmail()}
          fields={[OWN_PASSWORD]}
          send={async (values) => showLink(await change<MadeLink>(id, "reset-link", values))}
        >
          For somebody who forgot theirs. You send the link to {email}; until it is used, the old
          password works.
        </Ask>
      </div>
      {email === ownEmail() ? (
        <p class="note">You cannot switch yourself off or take your own rights.</p>
      ) : (
        rightsOf(account)
      )}
    </Sheet>
  );
}

/** What changes what the account may do: each asks once, and can be undone. */
function rightsOf({ id, email, admin, disabled, origin }: AdminAccount): VNode {
  const demote = async (): Promise<void> => {
    await change(id, "demote");
    say(`${email} is no longer an administrator.`);
  };
  const turn = async (action: "disable" | "enable"): Promise<void> => {
    await change(id, action);
    const [word, other] = action === "disable" ? ["off", "enable"] : ["on", "disable"];
    say(`${email} is switched ${word}.`, () => change(id, other));
  };
  const promote = async (values: Values): Promise<void> => {
    type Answer = { readonly password: string } | undefined;
    const answer = await change<Answer>(id, "promote", values);
    const password = answer && ` Its new password, shown this once: ${answer.password}`;
    say(`${email} is an administrator.${password ?? ""}`, () => change(id, "demote"));
  };
  return (
    <div class="bar">
      {admin ? (
        <Ask act="Take the administrator rights away" title="Take the rights away?" send={demote}>
          {email} no longer sees the operator's pages, and keeps the plan Pro.
        </Ask>
      ) : (
        <Ask
          act="Make an administrator"
          title={`Make ${email} an administrator?`}
          grave
          user={ownEmail()}
          fields={[OWN_PASSWORD]}
          send={promote}
        >
          An administrator sees every account, changes rules for all of them and may make more
          administrators.
          {origin === "signup"
            ? " This account was registered by a sign-up, which proves nothing about its owner: it gets a new password, which you see once, and every browser is signed out. Its API keys still work."
            : ""}
        </Ask>
      )}
      {disabled ? (
        <Act act="Switch the account on" work={() => turn("enable")} />
      ) : (
        <Ask
          act="Switch the account off"
          class="small grave"
          title={`Switch ${email} off?`}
          send={() => turn("disable")}
        >
          Its keys and sign-ins are refused within 5 seconds. Nothing is deleted.
        </Ask>
      )}
    </div>
  );
}
