import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type {
  ForgetReport,
  AdminAccount,
  AdminAccountPage,
  AdminAccounts,
  PromotedJson,
} from "../../http/account/shapes.ts";
import { post } from "../lib/client.ts";
import { count, counted, exactTime, sumOf, timeMs } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import { fragment, go } from "../lib/router.ts";
import { ownEmail } from "../lib/session.ts";
import { say, showOnce } from "../lib/state.ts";
import {
  Chip,
  Go,
  LinesSheet,
  noted,
  PageHead,
  Pairs,
  Sheet,
  Shown,
  Table,
  Time,
  Turns,
} from "../parts/basic.tsx";
import {
  Act,
  EMAIL,
  type FieldSpec,
  Form,
  OWN_PASSWORD,
  textField,
  useChoice,
  useSearch,
  type FormValues,
} from "../parts/form.tsx";
import { tierName } from "../words/names.ts";
import { nameOf, shortOf } from "./keys.tsx";
import { SignUps } from "./set-up.tsx";
import { Requests } from "./usage.tsx";

const TIERS = ["free", "starter", "pro"].map((name) => [name, tierName(name)] as const);

const STATES = [
  ["", "All accounts"],
  ["admin", "Administrators"],
  ["signed_up", "Signed up"],
  ["disabled", "Switched off"],
] as const;

export function Page(): VNode {
  const id = fragment.value;
  return id === "" ? <Directory /> : <AccountPage key={id} id={id} />;
}

interface MadeLink {
  readonly link: string;
  readonly expires_at: string;
}

async function showLink(made: Promise<MadeLink>): Promise<void> {
  const { link: value, expires_at: ends } = await made;
  const words = `Send it to the account's owner. It works once, until ${exactTime(timeMs(ends))}, and is shown this once.`;
  showOnce({ id: value, title: "The link for a new password", value, words });
}

async function forget(values: FormValues): Promise<void> {
  const {
    found,
    account_id: own,
    elsewhere,
  } = await post<ForgetReport>("admin/forget", {
    ...values,
    delete: true,
  });
  const counts = Object.entries(found).map(([place, number]) => `${place} ${count(number)}`);
  const left = own === null ? "" : " The account with this address is left: delete it on its page.";
  say(`Deleted: ${counts.join(", ")}.${left} Not searched: ${elsewhere.join("; ")}.`);
}

const TIER: FieldSpec = { name: "tier", label: "Plan", choices: TIERS };

function Directory(): VNode {
  const [q, search] = useSearch("Email address or id");
  const [state, stateChoice] = useChoice("Which accounts", STATES);
  const [tier, tierChoice] = useChoice("Which plan", [["", "Any plan"], ...TIERS]);
  const query = new URLSearchParams({ q, tier, state }).toString();
  return (
    <>
      <PageHead title="Accounts" lead="Everybody who has an account on this service.">
        <Act
          act="Create an account"
          class="main"
          title="Create an account"
          yes="Create"
          user={ownEmail()}
          fields={[EMAIL, TIER, OWN_PASSWORD]}
          send={(values) => showLink(post("admin/accounts", values))}
        >
          You get a link with which its owner chooses a password.
        </Act>
        <Act
          act="Forget a person"
          title="Forget a person?"
          yes="Delete for good"
          grave
          user={ownEmail()}
          fields={[EMAIL, OWN_PASSWORD]}
          send={forget}
        >
          What is kept of this address goes in every account: counts, feedback, decisions, rules,
          and each list and batch that holds it, whole. This cannot be undone.
        </Act>
      </PageHead>
      <section class="sheet stack">
        <div class="bar">
          {search}
          {stateChoice}
          {tierChoice}
        </div>
        <Found key={query} query={query} />
      </section>
      <SignUps title="Who may create an account?" />
    </>
  );
}

function Found({ query }: { query: string }): VNode {
  const [at, turn] = useState(1);
  const path = `admin/accounts?${query}&page=${String(at)}`;
  return (
    <Shown loading={useLoad<AdminAccounts>(path)} lines={6}>
      {({ accounts, total, page, page_size: size }) => (
        <>
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
          <Turns
            {...{ total, size, of: "account" }}
            from={(page - 1) * size}
            onFrom={(from) => turn(from / size + 1)}
          />
        </>
      )}
    </Shown>
  );
}

