import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type {
  AccountJson,
  AuditEntry,
  DeliveryJson,
  SecondFactorSetUp,
  SignInJson,
  WatchState,
  WebhookState,
} from "../../http/account/shapes.ts";
import { post, remove } from "../lib/client.ts";
import { count, counted, duration, exactTime, plural, timeMs } from "../lib/format.ts";
import { go } from "../lib/router.ts";
import { loadSession, session, signedOut } from "../lib/session.ts";
import { say, showOnce, showSecret } from "../lib/state.ts";
import { Act } from "../parts/act.tsx";
import {
  Checks,
  EMAIL,
  Form,
  type FormValues,
  newPassword,
  OWN_PASSWORD,
  textField,
} from "../parts/form.tsx";
import { Chip, noted, Time } from "../parts/marks.tsx";
import { Loaded, LoadedSheet, PageHead, Sheet } from "../parts/page.tsx";
import { Lines, LinesSheet, More, type NamedValue, Pairs, Table } from "../parts/rows.tsx";
import { actionWords, browserName, tierName } from "../words/names.ts";

export function Page(): VNode | null {
  const account = session.value.account;
  if (account === undefined) return null;
  return (
    <>
      <PageHead title="Settings" />
      <div class="even">
        <Who {...account} />
        <LoadedSheet title="Where you are signed in" path="sessions">
          {sessionLines}
        </LoadedSheet>
      </div>
      <LoadedSheet title="Webhook" path="webhook" lines={5}>
        {webhookParts}
      </LoadedSheet>
      <div class="even">
        <LinesSheet
          title="What your decisions leave behind"
          rows={SWITCHES.map((row) => switchRow(account, row))}
        />
        <Sheet title="Token secret">
          <p class="prose">
            Your server verifies the tokens of your sign-up pages with this secret.
          </p>
          <Act
            act="Make a token secret"
            send={() => showSecret("Your token secret", post("token-secret"))}
          >
            The old one ends at once. Tokens are not accepted until your server knows the new one.
          </Act>
        </Sheet>
      </div>
      <LoadedSheet title="Watched domains" path="watch">
        {watchLines}
      </LoadedSheet>
      <AuditSheet
        title="What happened in this account"
        path="activity"
        own={account.email}
        none="Every change shows up here, with who made it and from where."
      />
      {DATA}
    </>
  );
}

const watchLines = ({ domains, changes }: WatchState): VNode => (
  <>
    <p class="prose">
      {domains === 0
        ? "No domain of your users is watched."
        : `${counted(domains, "domain")} of your users ${plural(domains, "is", "are")} asked once a day.`}{" "}
      Your server names them by <code>/api/watch</code>.
    </p>
    <Lines
      none="Nothing changed yet."
      rows={changes.map(({ domain, kind, at }) => [
        noted(
          <span class="mono">{domain}</span>,
          EVENT_WORDS[kind]?.replace("a watched domain ", ""),
        ),
        <Time at={at} />,
      ])}
    />
    {domains > 0 && (
      <Act
        {...{ act: "Watch none any more", class: "small plain", title: "Watch none any more?" }}
        send={() => remove("watch")}
        said="No domain is watched."
      >
        What is known of the domains is deleted.
      </Act>
    )}
  </>
);

const DATA = (
  <Sheet title="Your data">
    <p class="prose">
      The export is one JSON file: the account, its keys without their secrets, use, credits,
      policies, hooks, webhook, and what happened in the account.
    </p>
    <div class="bar">
      <a class="button small" href="account/export" download>
        Export your data
      </a>
      <Act
        {...{ act: "Delete the account", class: "small grave", grave: true }}
        {...{ title: "Delete this account for good?", yes: "Delete it" }}
        fields={[OWN_PASSWORD]}
        send={erase}
      >
        Keys stop working, results and settings are erased, credits are lost. This cannot be undone.
      </Act>
    </div>
  </Sheet>
);

const CURRENT = { ...OWN_PASSWORD, label: "Current password" };

async function erase(values: FormValues): Promise<void> {
  await post("delete", values);
  go("./");
  await signedOut();
}

async function removeFactor(values: FormValues): Promise<void> {
  await post("second-factor/remove", values);
  await loadSession();
  say("The second factor is removed.");
}

const FIRST_CODE = {
  ...textField("code", "Code that the app shows now"),
  input: { autocomplete: "one-time-code", inputMode: "numeric", required: true },
} as const;

