import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { post } from "../lib/client.ts";
import { count, counted, exactTime, timeMs } from "../lib/format.ts";
import { useLoad, useRested } from "../lib/load.ts";
import { fragment } from "../lib/router.ts";
import { session } from "../lib/session.ts";
import type { AdminAccount, AdminAccountPage, AdminAccounts } from "../lib/shapes.ts";
import { announce, say } from "../lib/state.ts";
import { Cells, Empty, Lines, PageHead, Sheet, Shown, Table, Time } from "../parts/basic.tsx";
import {
  Act,
  Ask,
  EMAIL,
  type FieldSpec,
  Form,
  FormDialog,
  Options,
  OWN_PASSWORD,
  Search,
  Secret,
  type Values,
} from "../parts/form.tsx";
import { tierName } from "../words/names.ts";
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

/** A link for its owner, which works once. */
interface MadeLink {
  readonly link: string;
  readonly expires_at: string;
}

/** The link as it is shown once, and what takes it away. */
function useLink(): readonly [shown: VNode | null, set: (made: MadeLink) => void] {
  const [made, setMade] = useState<MadeLink>();
  const shown = made && (
    <Secret
      title="The link for a new password"
      value={made.link}
      words={`Send it to the account's owner. It works once, until ${exactTime(timeMs(made.expires_at))}, and is shown this once.`}
      onDone={() => setMade(undefined)}
    />
  );
  return [shown ?? null, setMade];
}

const ownEmail = (): string => session.value?.account?.email ?? "";

const TIER: FieldSpec = { name: "tier", label: "Plan", choices: TIERS };

function Directory(): VNode {
  const [sought, setSought] = useState({ text: "", tier: "", state: "", page: 1 });
  const [link, setLink] = useLink();
  const q = useRested(sought.text);
  const { text, page, ...choices } = sought;
  const query = new URLSearchParams({ q, page: String(page), ...choices }).toString();
  const loading = useLoad<AdminAccounts>(`admin/accounts?${query}`);
  const seek = (more: Partial<typeof sought>): void => setSought({ ...sought, page: 1, ...more });
  const create = async (values: Values): Promise<void> => {
    setLink(await post<MadeLink>("admin/accounts", values));
    announce("Account made. The link for its password is at the top of the page.");
    loading.reload();
  };
  return (
    <>
      <PageHead title="Accounts" lead="Everybody who has an account on this service.">
        <FormDialog
          act="Create an account"
          class="main"
          title="Create an account"
          yes="Create"
          user={ownEmail()}
          fields={[EMAIL, TIER, OWN_PASSWORD]}
          send={create}
        >
          <p class="note">You get a link with which its owner chooses a password.</p>
        </FormDialog>
      </PageHead>
      {link}
      <section class="sheet stack">
        <div class="bar">
          <Search
            label="Email address or id"
            value={text}
            onValue={(value) => seek({ text: value })}
          />
          <Options
            label="Which accounts"
            class="kind"
            value={choices.state}
            onValue={(state) => seek({ state })}
            choices={STATES}
          />
          <Options
            label="Which plan"
            class="kind"
            value={choices.tier}
            onValue={(tier) => seek({ tier })}
            choices={[["", "Any plan"], ...TIERS]}
          />
        </div>
        <Shown loading={loading} lines={6}>
          {(found) => <Found found={found} onPage={(next) => seek({ page: next })} />}
        </Shown>
      </section>
    </>
  );
}

function Found({ found, onPage }: { found: AdminAccounts; onPage: (page: number) => void }): VNode {
  const { accounts, total, page, page_size: size } = found;
  const pages = Math.max(1, Math.ceil(total / size));
  if (accounts.length === 0) {
    return <Empty title="Nobody found">No account fits the search and the choices.</Empty>;
  }
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
          <button type="button" disabled={page <= 1} onClick={() => onPage(page - 1)}>
            Previous page
          </button>
          <button type="button" disabled={page >= pages} onClick={() => onPage(page + 1)}>
            Next page
          </button>
        </div>
      ) : null}
    </>
  );
}

function stateOf({ disabled, admin, origin }: AdminAccount): VNode {
  if (disabled) return <span class="chip no">Switched off</span>;
  if (admin) return <span class="chip">Administrator</span>;
  return <span class="note">{origin === "signup" ? "Signed up" : "Made by operator"}</span>;
}

/** One account: what it used, its keys, and everything an administrator may change. */
function AccountPage({ id }: { id: string }): VNode {
  const loading = useLoad<AdminAccountPage>(`admin/accounts/${encodeURIComponent(id)}`);
  const [link, setLink] = useLink();
  return (
    <Shown loading={loading} lines={8}>
      {(page) => {
        const { account, days } = page;
        return (
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
            {link}
            <div class="two start">
              <Changes account={account} onChanged={loading.reload} onLink={setLink} />
              <Keys page={page} />
            </div>
            <Figures page={page} />
            <Requests rows={days} />
          </>
        );
      }}
    </Shown>
  );
}