function stateOf({ disabled, admin, origin }: AdminAccount): VNode {
  if (disabled) return <Chip mark="no" words="Switched off" />;
  if (admin) return <Chip words="Administrator" />;
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
          <Go to="admin/accounts" act="All accounts" class="plain" />
        </PageHead>
        <div class="two start">
          <Changes {...account} />
          <LinesSheet
            title="Keys"
            none="No keys yet."
            rows={keys.map((key) => [
              noted(nameOf(key), <span class="mono">{shortOf(key)}</span>),
              key.revoked_at === null ? (
                <Time words="used" at={key.last_used_at} />
              ) : (
                <Time words="revoked" at={key.revoked_at} />
              ),
            ])}
          />
        </div>
        <Figures {...{ allowance, days }} />
        <Requests rows={days} />
      </>
    )}
  </Shown>
);

function Figures({ days, allowance }: Pick<AdminAccountPage, "days" | "allowance">): VNode {
  const { used, limit } = allowance.day;
  const today = limit === null ? "checks today, no limit" : `checks today, of ${count(limit)}`;
  return (
    <Pairs
      cells
      rows={[
        ["checks in 30 days", count(sumOf(days, ({ units, credits }) => units + credits))],
        ["requests in 30 days", count(sumOf(days, ({ requests }) => requests))],
        ["refused requests", count(sumOf(days, ({ refusals }) => refusals))],
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

const LIMITS = [
  ["rate_per_minute", "Requests a minute"],
  ["daily", "Checks a day"],
  ["monthly", "Checks a month"],
  ["bulk_limit", "Entries in one list"],
] as const;

const limitText = (value: number | null | undefined): string =>
  value === null ? "none" : String(value ?? "");

function Limits({ id, email, limits }: AdminAccount): VNode {
  const fields = LIMITS.map(([name, label]) => ({
    ...textField(name, label, 'Empty: the plan\'s. "none": no limit.', { pattern: "\\d*|none" }),
    value: limitText(limits[name]),
  }));
  const send = async (values: FormValues): Promise<void> => {
    const given = LIMITS.flatMap(([name]) => {
      const value = (values[name] ?? "").trim();
      return value === "" ? [] : [[name, value === "none" ? null : Number(value)]];
    });
    await change(id, "limits", Object.fromEntries(given));
    say(`The limits of ${email} are changed.`, () => change(id, "limits", limits));
  };
  return (
    <Act
      act="Limits of its own"
      title={`Limits of ${email}`}
      yes="Save"
      fields={fields}
      send={send}
    >
      They count in place of the plan's within 5 seconds.
    </Act>
  );
}

function Changes(account: AdminAccount): VNode {
  const { id, tier, admin, email, credits } = account;
  const setTier = async ({ tier: next = "" }: FormValues): Promise<void> => {
    await change(id, "tier", { tier: next });
    say(`${email} has the plan ${tierName(next)}.`, () => change(id, "tier", { tier }));
  };
  const fields = [{ ...TIER, value: tier }];
  return (
    <Sheet title="Change the account">
      {admin ? (
        <p class="note">An administrator's plan is Pro.</p>
      ) : (
        <Form key={tier} act="Change the plan" keeps fields={fields} send={setTier} />
      )}
      <div class="bar">
        <Act
          act="Add or take credits"
          title={`Credits of ${email}`}
          yes="Move the credits"
          fields={CREDIT_FIELDS}
          send={({ amount, reason }) => change(id, "credits", { amount: Number(amount), reason })}
          said="The credits are moved."
        >
          It has {counted(credits, "credit")} now.
        </Act>
        <Limits {...account} />
        <Act
          act="Change the address"
          title={`Another address for ${email}`}
          user={ownEmail()}
          fields={[{ ...EMAIL, label: "New email address" }, OWN_PASSWORD]}
          send={(values) => change(id, "email", values)}
          said="The address is changed."
        >
          Its owner signs in with it from now on. Make sure that the new address is theirs.
        </Act>
        <Act
          {...{ act: "Make a link for a new password", yes: "Make the link", ...sure() }}
          title="Make a link for a new password?"
          send={(values) => showLink(change(id, "reset-link", values))}
        >
          For somebody who forgot theirs. You send the link to {email}; until it is used, the old
          password works.
        </Act>
      </div>
      {email === ownEmail() ? (
        <p class="note">You cannot switch yourself off or take your own rights.</p>
      ) : (
        rightsOf(account)
      )}
    </Sheet>
  );
}

const sure = () => ({ user: ownEmail(), fields: [OWN_PASSWORD] });

/** What changes what the account may do: each asks once, and can be undone. */
function rightsOf(account: AdminAccount): VNode {
  const { id, email, admin, disabled, origin } = account;
  const promote = async (values: FormValues): Promise<void> => {
    const answer = await change<PromotedJson | undefined>(id, "promote", values);
    say(`${email} is an administrator.`, () => change(id, "demote"));
    if (answer === undefined) return;
    const { password: value, keys, hooks, webhooks, policies } = answer;
    const ended = [counted(keys, "key"), counted(hooks, "hook"), counted(webhooks, "webhook")];
    const kept =
      policies.length === 0 ? "" : ` Its policies stay, read them: ${policies.join(", ")}.`;
    const words = `Ended: ${ended.join(", ")}.${kept} The password is shown this once.`;
    showOnce({ title: `The new password of ${email}`, value, words });
  };
  const turn = (word: string, action: string, other: string) => ({
    send: () => change(id, action),
    said: `${email} is switched ${word}.`,
    undo: () => change(id, other),
  });
  return (
    <div class="bar">
      {admin ? (
        <Act
          act="Take the administrator rights away"
          title="Take the rights away?"
          send={() => change(id, "demote")}
          said={`${email} is no longer an administrator.`}
        >
          {email} no longer sees the operator's pages, and keeps the plan Pro.
        </Act>
      ) : (
        <Act
          {...{ act: "Make an administrator", grave: true, ...sure() }}
          title={`Make ${email} an administrator?`}
          send={promote}
        >
          An administrator sees every account, changes rules for all of them and may make more
          administrators.
          {origin === "signup"
            ? " This account was registered by a sign-up, which proves nothing about its owner: it gets a new password, which you see once, every browser is signed out, and its keys, hooks and webhook end. Its policies stay and are listed."
            : ""}
        </Act>
      )}
      {disabled ? (
        <Act act="Switch the account on" {...turn("on", "enable", "disable")} />
      ) : (
        <Act
          {...{ act: "Switch the account off", class: "small grave" }}
          title={`Switch ${email} off?`}
          {...turn("off", "disable", "enable")}
        >
          Its keys and sign-ins are refused within 5 seconds. Nothing is deleted.
        </Act>
      )}
      {endOf(account)}
    </div>
  );
}

/** What helps its owner to sign in, and what cannot be undone. */
const endOf = ({ id, email, second_factor: isGuarded }: AdminAccount): VNode => (
  <>
    {isGuarded ? (
      <Act
        {...{ act: "Remove the second factor", yes: "Remove it", ...sure() }}
        title={`Remove the second factor of ${email}?`}
        send={(values) => change(id, "second-factor-off", values)}
        said="The second factor is removed."
      >
        For somebody who lost the phone and the recovery codes. Make sure that it is they who ask.
      </Act>
    ) : null}
    <Act
      act="Sign-in without delay"
      title={`End the delay for ${email}?`}
      yes="End the delay"
      send={() => change(id, "unlock")}
      said="The next sign-in is not delayed."
    >
      Wrong passwords delay a sign-in from a new place. This forgets them.
    </Act>
    <Act
      {...{ act: "Delete the account", class: "small grave", grave: true, ...sure() }}
      title={`Delete ${email}?`}
      yes="Delete for good"
      send={async (values) => {
        await change(id, "delete", values);
        go("admin/accounts");
      }}
    >
      Its keys, lists, policies, counts and credits are deleted. This cannot be undone.
    </Act>
  </>
);
