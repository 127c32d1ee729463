import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { messageFor } from "../../core/policy/messages.ts";
import { call, post } from "../lib/client.ts";
import { count } from "../lib/format.ts";
import { readyValue, useLoad } from "../lib/load.ts";
import { session } from "../lib/session.ts";
import type { BackTestReport, OutcomeReport, PolicyRow, PolicyTest } from "../lib/shapes.ts";
import { say } from "../lib/state.ts";
import { Lines, Mark, PageHead, Sheet, Shown, Time } from "../parts/basic.tsx";
import { Act, Ask, Confirm, Form, Options } from "../parts/form.tsx";
import { reasonName } from "../words/names.ts";
import { DECISION, mayRefuseMore, type PolicyDocument } from "../words/policy.ts";
import { asked, at, DecisionBars, Effect, GateTabs, makeLive, type Policy } from "./gate.tsx";
import { Rules } from "./rule-editor.tsx";

/** What a form does with a new address: one policy at a time, the default first. */
export function PolicyPage(): VNode {
  const list = useLoad<{ readonly policies: readonly PolicyRow[] }>("policies");
  const [name, setName] = useState("default");
  const loading = useLoad<Policy>(at(name));
  const [turn, setTurn] = useState(0);
  const changed = (): void => {
    setTurn(turn + 1);
    loading.reload();
    list.reload();
  };
  const names = readyValue(list)?.policies.map((policy) => policy.name) ?? [];
  return (
    <Shown loading={loading} lines={8}>
      {(policy) => (
        <Editor
          key={`${policy.name} ${String(policy.version)} ${String(policy.shadow)} ${String(turn)}`}
          {...{ policy, names }}
          onName={setName}
          onChange={changed}
        />
      )}
    </Shown>
  );
}

/** The draft of one policy, which survives leaving the page and the browser. */
function useDraft({ name, live, document }: Policy) {
  const place = `gatepost-draft ${session.value?.account?.id ?? ""} ${name}`;
  const [draft, setDraft] = useState(() => readDraft(place) ?? { base: live, document });
  const isChanged = useMemo(
    () => JSON.stringify(draft.document) !== JSON.stringify(document),
    [draft],
  );
  useEffect(() => {
    try {
      if (isChanged) localStorage.setItem(place, JSON.stringify(draft));
      else localStorage.removeItem(place);
    } catch {
      // Without storage it lasts until the page is left.
    }
  }, [draft]);
  const set = (next: PolicyDocument): void => setDraft({ base: draft.base, document: next });
  return { draft: draft.document, base: draft.base, isChanged, set };
}

function readDraft(place: string): { base: number; document: PolicyDocument } | undefined {
  try {
    return JSON.parse(localStorage.getItem(place) ?? "") as {
      base: number;
      document: PolicyDocument;
    };
  } catch {
    return undefined;
  }
}

interface EditorProps {
  policy: Policy;
  names: readonly string[];
  onName: (name: string) => void;
  onChange: () => void;
}

function Editor({ policy, names, onName, onChange }: EditorProps): VNode {
  const { draft, base, isChanged, set } = useDraft(policy);
  const runInShadow = async (): Promise<void> => {
    await asked(post(at(policy.name, "/shadow"), { document: draft }));
    set(policy.document);
    say("The draft runs in the shadow of the live version. It decides nothing.");
    onChange();
  };
  const discard = (): void => {
    const before = draft;
    set(policy.document);
    say("The draft is discarded.", async () => set(before));
  };
  return (
    <>
      <PageHead title="Gate" lead={leadOf(policy)}>
        {names.length < 2 ? null : (
          <Options
            label="Which policy"
            class="kind"
            value={policy.name}
            onValue={onName}
            choices={names.map((name) => [name, name])}
          />
        )}
        <Act act="Run in shadow" class="" disabled={!isChanged} work={runInShadow} />
        <Publish {...{ policy, draft, isChanged, onChange }} />
      </PageHead>
      <GateTabs />
      {policy.shadow === null ? null : <Effect policy={policy} onChange={onChange} />}
      <div class="two start">
        <div class="stack wide">
          <Rules draft={draft} live={policy} hits={useHits(policy)} onDraft={set} />
          {isChanged ? (
            <p class="notice">
              <span>
                Your draft is not live. It is kept in this browser.
                {base === policy.live
                  ? ""
                  : ` It was made from version ${String(base)}; version ${String(policy.live)} is live now.`}
              </span>
              <button type="button" class="small" onClick={discard}>
                Discard the draft
              </button>
            </p>
          ) : null}
          <BackTest name={policy.name} draft={draft} />
        </div>
        <div class="stack wide">
          <TryPolicy name={policy.name} draft={draft} />
          <Messages draft={draft} reasons={policy.rule_reasons} />
          <Versions policy={policy} onUse={set} />
        </div>
      </div>
    </>
  );
}

