import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { HooksPage as State, Key, PolicyJson } from "../../http/account/shapes.ts";
import { post, remove } from "../lib/client.ts";
import { count } from "../lib/format.ts";
import { useLoad, usePolling } from "../lib/load.ts";
import { session } from "../lib/session.ts";
import { dropSecret, type MadeKey, showOnce, showSecret } from "../lib/state.ts";
import { Act } from "../parts/act.tsx";
import { Code } from "../parts/button.tsx";
import { type FieldSpec, Form, type FormValues, textField } from "../parts/form.tsx";
import { Mark, Time } from "../parts/marks.tsx";
import { GateTabs, Loaded, PageHead, Sheet, Shown } from "../parts/page.tsx";
import { More, Pairs } from "../parts/rows.tsx";
import { widgetOf } from "../words/samples.ts";
import type { MarkKind } from "../words/verdict.ts";
import { KEY_NAME, KeySheet, type KeysPage, ORIGINS, originsIn } from "./keys.tsx";

type ShownHook = State["hooks"][number];
type LastCall = NonNullable<ShownHook["last_call"]>;

export function Page(): VNode {
  const hooks = useLoad<State>("hooks");
  const list = useLoad<{ readonly policies: readonly PolicyJson[] }>("policies", 0).value;
  const names = new Set(["default", ...(list?.policies.map(({ name }) => name) ?? [])]);
  const policies = [...names].map((name) => [name, name] as const);
  const policy = { name: "policy", label: "Policy", choices: policies };
  const state = hooks.value;
  usePolling(state?.hooks.some(({ last_call: last }) => last === null) === true, hooks.reload);
  return (
    <>
      <PageHead
        title="Hooks and keys for pages"
        lead="Your identity system asks Gatepost before it creates a user, or your page asks by itself. When anything fails, the person is let through."
      >
        <Act
          {...{ act: "Create a key for a page", class: "", send: createKey }}
          fields={[KEY_NAME, ORIGINS, policy, ...PAGE_FIELDS]}
        />
        <Act
          {...{ act: "Create a hook", class: "main", send: createHook }}
          fields={hookFields(state?.systems ?? [], policy)}
        />
      </PageHead>
      <GateTabs />
      <Shown loading={hooks} lines={5}>
        {({ hooks: all, systems }) =>
          all.length === 0 ? NONE : all.map((hook) => hookSheet(hook, systems))
        }
      </Shown>
      <Loaded path="keys">
        {({ keys }: KeysPage) => (
          <KeySheet
            {...{ title: "Publishable keys", more: terms }}
            keys={keys.filter(({ origins }) => origins !== undefined)}
          >
            A publishable key may stand in a web page: it asks for decisions only, from your own
            addresses only.
          </KeySheet>
        )}
      </Loaded>
    </>
  );
}

async function createHook({ jwks_url: url, ...order }: FormValues): Promise<void> {
  const body = order["system"] === WITH_KEYS ? { ...order, jwks_url: url?.trim() } : order;
  type Made = { readonly id: string; readonly secret: string | null };
  const { id, secret: value } = await post<Made>("hooks", body);
  if (value !== null) showOnce({ id, title: HOOK_SECRET, value });
}

const HOOK_SECRET = "The hook's secret";

async function createKey(values: FormValues): Promise<void> {
  const { daily, form, name, policy } = values;
  const more = { ...(form !== "" && { form }), ...(daily !== "" && { daily: Number(daily) }) };
  const body = { name, policy, origins: originsIn(values), ...more };
  const { id, api_key: value } = await post<MadeKey>("keys", body);
  const guard = (
    <Sheet title="Guard a form of your page">
      <p class="prose">
        The widget asks when the address changes, shows the message beside the field and adds a
        signed token as <code>gatepost-token</code>. When the service does not answer, the form
        works as before. Your server verifies the token with the <a href="settings">token secret</a>
        .
      </p>
      <Code what="HTML" text={widgetOf(session.value.public_url, value)} />
    </Sheet>
  );
  const words = "It is no secret: it stands in your page. The whole of it is shown here once.";
  showOnce({ id, title: "Your new publishable key", value, words, more: guard });
}

const terms = ({ origins = [], policy, form, daily }: Key): string =>
  [
    origins.join(", "),
    `policy ${policy ?? "default"}`,
    ...(form === undefined ? [] : [`form “${form}”`]),
    `${count(daily ?? 2_000)} decisions a day`,
  ].join("; ");

const PAGE_FIELDS: readonly FieldSpec[] = [
  textField("form", "Form", "A label for counts and tokens. It may be empty.", { maxLength: 64 }),
  textField(
    "daily",
    "Decisions a day",
    "Beyond them, format, lists and rules decide without DNS. Empty means 2,000.",
    { type: "number", min: 1, step: 1 },
  ),
];

