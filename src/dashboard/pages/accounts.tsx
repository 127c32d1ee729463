import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type {
  ForgetReport,
  AdminAccount,
  AdminAccountPage,
  AdminAccounts,
  AllowanceJson,
  PromotedJson,
  ResetLink,
} from "../../http/account/shapes.ts";
import { post } from "../lib/client.ts";
import { count, counted, exactTime, timeMs } from "../lib/format.ts";
import { fragment, go } from "../lib/router.ts";
import { ownEmail } from "../lib/session.ts";
import { say, showOnce } from "../lib/state.ts";
import { Act } from "../parts/act.tsx";
import {
  EMAIL,
  type FieldSpec,
  Form,
  type FormValues,
  OWN_PASSWORD,
  textField,
  useChoice,
  useSearch,
} from "../parts/form.tsx";
import { Chip, noted, Time } from "../parts/marks.tsx";
import { Go, Loaded, PageHead, Sheet } from "../parts/page.tsx";
import { LinesSheet, Pairs, Table, Pager } from "../parts/rows.tsx";
import { tierName } from "../words/names.ts";
import { nameOf, shortOf } from "./keys.tsx";
import { SignUps } from "./set-up.tsx";
import { requestSheet, usedIn } from "./usage.tsx";

const TIERS = ["free", "starter", "pro"].map((name) => [name, tierName(name)] as const);
const TIER: FieldSpec = { name: "tier", label: "Plan", choices: TIERS };

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

async function showLink(made: Promise<ResetLink>): Promise<void> {
  const { link: value, expires_at: ends } = await made;
  const words = `Send it to the account's owner. It works once, until ${exactTime(timeMs(ends))}, and is shown this once.`;
  showOnce({ id: value, title: "The link for a new password", value, words });
}

async function forget(values: FormValues): Promise<void> {
  const report = await post<ForgetReport>("admin/forget", { ...values, delete: true });
  const counts = Object.entries(report.found).map(([place, many]) => `${place} ${count(many)}`);
  const isLeft = report.account_id !== null;
  const left = isLeft ? " The account with this address is left: delete it on its page." : "";
  say(`Deleted: ${counts.join(", ")}.${left} Not searched: ${report.elsewhere.join("; ")}.`);
}

function Directory(): VNode {
  const [q, search] = useSearch("Email address or id");
  const [state, stateChoice] = useChoice("Which accounts", STATES);
  const [tier, tierChoice] = useChoice("Which plan", [["", "Any plan"], ...TIERS]);
  const query = new URLSearchParams({ q, tier, state }).toString();
  return (
    <>
      <PageHead title="Accounts" lead="Everybody who has an account on this service.">
        <Act
          {...{ act: "Create an account", class: "main", fields: [EMAIL, TIER, OWN_PASSWORD] }}
          send={(values) => showLink(post("admin/accounts", values))}
        >
          You get a link with which its owner chooses a password.
        </Act>
        <Act
          {...{ act: "Forget a person", yes: "Delete for good", grave: true }}
          fields={[EMAIL, OWN_PASSWORD]}
          send={forget}
        >
          What is kept of this address goes in every account: counts, feedback, decisions, rules,
          and each list and batch that holds it, whole. This cannot be undone.
        </Act>
      </PageHead>
      <Sheet>
        <div class="bar">
          {search}
          {stateChoice}
          {tierChoice}
        </div>
        <Found key={query} query={query} />
      </Sheet>
      <SignUps title="Who may create an account?" />
    </>
  );
}

function Found({ query }: { query: string }): VNode {
  const [at, turn] = useState(1);
  return (
    <Loaded path={`admin/accounts?${query}&page=${String(at)}`} lines={6}>
      {({ accounts, total, page, page_size: size }: AdminAccounts) => (
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
          <Pager
            {...{ total, size, of: "account", from: (page - 1) * size }}
            onFrom={(from) => turn(from / size + 1)}
          />
        </>
      )}
    </Loaded>
  );
}

function stateOf({ disabled, admin, origin }: AdminAccount): VNode {
  if (disabled) return <Chip mark="no" words="Switched off" />;
  if (admin) return <Chip words="Administrator" />;
  return <span class="note">{origin === "signup" ? "Signed up" : "Made by operator"}</span>;
}

const AccountPage = ({ id }: { id: string }): VNode => (
  <Loaded path={`admin/accounts/${encodeURIComponent(id)}`} lines={8} heading="Account">
    {({ account, allowance, days, keys }: AdminAccountPage) => (
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
              <Time
                words={key.revoked_at === null ? "used" : "revoked"}
                at={key.revoked_at ?? key.last_used_at}
              />,
            ])}
          />
        </div>
        {figures(days, allowance)}
        {requestSheet(days)}
      </>
    )}
  </Loaded>
);

