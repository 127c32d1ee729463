import type { VNode } from "preact";
import { call, post } from "../lib/client.ts";
import { exactTime, timeMs } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import { go } from "../lib/router.ts";
import { has, loadSession, session, signedOut } from "../lib/session.ts";
import type { Account, AuditEntry, SignIn } from "../lib/shapes.ts";
import { announce, say, shownOnce, told } from "../lib/state.ts";
import { Lines, LoadedSheet, PageHead, Pairs, Sheet, Table, Time } from "../parts/basic.tsx";
import {
  Act,
  Ask,
  EMAIL,
  type FieldSpec,
  NEW_PASSWORD,
  OWN_PASSWORD,
  type Values,
} from "../parts/form.tsx";
import { actionWords, browserName, tierName } from "../words/names.ts";
import { WebhookSheet } from "./webhook.tsx";

export function SettingsPage(): VNode | null {
  const account = session.value?.account;
  if (account === undefined) return null;
  return (
    <>
      <PageHead title="Settings" />
      <div class="even">
        <Who {...account} />
        <Sessions />
      </div>
      {has("webhooks") ? <WebhookSheet /> : null}
      {has("gate") ? (
        <div class="even">
          <Traces {...account} />
          {TOKEN_SECRET}
        </div>
      ) : null}
      <AuditSheet
        title="What happened in this account"
        path="activity"
        own={account.email}
        none="Every change shows up here, with who made it and from where."
      />
      <Data {...account} />
    </>
  );
}

/** Of a form without a user name that would be changed by mistake. */
const CURRENT: FieldSpec = { ...OWN_PASSWORD, label: "Current password" };

async function changeEmail(values: Values): Promise<void> {
  await post("email", values);
  await loadSession();
  say("Your email address is changed. Sign in with the new one from now on.");
}

async function changePassword({ password, ...values }: Values): Promise<void> {
  await post("password", { ...values, new_password: password });
  say("Your password is changed. All other browsers are signed out.");
}

const Who = ({ email, tier, id, created_at: made }: Account): VNode => (
  <Sheet title="Your account">
    <Pairs
      rows={[
        ["Email address", email],
        [
          "Plan",
          <>
            {tierName(tier)} · <a href="usage">see usage and plans</a>
          </>,
        ],
        ["Account", <span class="mono">{id}</span>],
        ["Made", exactTime(timeMs(made))],
      ]}
    />
    <div class="bar">
      <Ask
        act="Change the address"
        title="Change your email address"
        user={email}
        fields={[{ ...EMAIL, label: "New email address" }, CURRENT]}
        send={changeEmail}
      />
      <Ask
        act="Change the password"
        title="Change your password"
        user={email}
        fields={[CURRENT, { ...NEW_PASSWORD, label: "New password" }]}
        send={changePassword}
      />
    </div>
  </Sheet>
);

const endSession = ({ id }: SignIn) => told(call("DELETE", `sessions/${id}`), "Signed out there.");
const endOthers = () => told(call("DELETE", "sessions"), "Signed out everywhere else.");

/** Browsers that are signed in, each of which can be signed out. */
const Sessions = (): VNode => (
  <LoadedSheet
    title="Where you are signed in"
    loading={useLoad<{ readonly sessions: readonly SignIn[] }>("sessions")}
  >
    {({ sessions }) => (
      <>
        <Lines
          rows={sessions.map((known) => [
            <>
              {browserName(known.user_agent)}
              <div class="note">
                From <span class="mono">{known.client_address}</span>, signed in{" "}
                <Time at={known.created_at} />, last seen <Time at={known.last_seen_at} />
              </div>
            </>,
            known.current ? (
              <span class="chip">This browser</span>
            ) : (
              <Act
                act="Sign out"
                of={browserName(known.user_agent)}
                work={() => endSession(known)}
              />
            ),
          ])}
        />
        {sessions.length > 1 ? (
          <div>
            <Act act="Sign out everywhere else" work={endOthers} />
          </div>
        ) : null}
      </>
    )}
  </LoadedSheet>
);

