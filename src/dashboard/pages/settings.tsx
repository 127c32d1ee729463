import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call, post } from "../lib/client.ts";
import { exactTime, timeMs } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import { go } from "../lib/router.ts";
import { has, loadSession, session, signedOut } from "../lib/session.ts";
import type { Account, AuditEntry, SignIn } from "../lib/shapes.ts";
import { announce, say } from "../lib/state.ts";
import { Lines, PageHead, Pairs, Sheet, Shown, Table, Time } from "../parts/basic.tsx";
import {
  Act,
  Ask,
  EMAIL,
  type FieldSpec,
  FormDialog,
  NEW_PASSWORD,
  OWN_PASSWORD,
  Secret,
  type Values,
} from "../parts/form.tsx";
import { actionWords, browserName, tierName } from "../words/names.ts";
import { WebhookSheets } from "./webhook.tsx";

export function SettingsPage(): VNode | null {
  const account = session.value?.account;
  if (account === undefined) return null;
  return (
    <>
      <PageHead title="Settings" />
      <div class="even">
        <Who account={account} />
        <Sessions />
      </div>
      {has("webhooks") ? <WebhookSheets /> : null}
      {has("gate") ? (
        <div class="even">
          <Traces account={account} />
          <TokenSecret />
        </div>
      ) : null}
      <Activity email={account.email} />
      <Data account={account} />
    </>
  );
}

/** Of a form without a user name that would be changed by mistake. */
const CURRENT: FieldSpec = { ...OWN_PASSWORD, label: "Current password" };

function Who({ account }: { account: Account }): VNode {
  const { email, tier, id, created_at: made } = account;
  const changeEmail = async (values: Values): Promise<void> => {
    await post("email", values);
    await loadSession();
    say("Your email address is changed. Sign in with the new one from now on.");
  };
  const changePassword = async ({ current_password: current, password }: Values): Promise<void> => {
    await post("password", { current_password: current, new_password: password });
    say("Your password is changed. All other browsers are signed out.");
  };
  return (
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
        <FormDialog
          act="Change the address"
          title="Change your email address"
          yes="Change the address"
          user={email}
          fields={[{ ...EMAIL, label: "New email address" }, CURRENT]}
          send={changeEmail}
        />
        <FormDialog
          act="Change the password"
          title="Change your password"
          yes="Change the password"
          user={email}
          fields={[CURRENT, { ...NEW_PASSWORD, label: "New password" }]}
          send={changePassword}
        />
      </div>
    </Sheet>
  );
}

/** Browsers that are signed in, each of which can be signed out. */
function Sessions(): VNode {
  const loading = useLoad<{ readonly sessions: readonly SignIn[] }>("sessions");
  const revoke = async (path: string, said: string): Promise<void> => {
    await call("DELETE", path);
    announce(said);
    loading.reload();
  };
  return (
    <Sheet title="Where you are signed in">
      <Shown loading={loading}>
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
                    work={() => revoke(`sessions/${known.id}`, "Signed out there.")}
                  />
                ),
              ])}
            />
            {sessions.length > 1 ? (
              <div>
                <Act
                  act="Sign out everywhere else"
                  work={() => revoke("sessions", "Signed out everywhere else.")}
                />
              </div>
            ) : null}
          </>
        )}
      </Shown>
    </Sheet>
  );
}

const SWITCHES = [
  {
    path: "traffic",
    name: "Traffic",
    is: ({ counts_traffic: is }: Account) => is,
    words:
      "how many addresses came from each domain, and under how many spellings each mailbox came. Your rules can ask for it. Only keyed hashes are kept.",
  },
  {
    path: "decision-log",
    name: "Decision log",
    is: ({ logs_decisions: is }: Account) => is,
    words:
      "the last 7 days or 10,000 decisions with their reason and domain, to be read and reported. No address is kept.",
  },
] as const;