function leadOf({ live, shadow, built_in: isBuiltIn }: Policy): string {
  const what = "What your form does with a new address.";
  if (shadow !== null) {
    return `${what} Version ${String(live)} is live; ${String(shadow)} runs in its shadow and decides nothing yet.`;
  }
  return isBuiltIn
    ? `${what} These rules come with Gatepost; change them and publish your own.`
    : `${what} Version ${String(live)} is live.`;
}

/** How often each live rule's decision and reason were given in 30 days. */
function useHits({ document, rule_reasons: reasons }: Policy): readonly (number | undefined)[] {
  const counts = readyValue(useLoad<OutcomeReport>("outcomes?days=30"))?.reasons;
  return document.rules.map(({ then }, rule) => {
    const fits = ({ decision, reason }: OutcomeReport["reasons"][number]): boolean =>
      decision === then && reason === reasons[rule];
    return counts && (counts.find(fits)?.count ?? 0);
  });
}

/** Makes the draft the live version; asks first when it would or might refuse more people. */
function Publish(props: {
  policy: Policy;
  draft: PolicyDocument;
  isChanged: boolean;
  onChange: () => void;
}): VNode {
  const { policy, draft, isChanged, onChange } = props;
  const [question, setQuestion] = useState("");
  const isOperator = session.value?.account?.admin === true;
  const publish = (): Promise<void> =>
    makeLive(policy, () => post(at(policy.name), { document: draft }), onChange);
  const press = async (): Promise<void> => {
    const test = isOperator
      ? await asked(post<BackTestReport>(at(policy.name, "/back-test"), { document: draft }))
      : undefined;
    if (test !== undefined && test.draft.reject > test.live.reject) {
      setQuestion(
        `Of ${count(test.checks)} checks of all accounts on this server in the last 30 days, this draft would have refused ${count(test.draft.reject)}, the live version ${count(test.live.reject)}.`,
      );
    } else if (
      mayRefuseMore(policy.document, draft) &&
      (test === undefined || test.untestable.length > 0)
    ) {
      setQuestion(
        "This draft may refuse people whom the live version lets in. Run it in shadow first to see how many.",
      );
    } else await publish();
  };
  const next = Math.max(0, ...policy.versions.map(({ version }) => version)) + 1;
  const act = `Publish ${String(next)}`;
  return (
    <>
      <Act act={act} class="main" disabled={!isChanged} work={press} />
      {question === "" ? null : (
        <Confirm
          title="Refuse more people?"
          act={act}
          work={publish}
          onClose={() => setQuestion("")}
        >
          {question}
        </Confirm>
      )}
    </>
  );
}

/** The draft against what was checked on the whole server, which its operator alone may read. */
function BackTest({ name, draft }: { name: string; draft: PolicyDocument }): VNode | null {
  const [report, setReport] = useState<BackTestReport>();
  if (session.value?.account?.admin !== true) return null;
  const test = async (): Promise<void> =>
    setReport(await asked(post(at(name, "/back-test"), { document: draft, days: 30 })));
  return (
    <Sheet
      title="What the draft would have done"
      aside={<Act act="Test against 30 days" work={test} />}
    >
      <p class="note">
        Uses the domains that all accounts of this server checked in the last 30 days. You see it as
        the operator. Nothing is charged.
      </p>
      <div aria-live="polite">{report === undefined ? null : <Report report={report} />}</div>
    </Sheet>
  );
}

function Report({ report }: { report: BackTestReport }): VNode {
  const { checks, changed_checks: changed, live, draft, untestable } = report;
  return (
    <div class="stack close">
      <p>
        {checks === 0
          ? "No checks were counted in these days."
          : `${count(changed)} of ${count(checks)} checks of all accounts would have been decided otherwise.`}
      </p>
      {checks === 0 ? null : <DecisionBars names={["live", "draft"]} was={live} becomes={draft} />}
      {untestable.map(({ rule, facts }) => (
        <p key={rule} class="note">
          Rule {rule + 1} could not be tested: {facts.join(", ").replaceAll("_", " ")} is known of
          single sign-ups only.
        </p>
      ))}
      <Lines
        rows={report.changed
          .slice(0, 10)
          .map(({ domain, live: was, draft: becomes, checks: times }) => [
            <span class="mono">{domain}</span>,
            <span class="note">
              {DECISION[was].words} → {DECISION[becomes].words}, {count(times)}
            </span>,
          ])}
      />
    </div>
  );
}