/** This system signs with a key of its own, which has an address. */
const WITH_KEYS = "neon";

const hookFields = (systems: State["systems"], policy: FieldSpec): readonly FieldSpec[] => [
  { name: "system", label: "Identity system", choices: systems.map(({ id, name }) => [id, name]) },
  policy,
  {
    name: "challenge",
    label: "When the policy says “ask again” or “review”",
    choices: [
      ["accept", "Accept the person"],
      ["reject", "Refuse the person"],
    ],
  },
  {
    name: "jwks_url",
    label: "Address of its public keys",
    hint: "The JWKS address that the system names. It must start with https.",
    input: { type: "url", class: "mono", required: true, maxLength: 600 },
    when: ({ system }) => system === WITH_KEYS,
  },
];

const NONE = (
  <Sheet title="No hooks yet">
    <p class="prose">
      Create one for Supabase, Kratos, ZITADEL, FusionAuth, Neon or any system that signs by
      Standard Webhooks. You get an address and a secret to enter there.
    </p>
  </Sheet>
);

const OUTCOMES: Readonly<Record<LastCall["outcome"], readonly [mark: MarkKind, words: string]>> = {
  accepted: ["yes", "Accepted"],
  refused: ["yes", "Refused by the policy"],
  failed_open: ["unsure", "Let through after a fault"],
  late: ["unsure", "Answered after the caller had left"],
  unread: ["no", "Let through: no address could be read"],
  unauthenticated: ["no", "Wrong signature or secret"],
};

function light({ last_call: last }: ShownHook): VNode {
  if (last === null) return <Mark mark="quiet" words="Waiting for the first call" />;
  const [mark, words] = OUTCOMES[last.outcome];
  return <Mark mark={mark} words={mark === "yes" ? "Answers" : words} />;
}

const callWords = ({ outcome, at, why }: LastCall): VNode => (
  <>
    {OUTCOMES[outcome][1]}, <Time at={at} /> <span class="note break">{why}</span>
  </>
);

function hookSheet(hook: ShownHook, systems: State["systems"]): VNode {
  const { id, calls, last_call: last, last_failure: failure } = hook;
  const of = systems.find((system) => system.id === hook.system)?.name ?? hook.system;
  return (
    <Sheet key={id} title={of} aside={light(hook)}>
      <Pairs
        rows={[
          ["Address", <span class="mono">{hook.url}</span>],
          [
            "Policy",
            `${hook.policy}; “ask again” and “review” are ${hook.challenge === "reject" ? "refused" : "accepted"}`,
          ],
          [
            "Last 30 days",
            `${count(calls.accepted)} accepted, ${count(calls.refused)} refused, ${count(calls.failed_open)} let through after a fault, ${count(calls.unauthenticated)} with a wrong signature`,
          ],
          last !== null && ["Last call", callWords(last)],
          failure !== null && ["Last failure", callWords(failure)],
        ]}
      />
      <HookTest id={id} />
      <div class="bar">
        <Act
          {...{ act: "Make a new secret", of, class: "plain", title: "Make a new secret?" }}
          send={() => showSecret(`${HOOK_SECRET}, ${of}`, post(`hooks/${id}/secret`), id)}
        >
          Calls that are signed with the old secret are refused at once. Enter the new one in your
          identity system.
        </Act>
        <Act
          {...{ act: "Remove the hook", of, class: "plain grave", title: "Remove this hook?" }}
          send={() => remove(`hooks/${id}`).then(() => dropSecret(id))}
          said="The hook is removed."
        >
          <code class="break">{hook.url}</code> answers 404 within 5 seconds. Remove it from your
          identity system first.
        </Act>
      </div>
    </Sheet>
  );
}

const TEST_EMAIL: FieldSpec = {
  ...textField("email", "Address to test with", "A test costs 1 check and counts as a call.", {
    class: "mono",
    required: true,
    maxLength: 300,
  }),
  value: "jo@mailinator.com",
};

function HookTest({ id }: { id: string }): VNode {
  const [reply, setReply] = useState<{ readonly status: number; readonly body: string }>();
  const send = async ({ email = "" }: FormValues): Promise<void> =>
    setReply(await post(`hooks/${id}/test`, { email: email.trim() }));
  return (
    <More summary="Send a test">
      <Form keeps act="Send a test" fields={[TEST_EMAIL]} send={send} />
      <div aria-live="polite">
        {reply && <p class="note">The system would receive status {reply.status}.</p>}
        {reply?.body && <Code what="Answer of the hook" text={reply.body} />}
      </div>
    </More>
  );
}