/** The secret, and below it the question for the first code: only that switches it on. */
async function beginFactor(values: FormValues): Promise<void> {
  const id = "second factor"; // the codes take the place of the secret
  const { secret, uri, set_up } = await post<SecondFactorSetUp>("second-factor", values);
  const finish = async ({ code }: FormValues): Promise<void> => {
    const { codes } = await post<{ codes: string[] }>("second-factor/finish", { set_up, code });
    await loadSession();
    const words =
      "The second factor is on. Each code signs in once without the app. Keep them apart from it: they are shown this once.";
    showOnce({ id, title: "Your recovery codes", value: codes.join(" "), words });
  };
  const more = (
    <div class="sheet stack">
      <p>
        On the phone itself, <a href={uri}>open it in the app</a>.
      </p>
      <Form act="Switch it on" fields={[FIRST_CODE]} send={finish} />
    </div>
  );
  const value = secret.replace(/.{4}(?=.)/g, "$& ");
  const words =
    "Add an account to the app with this secret. It is on once you gave the first code below.";
  showOnce({ id, title: "The secret for your authenticator app", value, words, more });
}

const Who = ({ email, second_factor: isGuarded, ...account }: AccountJson): VNode => (
  <Sheet title="Your account">
    <Pairs
      rows={[
        ["Email address", email],
        ["Plan", [tierName(account.tier), " · ", <a href="usage">see usage</a>]],
        ["Account", <span class="mono">{account.id}</span>],
        ["Made", exactTime(timeMs(account.created_at))],
        ["Second factor", isGuarded ? "On: signing in asks for a code" : "Off"],
      ]}
    />
    <div class="bar">
      <Act
        act="Ask for another address"
        fields={[{ ...EMAIL, label: "New email address" }, CURRENT]}
        send={(values) => post("email", values)}
        said="Your request is in the activity log. An administrator gives you the address, or tells you why not."
      >
        An administrator decides. Until then you sign in with {email}.
      </Act>
      <Act
        act="Change the password"
        fields={[CURRENT, newPassword("New password")]}
        send={({ password, ...more }) => post("password", { ...more, new_password: password })}
        said="Your password is changed. All other browsers are signed out."
      />
      <Act
        act={isGuarded ? "Remove the second factor" : "Set up a second factor"}
        fields={[CURRENT]}
        send={isGuarded ? removeFactor : beginFactor}
      >
        {isGuarded
          ? "Your password alone signs in then, and the recovery codes end."
          : "Signing in then asks for a code of an authenticator app, beside your password. API keys work as before."}
      </Act>
    </div>
  </Sheet>
);

const sessionLines = ({ sessions }: { readonly sessions: readonly SignInJson[] }): VNode => (
  <>
    <Lines rows={sessions.map(sessionRow)} />
    {sessions.length > 1 && (
      <Act
        act="Sign out everywhere else"
        send={() => remove("sessions")}
        said="Signed out everywhere else."
      />
    )}
  </>
);

function sessionRow(known: SignInJson): NamedValue {
  const of = browserName(known.user_agent);
  return [
    noted(
      of,
      `From ${known.client_address}, `,
      <Time words="signed in" at={known.created_at} />,
      <Time words=", last seen" at={known.last_seen_at} />,
    ),
    known.current ? (
      <Chip words="This browser" />
    ) : (
      <Act
        {...{ act: "Sign out", said: "Signed out there." }}
        of={`${of}, signed in ${exactTime(timeMs(known.created_at))}`}
        send={() => remove(`sessions/${known.id}`)}
      />
    ),
  ];
}

const SWITCHES = [
  [
    "Traffic",
    "traffic",
    "counts_traffic",
    "how many addresses came from each domain, and under how many spellings each mailbox came. Your rules can ask for it. Only keyed hashes are kept.",
  ],
  [
    "Decision log",
    "decision-log",
    "logs_decisions",
    "the last 7 days or 10,000 decisions with their reason and domain, to be read and reported. No address is kept.",
  ],
] as const;

function switchRow(
  account: AccountJson,
  [of, path, flag, words]: (typeof SWITCHES)[number],
): NamedValue {
  const isOn = account[flag];
  const send = () => post(path, { state: isOn ? "off" : "on" }).then(loadSession);
  return [
    [<b key="of">{of}</b>, ": ", words],
    <Act
      {...{ act: isOn ? "Switch off" : "Switch on", of, send }}
      said={isOn ? `${of} is off, and what was kept is deleted.` : `${of} is on.`}
    >
      {isOn && "What was kept is deleted at once. It begins anew when you switch it on again."}
    </Act>,
  ];
}