/** One address against the draft, before it is published. */
function TryPolicy({ name, draft }: { name: string; draft: PolicyDocument }): VNode {
  const [tried, setTried] = useState<PolicyTest>();
  const send = async (values: Readonly<Record<string, string>>): Promise<void> => {
    const body = { document: draft, entries: [(values["entry"] ?? "").trim()] };
    type Answer = { readonly results: readonly PolicyTest[] };
    setTried((await asked(post<Answer>(at(name, "/test"), body))).results[0]);
  };
  return (
    <Sheet title="Try an address">
      <Form
        class="stack close"
        act="Try it for 1 check"
        keeps
        fields={[
          {
            name: "entry",
            label: "Address",
            input: { class: "mono", placeholder: "name@domain", required: true, maxLength: 2_000 },
          },
        ]}
        send={send}
      />
      <div aria-live="polite">
        {tried === undefined ? null : (
          <div class="stack close">
            <div class="bar">
              <Mark mark={DECISION[tried.decision].mark} words={DECISION[tried.decision].words} />
              <span class="note">
                {tried.rule === null ? "No rule fits." : `Rule ${String(tried.rule + 1)}:`}{" "}
                {reasonName(tried.reason)}
              </span>
            </div>
            {tried.message === undefined ? null : <p>“{tried.message}”</p>}
          </div>
        )}
      </div>
    </Sheet>
  );
}

const LANGUAGES = [
  ["en", "English"],
  ["de", "German"],
  ["fr", "French"],
  ["es", "Spanish"],
  ["it", "Italian"],
  ["pt", "Portuguese"],
  ["nl", "Dutch"],
  ["pl", "Polish"],
] as const;

/** What the person at the form reads, rule by rule, in their language. */
function Messages(props: { draft: PolicyDocument; reasons: readonly string[] }): VNode {
  const { draft, reasons } = props;
  const [language, setLanguage] = useState("en");
  const said = draft.rules.flatMap(({ then, reason, message }, rule) => {
    const messages = message && new Map(Object.entries(message));
    const outcome = { decision: then, reason: reason ?? reasons[rule] ?? "" };
    const spoken = { language, meant: outcome.reason === "typo" ? "jo@gmail.com" : undefined };
    const words = messageFor({ ...outcome, ...(messages && { messages }) }, spoken);
    return words === undefined ? [] : [[`Rule ${String(rule + 1)}`, `“${words}”`] as const];
  });
  return (
    <Sheet
      title="What the person reads"
      aside={
        <Options
          label="Language"
          class="kind"
          value={language}
          onValue={setLanguage}
          choices={LANGUAGES}
        />
      }
    >
      <dl class="pairs">
        {said.map(([rule, words]) => (
          <div key={rule}>
            <dt>{rule}</dt>
            <dd lang={language}>{words}</dd>
          </div>
        ))}
      </dl>
    </Sheet>
  );
}

/** Every version with its author; an old one may become the draft again. */
function Versions({
  policy,
  onUse,
}: {
  policy: Policy;
  onUse: (document: PolicyDocument) => void;
}): VNode {
  const use = async (version: number): Promise<void> =>
    onUse((await call<Policy>("GET", at(policy.name, `?version=${String(version)}`))).document);
  const remove = async (): Promise<void> => {
    await call("DELETE", at(policy.name));
    location.reload();
  };
  return (
    <Sheet title="Versions">
      <Lines
        rows={policy.versions.map(({ version, state, author, created_at: made }) => [
          <>
            <b>{version}</b>{" "}
            <span class="note">
              {author ?? "comes with Gatepost"}
              {made === null ? null : (
                <>
                  , <Time at={made} />
                </>
              )}
            </span>
          </>,
          state === "old" ? (
            <Act act="Use as draft" of={String(version)} work={() => use(version)} />
          ) : (
            <span class={state === "live" ? "chip yes" : "chip"}>
              {state === "live" ? "Live" : "Shadow"}
            </span>
          ),
        ])}
      />
      {policy.name === "default" ? null : (
        <div>
          <Ask
            act="Remove this policy"
            class="small grave"
            title={`Remove the policy “${policy.name}”?`}
            work={remove}
          >
            All its versions go. Forms and hooks that name it are refused until you change them.
          </Ask>
        </div>
      )}
    </Sheet>
  );
}