function Figures({ page: { days, allowance } }: { page: AdminAccountPage }): VNode {
  const { used, limit } = allowance.day;
  const sum = (pick: (day: (typeof days)[number]) => number): string =>
    count(days.reduce((all, day) => all + pick(day), 0));
  return (
    <Cells
      rows={[
        ["checks in 30 days", sum(({ units, credits }) => units + credits)],
        ["requests in 30 days", sum(({ requests }) => requests)],
        ["refused requests", sum(({ refusals }) => refusals)],
        [
          limit === null ? "checks today, no limit" : `checks today, of ${count(limit)}`,
          count(used),
        ],
        ["credits", count(allowance.credits)],
      ]}
    />
  );
}

const CREDIT_FIELDS: readonly FieldSpec[] = [
  {
    name: "amount",
    label: "Credits to add",
    hint: "A negative number takes some back.",
    input: { type: "number", step: 1, required: true },
  },
  {
    name: "reason",
    label: "Reason",
    hint: "The account sees it.",
    input: { maxLength: 200, autocomplete: "off" },
  },
];

interface ChangeProps {
  account: AdminAccount;
  onChanged: () => void;
}

/** What changes the account: each says what it did. */
const changing =
  ({ account: { id }, onChanged }: ChangeProps) =>
  async <Answer,>(action: string, body: unknown = {}): Promise<Answer> => {
    const answer = await post<Answer>(`admin/accounts/${id}/${action}`, body);
    onChanged();
    return answer;
  };

function Changes(props: ChangeProps & { onLink: (made: MadeLink) => void }): VNode {
  const { tier, admin, email, credits } = props.account;
  const change = changing(props);
  const setTier = async ({ tier: next = "" }: Values): Promise<void> => {
    await change("tier", { tier: next });
    say(`${email} has the plan ${tierName(next)}.`, () => change("tier", { tier }));
  };
  const move = async ({ amount, reason }: Values): Promise<void> => {
    await change("credits", { amount: Number(amount), reason });
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
        <FormDialog
          act="Add or take credits"
          title={`Credits of ${email}`}
          yes="Move the credits"
          fields={CREDIT_FIELDS}
          send={move}
        >
          <p class="note">It has {counted(credits, "credit")} now.</p>
        </FormDialog>
        <FormDialog
          act="Make a link for a new password"
          title="Make a link for a new password?"
          yes="Make the link"
          user={ownEmail()}
          fields={[OWN_PASSWORD]}
          send={async (values) => props.onLink(await change<MadeLink>("reset-link", values))}
        >
          <p>
            For somebody who forgot theirs. You send the link to {email}; until it is used, the old
            password works.
          </p>
        </FormDialog>
      </div>
      {email === ownEmail() ? (
        <p class="note">You cannot switch yourself off or take your own rights.</p>
      ) : (
        <Rights {...props} />
      )}
    </Sheet>
  );
}

/** What changes what the account may do: each asks once, and can be undone. */
function Rights(props: ChangeProps): VNode {
  const { email, admin, disabled } = props.account;
  const change = changing(props);
  const demote = async (): Promise<void> => {
    await change("demote");
    say(`${email} is no longer an administrator.`);
  };
  const turn = async (action: "disable" | "enable"): Promise<void> => {
    await change(action);
    const other = action === "disable" ? "enable" : "disable";
    say(`${email} is switched ${action === "disable" ? "off" : "on"}.`, () => change(other));
  };
  return (
    <div class="bar">
      {admin ? (
        <Ask act="Take the administrator rights away" title="Take the rights away?" work={demote}>
          {email} no longer sees the operator's pages, and keeps the plan Pro.
        </Ask>
      ) : (
        <Promote {...props} />
      )}
      {disabled ? (
        <Act act="Switch the account on" work={() => turn("enable")} />
      ) : (
        <Ask
          act="Switch the account off"
          class="small grave"
          title={`Switch ${email} off?`}
          work={() => turn("disable")}
        >
          Its keys and sign-ins are refused within 5 seconds. Nothing is deleted.
        </Ask>
      )}
    </div>
  );
}

function Promote(props: ChangeProps): VNode {
  const { email, origin } = props.account;
  const change = changing(props);
  const promote = async (values: Values): Promise<void> => {
    const answer = await change<{ readonly password: string } | undefined>("promote", values);
    const password = answer && ` Its new password, shown this once: ${answer.password}`;
    say(`${email} is an administrator.${password ?? ""}`, () => change("demote"));
  };
  return (
    <FormDialog
      act="Make an administrator"
      title={`Make ${email} an administrator?`}
      yes="Make an administrator"
      grave
      user={ownEmail()}
      fields={[OWN_PASSWORD]}
      send={promote}
    >
      <p>
        An administrator sees every account, changes rules for all of them and may make more
        administrators.
        {origin === "signup"
          ? " This account was registered by a sign-up, which proves nothing about its owner: it gets a new password, which you see once, and every browser is signed out. Its API keys still work."
          : ""}
      </p>
    </FormDialog>
  );
}

function Keys({ page: { keys } }: { page: AdminAccountPage }): VNode {
  return (
    <Sheet title="Keys">
      {keys.length === 0 ? <p class="note">No keys yet.</p> : null}
      <Lines
        rows={keys.map((key) => [
          <>
            {key.name === "" ? "Unnamed" : key.name}
            <div class="note mono">
              {key.prefix}…{key.last_four}
            </div>
          </>,
          <span class="note">
            {key.revoked_at === null ? "used " : "revoked "}
            <Time at={key.revoked_at ?? key.last_used_at} />
          </span>,
        ])}
      />
    </Sheet>
  );
}