function figures(days: AdminAccountPage["days"], allowance: AllowanceJson): VNode {
  const { used, limit } = allowance.day;
  const today = limit === null ? "checks today, no limit" : `checks today, of ${count(limit)}`;
  return (
    <Pairs
      cells
      rows={[
        ...usedIn(days, " in 30 days"),
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

const LIMITS = [
  ["rate_per_minute", "Requests a minute"],
  ["daily", "Checks a day"],
  ["monthly", "Checks a month"],
  ["bulk_limit", "Entries in one list"],
] as const;

const limitFields = ({ limits }: AdminAccount): readonly FieldSpec[] =>
  LIMITS.map(([name, label]) => {
    const value = limits[name] === null ? "none" : String(limits[name] ?? "");
    const hint = 'Empty: the plan\'s. "none": no limit.';
    return { ...textField(name, label, hint, { pattern: "\\d*|none" }), value };
  });

const limitsIn = (values: FormValues): AdminAccount["limits"] =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([, text]) => text.trim() !== "")
      .map(([name, text]) => [name, text.trim() === "none" ? null : Number(text)]),
  );

const changerOf =
  (id: string) =>
  <Answer,>(action: string, body: unknown = {}): Promise<Answer> =>
    post<Answer>(`admin/accounts/${id}/${action}`, body);

function Changes(account: AdminAccount): VNode {
  const { id, tier, admin, email, credits, limits } = account;
  const change = changerOf(id);
  const setTier = async ({ tier: next = "" }: FormValues): Promise<void> => {
    await change("tier", { tier: next });
    say(`${email} has the plan ${tierName(next)}.`, () => change("tier", { tier }));
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
          {...{ act: "Add or take credits", fields: CREDIT_FIELDS }}
          send={({ amount, reason }) => change("credits", { amount: Number(amount), reason })}
          said="The credits are moved."
        >
          {email} has {counted(credits, "credit")} now.
        </Act>
        <Act
          {...{ act: "Limits of its own", yes: "Save", fields: limitFields(account) }}
          send={(values) => change("limits", limitsIn(values))}
          said={`The limits of ${email} are changed.`}
          undo={() => change("limits", limits)}
        >
          They count in place of the plan's within 5 seconds.
        </Act>
        <Act
          act="Change the address"
          fields={[{ ...EMAIL, label: "New email address" }, OWN_PASSWORD]}
          send={(values) => change("email", values)}
          said="The address is changed."
        >
          {email} signs in with it from now on. Make sure that the new address is theirs.
        </Act>
        <Act
          {...{ act: "Make a link for a new password", fields: [OWN_PASSWORD] }}
          send={(values) => showLink(change("reset-link", values))}
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

function rightsOf(account: AdminAccount): VNode {
  const { id, email, admin, disabled, origin } = account;
  const change = changerOf(id);
  const promote = async (values: FormValues): Promise<void> => {
    const answer = await change<PromotedJson | undefined>("promote", values);
    say(`${email} is an administrator.`, () => change("demote"));
    if (answer === undefined) return;
    const { password: value, keys, hooks, webhooks, policies } = answer;
    const ended = [counted(keys, "key"), counted(hooks, "hook"), counted(webhooks, "webhook")];
    const kept =
      policies.length === 0 ? "" : ` Its policies stay, read them: ${policies.join(", ")}.`;
    const words = `Ended: ${ended.join(", ")}.${kept} The password is shown this once.`;
    showOnce({ title: `The new password of ${email}`, value, words });
  };
  const [word, action, other] = disabled
    ? (["on", "enable", "disable"] as const)
    : (["off", "disable", "enable"] as const);
  return (
    <div class="bar">
      {admin ? (
        <Act
          act="Take the administrator rights away"
          send={() => change("demote")}
          said={`${email} is no longer an administrator.`}
        >
          {email} no longer sees the operator's pages, and keeps the plan Pro.
        </Act>
      ) : (
        <Act
          {...{ act: "Make an administrator", grave: true, fields: [OWN_PASSWORD] }}
          title={`Make ${email} an administrator?`}
          send={promote}
        >
          An administrator sees every account, changes rules for all of them and may make more
          administrators.
          {origin === "signup" &&
            " This account was registered by a sign-up, which proves nothing about its owner: it gets a new password, which you see once, every browser is signed out, and its keys, hooks and webhook end. Its policies stay and are listed."}
        </Act>
      )}
      <Act
        {...{ act: `Switch the account ${word}`, class: disabled ? "small" : "small grave" }}
        send={() => change(action)}
        said={`${email} is switched ${word}.`}
        undo={() => change(other)}
      >
        {!disabled &&
          `The keys and sign-ins of ${email} are refused within 5 seconds. Nothing is deleted.`}
      </Act>
      {endOf(account)}
    </div>
  );
}

function endOf({ id, email, second_factor: isGuarded }: AdminAccount): VNode {
  const change = changerOf(id);
  const erase = (values: FormValues) => change("delete", values).then(() => go("admin/accounts"));
  return (
    <>
      {isGuarded && (
        <Act
          {...{ act: "Remove the second factor", fields: [OWN_PASSWORD] }}
          send={(values) => change("second-factor-off", values)}
          said="The second factor is removed."
        >
          For somebody who lost the phone and the recovery codes. Make sure that it is the owner of{" "}
          {email} who asks.
        </Act>
      )}
      <Act
        {...{ act: "Delete the account", class: "small grave", yes: "Delete for good" }}
        {...{ title: `Delete ${email}?`, grave: true, fields: [OWN_PASSWORD], send: erase }}
      >
        Its keys, lists, policies, counts and credits are deleted. This cannot be undone.
      </Act>
    </>
  );
}
