import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call, post } from "../lib/client.ts";
import { duration, exactTime, timeMs } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import { go } from "../lib/router.ts";
import { has, loadSession, session, signedOut } from "../lib/session.ts";
import type { Account, AuditEntry, Delivery, SignIn, WebhookState } from "../lib/shapes.ts";
import { announce, say, showOnce, told } from "../lib/state.ts";
import { Lines, LoadedSheet, PageHead, Pairs, Sheet, Shown, Table, Time } from "../parts/basic.tsx";
import {
  Act,
  Ask,
  Checks,
  Code,
  EMAIL,
  type FieldSpec,
  Form,
  NEW_PASSWORD,
  OWN_PASSWORD,
  textField,
  type Values,
} from "../parts/form.tsx";
import { actionWords, browserName, tierName } from "../words/names.ts";
import { VERIFY } from "../words/samples.ts";

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
  const { secret } = await post<Made>("token-secret");
  showOnce("Your token secret", secret);
  announce("New token secret made. It is shown once, at the top of the page.");
}

const TOKEN_SECRET = (
  <Sheet title="Token secret">
    <p class="prose">Your server verifies the tokens of your sign-up pages with this secret.</p>
    <div>
      <Ask act="Make a token secret" send={makeTokenSecret}>
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

/** One address that is told when a list is done, its log, and what arrives there. */
function WebhookSheet(): VNode {
  const log = useLoad<{ readonly deliveries: readonly Delivery[] }>("webhook/deliveries");
  return (
    <Shown loading={useLoad<WebhookState>("webhook")} lines={5}>
      {(state) => (
        <Sheet title="Webhook" aside={state.webhook === null ? undefined : TOOLS}>
          <p class="prose">
            When a list is done, a signed message goes to one address of yours. It is tried once;
            the list stays readable either way.
          </p>
          <WebhookForm key={state.webhook?.url ?? ""} {...state} />
          <details>
            <summary>How your server knows that a message is genuine</summary>
            <p class="prose">
              The header <code>X-Service-Signature</code> is the HMAC-SHA-256 of the raw body.
              Answer with a status of 2xx within 10 s, and do the work afterwards.
            </p>
            <Code what="Node" text={VERIFY} />
          </details>
          <h3>Messages of the last 7 days</h3>
          <Shown loading={log}>
            {({ deliveries }) =>
              deliveries.length === 0 ? (
                <p class="note">Nothing was sent.</p>
              ) : (
                <ul class="rows">{deliveries.map(deliveryRow)}</ul>
              )
            }
          </Shown>
        </Sheet>
      )}
    </Shown>
  );
}

const EVENT_WORDS: Readonly<Record<string, string>> = {
  "bulk.completed": "a list is done",
  "test.ping": "a test from this page",
};

const eventRows = (known: readonly string[]) =>
  known.map((name) => {
    const words = (
      <span>
        {EVENT_WORDS[name] ?? name} <code class="note">{name}</code>
      </span>
    );
    return [name, words] as const;
  });

interface Made {
  readonly secret: string | null;
}

const showSecret = ({ secret }: Made): void => showOnce("The signing secret", secret);

const WEBHOOK_URL = textField(
  "url",
  "Address",
  "A public address that starts with https. Redirects are not followed. Changing it makes a new secret.",
  {
    type: "url",
    class: "mono",
    required: true,
    maxLength: 2_000,
    placeholder: "https://hooks.example.com/gatepost",
  },
);

function WebhookForm({ known_events: known, webhook }: WebhookState): VNode {
  const [events, setEvents] = useState<readonly string[]>(webhook?.events ?? []);
  const save = async ({ url = "" }: Values): Promise<void> => {
    showSecret(await post<Made>("webhook", { url: url.trim(), events }));
    announce("Webhook saved.");
  };
  return (
    <Form
      keeps
      act="Save the webhook"
      fields={[{ ...WEBHOOK_URL, value: webhook?.url ?? "" }]}
      send={save}
    >
      <Checks legend="Tell me when" rows={eventRows(known)} chosen={events} onChosen={setEvents} />
      <span class="note">None chosen means all of them, also ones that come later.</span>
    </Form>
  );
}

const ping = (): Promise<void> =>
  told(post("webhook/ping"), "The test was sent. Its answer is in the log.");
const renew = async (): Promise<void> => showSecret(await post<Made>("webhook/secret"));
const remove = (): Promise<void> => told(call("DELETE", "webhook"), "Webhook removed.");

const TOOLS = (
  <>
    <Act act="Send a test" work={ping} />
    <Ask act="Make a new secret" class="small plain" send={renew}>
      The old one stops signing at once, also for messages that are already waiting. Your receiver
      refuses them until it knows the new one.
    </Ask>
    <Ask act="Remove it" class="small plain grave" title="Remove the webhook?" send={remove}>
      Nothing is sent any more, and messages that wait are dropped. The log stays for 7 days.
    </Ask>
  </>
);

function outcomeOf({ status, error }: Delivery): readonly [mark: string, words: string] {
  if (status !== null) return [error === null ? "yes" : "no", `Answered ${String(status)}`];
  return error === null ? ["", "On its way"] : ["no", "Not delivered"];
}

/** What was sent and what came back; a message that was not taken can be sent again. */
function deliveryRow(delivery: Delivery): VNode {
  const { id, event, status, error, response, session } = delivery;
  const [mark, words] = outcomeOf(delivery);
  const resend = (): Promise<void> => told(post(`webhook/deliveries/${id}/resend`), "Sent again.");
  return (
    <li key={id}>
      <div class="bar">
        <span class={`chip ${mark}`}>{words}</span>
        <code>{event}</code>
        <span class="note push">
          <Time at={delivery.attempted_at} />
          {delivery.duration_ms === null ? "" : `, ${duration(delivery.duration_ms)}`}
        </span>
        {session !== null && (status !== null || error !== null) ? (
          <Act act="Send again" of={id} work={resend} />
        ) : null}
      </div>
      {error === null ? null : <div class="note">{error}</div>}
      {response === null || response === "" ? null : (
        <details>
          <summary>Its answer</summary>
          <pre class="wrap">{response}</pre>
        </details>
      )}
    </li>
  );
}