const webhookParts = (state: WebhookState): VNode => (
  <>
    <p class="prose">
      When a list is done, a signed message goes to one address of yours. It is tried once; the list
      stays readable either way.
    </p>
    <div class="even">
      <div class="stack">
        <WebhookForm key={state.webhook?.url ?? ""} {...state} />
        {state.webhook && <div class="bar">{TOOLS}</div>}
      </div>
      <div class="stack">
        <h3>Messages of the last 7 days</h3>
        <Loaded path="webhook/deliveries">
          {({ deliveries }: { readonly deliveries: readonly DeliveryJson[] }) => (
            <Lines none="Nothing was sent." rows={deliveries.map(deliveryRow)} />
          )}
        </Loaded>
      </div>
    </div>
  </>
);

const SIGNING_SECRET = "The signing secret";

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

const EVENT_WORDS: Readonly<Record<string, string>> = {
  "bulk.completed": "a list is done",
  "gate.wave": "far more messages than usual go to new mailboxes",
  "gate.alert": "sign-ups show a farm, a flood or people to look at, and when it ends",
  "service.health": "a part of the service breaks or is mended (administrators)",
  "domain.dead": "a watched domain takes no mail for seven days",
  "domain.back": "a watched domain takes mail again",
  "domain.changed_hands": "a watched domain is registered anew",
  "domain.disposable": "a watched domain is on a list of disposable domains",
  "test.ping": "a test from this page",
};

function WebhookForm({ known_events: known, webhook }: WebhookState): VNode {
  const [chosen, setChosen] = useState<readonly string[]>(webhook?.events ?? []);
  const rows = known.map((name) => {
    const code = <code class="note">{name}</code>;
    return [name, <span>{[EVENT_WORDS[name] ?? name, " ", code]}</span>] as const;
  });
  return (
    <>
      <Form
        keeps
        act="Save the webhook"
        fields={[{ ...WEBHOOK_URL, value: webhook?.url ?? "" }]}
        send={({ url = "" }) =>
          showSecret(SIGNING_SECRET, post("webhook", { url: url.trim(), events: chosen }))
        }
        said="The webhook is saved."
      />
      <More
        summary={
          chosen.length === 0
            ? "Tells you everything"
            : `Tells you ${count(chosen.length)} of ${count(rows.length)} kinds`
        }
      >
        <Checks legend="Tell me when" {...{ rows, chosen }} onChosen={setChosen} />
        <span class="note">
          None chosen means all of them, also ones that come later. “Save the webhook” saves the
          choice.
        </span>
      </More>
    </>
  );
}

const TOOLS = (
  <>
    <Act
      act="Send a test"
      send={() => post("webhook/ping")}
      said="The test was sent. Its answer is in the log."
    />
    <Act
      {...{ act: "Make a new secret", class: "small plain" }}
      send={() => showSecret(SIGNING_SECRET, post("webhook/secret"))}
    >
      The old one stops signing at once, also for messages that are already waiting. Your receiver
      refuses them until it knows the new one.
    </Act>
    <Act
      {...{ act: "Remove the webhook", class: "small plain grave" }}
      send={() => remove("webhook")}
      said="The webhook is removed."
    >
      Nothing is sent any more, and messages that wait are dropped. The log stays for 7 days.
    </Act>
  </>
);

function outcomeOf({ status, error }: DeliveryJson) {
  if (status !== null)
    return { mark: error === null ? "yes" : "no", words: `Answered ${String(status)}` } as const;
  if (error === null) return { words: "On its way" };
  return { mark: "no", words: "Not delivered" } as const;
}

function deliveryRow(delivery: DeliveryJson): NamedValue {
  const { id, event, status, error, response, session, duration_ms: ms } = delivery;
  return [
    noted(
      [<Chip key="mark" {...outcomeOf(delivery)} />, " ", <code key="event">{event}</code>],
      <Time at={delivery.attempted_at} />,
      ms === null ? "" : `, ${duration(ms)}`,
      error && `: ${error}`,
      response && (
        <More summary="Its answer">
          <pre>{response}</pre>
        </More>
      ),
    ),
    session !== null && (status !== null || error !== null) && (
      <Act
        {...{ act: "Send again", said: "Sent again." }}
        of={`the message of ${exactTime(timeMs(delivery.attempted_at))}`}
        send={() => post(`webhook/deliveries/${id}/resend`)}
      />
    ),
  ];
}

interface AuditProps {
  title: string;
  path: string;
  none: string;
  whose?: true;
  own?: string;
}

/** Who changed what, when and from where; with `whose`, in which account. `own` is "You". */
export const AuditSheet = ({ title, path, none, whose, own }: AuditProps): VNode => (
  <LoadedSheet {...{ title, path }}>
    {({ entries }: { readonly entries: readonly AuditEntry[] }) => (
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
          <span class="mono whole">{entry.client_address || "–"}</span>,
        ])}
      />
    )}
  </LoadedSheet>
);