/** The switches of what the account's own decisions leave behind. */
function Traces({ account }: { account: Account }): VNode {
  const turn = async (path: string, name: string, state: "on" | "off"): Promise<void> => {
    await post(path, { state });
    await loadSession();
    say(state === "on" ? `${name} is on.` : `${name} is off, and what was kept is deleted.`);
  };
  return (
    <Sheet title="What your decisions leave behind">
      <Lines
        rows={SWITCHES.map(({ path, name, is, words }) => [
          <>
            <b>{name}</b>: {words}
          </>,
          is(account) ? (
            <Ask
              act="Switch off"
              of={name}
              title={`Switch ${name.toLowerCase()} off?`}
              work={() => turn(path, name, "off")}
            >
              What was kept is deleted at once. It begins anew when you switch it on again.
            </Ask>
          ) : (
            <Act act="Switch on" of={name} work={() => turn(path, name, "on")} />
          ),
        ])}
      />
    </Sheet>
  );
}

/** Makes the secret that your server verifies tokens with, and shows it once. */
function TokenSecret(): VNode {
  const [secret, setSecret] = useState("");
  const make = async (): Promise<void> => {
    setSecret((await post<{ readonly secret: string }>("token-secret")).secret);
    announce("New token secret made. It is shown once.");
  };
  return (
    <Sheet title="Token secret">
      <p class="prose">Your server verifies the tokens of your sign-up pages with this secret.</p>
      {secret === "" ? null : (
        <Secret title="Your token secret" value={secret} onDone={() => setSecret("")} />
      )}
      <div>
        <Ask act="Make a token secret" title="Make a token secret?" work={make}>
          The old one ends at once. Tokens are not accepted until your server knows the new one.
        </Ask>
      </div>
    </Sheet>
  );
}

/** Who changed what, when and from where; with `whose`, in which account. `own` is "You". */
export function AuditTable(props: {
  entries: readonly AuditEntry[];
  whose?: true;
  own?: string;
}): VNode {
  const { entries, whose, own } = props;
  const whoseCell = ({ subject, actor }: AuditEntry): readonly string[] =>
    whose === undefined ? [] : [subject === actor ? "own" : subject];
  return (
    <Table
      tall
      label="What happened"
      head={["When", "What", "Who", ...(whose === undefined ? [] : ["Whose account"]), "From"]}
      rows={entries.map((entry) => [
        <Time at={entry.at} />,
        actionWords(entry),
        entry.actor === own ? "You" : entry.actor,
        ...whoseCell(entry),
        <span class="mono whole">{entry.client_address === "" ? "–" : entry.client_address}</span>,
      ])}
    />
  );
}

function Activity({ email }: { email: string }): VNode {
  const loading = useLoad<{ readonly entries: readonly AuditEntry[] }>("activity");
  return (
    <Sheet title="What happened in this account">
      <Shown loading={loading}>
        {({ entries }) =>
          entries.length === 0 ? (
            <p class="note">Every change shows up here, with who made it and from where.</p>
          ) : (
            <AuditTable entries={entries} own={email} />
          )
        }
      </Shown>
    </Sheet>
  );
}

function Data({ account: { email } }: { account: Account }): VNode {
  const erase = async (values: Values): Promise<void> => {
    await post("delete", values);
    go("./");
    await signedOut();
  };
  return (
    <Sheet title="Your data">
      <p class="prose">
        The export is one JSON file: the account, its keys without their secrets, use, credits,
        policies, hooks, webhook, and what happened in the account.
      </p>
      <div class="bar">
        <a class="button small" href="account/export" download>
          Export your data
        </a>
        <FormDialog
          act="Delete the account"
          class="small grave"
          title="Delete this account for good?"
          yes="Delete it"
          grave
          user={email}
          fields={[OWN_PASSWORD]}
          send={erase}
        >
          <p>
            Keys stop working, results and settings are erased, credits are lost. This cannot be
            undone.
          </p>
        </FormDialog>
      </div>
    </Sheet>
  );
}