const SWITCHES = [
  {
    path: "traffic",
    name: "Traffic",
    isOn: ({ counts_traffic: is }: Account) => is,
    words:
      "how many addresses came from each domain, and under how many spellings each mailbox came. Your rules can ask for it. Only keyed hashes are kept.",
  },
  {
    path: "decision-log",
    name: "Decision log",
    isOn: ({ logs_decisions: is }: Account) => is,
    words:
      "the last 7 days or 10,000 decisions with their reason and domain, to be read and reported. No address is kept.",
  },
] as const;

/** The switches of what the account's own decisions leave behind. */
const Traces = (account: Account): VNode => (
  <Sheet title="What your decisions leave behind">
    <Lines
      rows={SWITCHES.map(({ path, name, isOn, words }) => {
        const turn = async (state: "on" | "off", said: string): Promise<void> => {
          await post(path, { state });
          await loadSession();
          say(`${name} is ${said}.`);
        };
        const off = (): Promise<void> => turn("off", "off, and what was kept is deleted");
        const title = `Switch ${name.toLowerCase()} off?`;
        return [
          <>
            <b>{name}</b>: {words}
          </>,
          isOn(account) ? (
            <Ask act="Switch off" of={name} title={title} send={off}>
              What was kept is deleted at once. It begins anew when you switch it on again.
            </Ask>
          ) : (
            <Act act="Switch on" of={name} work={() => turn("on", "on")} />
          ),
        ];
      })}
    />
  </Sheet>
);

async function makeTokenSecret(): Promise<void> {
  const { secret: value } = await post<{ readonly secret: string }>("token-secret");
  shownOnce.value = { title: "Your token secret", value };
  announce("New token secret made. It is shown once, at the top of the page.");
}

const TOKEN_SECRET = (
  <Sheet title="Token secret">
    <p class="prose">Your server verifies the tokens of your sign-up pages with this secret.</p>
    <div>
      <Ask act="Make a token secret" title="Make a token secret?" send={makeTokenSecret}>
        The old one ends at once. Tokens are not accepted until your server knows the new one.
      </Ask>
    </div>
  </Sheet>
);

/** Who changed what, when and from where; with `whose`, in which account. `own` is "You". */
export function AuditSheet(props: {
  title: string;
  path: string;
  none: string;
  whose?: true;
  own?: string;
}): VNode {
  const { title, path, none, whose, own } = props;
  const loading = useLoad<{ readonly entries: readonly AuditEntry[] }>(path);
  return (
    <LoadedSheet {...{ title, loading }}>
      {({ entries }) => (
        <Table
          tall
          label="What happened"
          head={["When", "What", "Who", ...(whose ? ["Whose account"] : []), "From"]}
          none={none}
          rows={entries.map((entry) => [
            <Time at={entry.at} />,
            actionWords(entry),
            entry.actor === own ? "You" : entry.actor,
            ...(whose ? [entry.subject === entry.actor ? "own" : entry.subject] : []),
            <span class="mono whole">
              {entry.client_address === "" ? "–" : entry.client_address}
            </span>,
          ])}
        />
      )}
    </LoadedSheet>
  );
}

async function erase(values: Values): Promise<void> {
  await post("delete", values);
  go("./");
  await signedOut();
}

const Data = ({ email }: Account): VNode => (
  <Sheet title="Your data">
    <p class="prose">
      The export is one JSON file: the account, its keys without their secrets, use, credits,
      policies, hooks, webhook, and what happened in the account.
    </p>
    <div class="bar">
      <a class="button small" href="account/export" download>
        Export your data
      </a>
      <Ask
        {...{ act: "Delete the account", class: "small grave", yes: "Delete it" }}
        title="Delete this account for good?"
        grave
        user={email}
        fields={[OWN_PASSWORD]}
        send={erase}
      >
        Keys stop working, results and settings are erased, credits are lost. This cannot be undone.
      </Ask>
    </div>
  </Sheet>
);
