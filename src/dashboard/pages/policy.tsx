import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { messageFor } from "../../core/policy/messages.ts";
import { call, post } from "../lib/client.ts";
import { count } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import { ownerId, session, store, stored } from "../lib/session.ts";
import type { BackTestReport, OutcomeReport, PolicyRow, PolicyTest } from "../lib/shapes.ts";
import { say } from "../lib/state.ts";
import { Lines, Mark, PageHead, Pairs, Sheet, Shown, Time } from "../parts/basic.tsx";
import { Act, Ask, Form, Options, textField, useChoice, type Values } from "../parts/form.tsx";
import { reasonName } from "../words/names.ts";
import { DECISION, mayRefuseMore, type PolicyDocument, same } from "../words/policy.ts";
import {
  asked,
  at,
  DecisionBars,
  Effect,
  GateTabs,
  MakeLive,
  type Policy,
  TurnedDomains,
} from "./gate.tsx";
import { Rules } from "./rule-editor.tsx";

/** What a form does with a new address: one policy at a time, the default first. */
export function PolicyPage(): VNode {
  const list = useLoad<{ readonly policies: readonly PolicyRow[] }>("policies");
  const [name, setName] = useState("default");
  const names = list.value?.policies.map((policy) => policy.name) ?? [];
  return (
    <Shown loading={useLoad<Policy>(at(name))} lines={8}>
      {(policy) => (
        <Editor
          key={`${policy.name} ${String(policy.version)} ${String(policy.shadow)}`}
          {...{ policy, names }}
          onName={setName}
        />
      )}
    </Shown>
  );
}

interface Draft {
  readonly base: number;
  readonly document: PolicyDocument;
}

/** The draft of one policy, which survives leaving the page and the browser. */
function useDraft({ name, live, document }: Policy) {
  const place = `gatepost-draft ${ownerId() ?? ""} ${name}`;
  const [draft, setDraft] = useState(() => readDraft(place) ?? { base: live, document });
  const isChanged = useMemo(() => !same(draft.document, document), [draft]);
  useEffect(() => store(place, isChanged ? JSON.stringify(draft) : null), [draft]);
  const set = (next: PolicyDocument): void => setDraft({ base: draft.base, document: next });
  return { draft: draft.document, base: draft.base, isChanged, set };
}

function readDraft(place: string): Draft | undefined {
  try {
    return JSON.parse(stored(place) ?? "") as Draft;
  } catch {
    return undefined;
  }
}

function Editor(props: {
  policy: Policy;
  names: readonly string[];
  onName: (name: string) => void;
}): VNode {
  const { policy, names, onName } = props;
  const { draft, base, isChanged, set } = useDraft(policy);
  const runInShadow = async (): Promise<void> => {
    await asked(post(at(policy.name, "/shadow"), { document: draft }));
    set(policy.document);
    say("The draft runs in the shadow of the live version. It decides nothing.");
  };
  const next = Math.max(0, ...policy.versions.map(({ version }) => version)) + 1;
  const discard = (): void => {
    set(policy.document);
    say("The draft is discarded.", async () => set(draft));
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
        <MakeLive
          policy={policy}
          act={`Publish ${String(next)}`}
          disabled={!isChanged}
          compare={() => compareDraft(policy, draft)}
          work={() => post(at(policy.name), { document: draft })}
        />
      </PageHead>
      <GateTabs />
      {policy.shadow === null ? null : <Effect policy={policy} />}
      <div class="two start">
        <div class="stack wide">
          <Rules draft={draft} live={policy} hits={useHits(policy)} onDraft={set} />
          {isChanged ? draftNotice(base, policy.live, discard) : null}
          {isOperator() ? <BackTest name={policy.name} draft={draft} /> : null}
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

const draftNotice = (base: number, live: number, discard: () => void): VNode => (
  <p class="notice">
    <span>
      Your draft is not live. It is kept in this browser.
      {base === live
        ? ""
        : ` It was made from version ${String(base)}; version ${String(live)} is live now.`}
    </span>
    <button type="button" class="small" onClick={discard}>
      Discard the draft
    </button>
  </p>
);

const isOperator = (): boolean => session.value?.account?.admin === true;

function leadOf({ live, shadow, built_in: isBuiltIn }: Policy): string {
  const what = "What your form does with a new address.";
  if (shadow !== null) {
    return `${what} Version ${String(live)} is live; ${String(shadow)} runs in its shadow and decides nothing yet.`;
  }
  return isBuiltIn
    ? `${what} These rules come with Gatepost; change them and publish your own.`
    : `${what} Version ${String(live)} is live.`;
}

/** How often each live rule's decision and reason were given in 30 days; undefined until known. */
function useHits({ document, rule_reasons: reasons }: Policy): readonly (number | undefined)[] {
  const counts = useLoad<OutcomeReport>("outcomes?days=30").value?.reasons;
  return document.rules.map(({ then }, rule) => {
    const fits = ({ decision, reason }: OutcomeReport["reasons"][number]): boolean =>
      decision === then && reason === reasons[rule];
    return counts && (counts.find(fits)?.count ?? 0);
  });
}

const backTest = (name: string, body: object): Promise<BackTestReport> =>
  asked(post<BackTestReport>(at(name, "/back-test"), body));

/** Why the draft would or might refuse more people than the live version; "" when it does not. */
async function compareDraft(policy: Policy, draft: PolicyDocument): Promise<string> {
  const test = isOperator() ? await backTest(policy.name, { document: draft }) : undefined;
  if (test !== undefined && test.draft.reject > test.live.reject) {
    return `Of ${count(test.checks)} checks of all accounts on this server in the last 30 days, this draft would have refused ${count(test.draft.reject)}, the live version ${count(test.live.reject)}.`;
  }
  const isUnknown = test === undefined || test.untestable.length > 0;
  return isUnknown && mayRefuseMore(policy.document, draft)
    ? "This draft may refuse people whom the live version lets in. Run it in shadow first to see how many."
    : "";
}

interface DraftProps {
  name: string;
  draft: PolicyDocument;
}

/** The draft against what was checked on the whole server, which its operator alone may read. */
function BackTest({ name, draft }: DraftProps): VNode {
  const [report, setReport] = useState<BackTestReport>();
  const test = async (): Promise<void> =>
    setReport(await backTest(name, { document: draft, days: 30 }));
  return (
    <Sheet
      title="What the draft would have done"
      aside={<Act act="Test against 30 days" work={test} />}
    >
      <p class="note">
        Uses the domains that all accounts of this server checked in the last 30 days. You see it as
        the operator. Nothing is charged.
      </p>
      <div aria-live="polite">{report && <Report {...report} />}</div>
    </Sheet>
  );
}

function Report(report: BackTestReport): VNode {
  const { checks, changed_checks: changed, live, draft, untestable } = report;
  if (checks === 0) return <p>No checks were counted in these days.</p>;
  return (
    <div class="stack close">
      <p>
        {count(changed)} of {count(checks)} checks of all accounts would have been decided
        otherwise.
      </p>
      <DecisionBars names={["live", "draft"]} was={live} becomes={draft} />
      {untestable.map(({ rule, facts }) => (
        <p key={rule} class="note">
          Rule {rule + 1} could not be tested: {facts.join(", ").replaceAll("_", " ")} is known of
          single sign-ups only.
        </p>
      ))}
      <TurnedDomains
        domains={report.changed
          .slice(0, 10)
          .map((one) => [one.domain, one.live, one.draft, one.checks])}
      />
    </div>
  );
}

const ENTRY = textField("entry", "Address", undefined, {
  class: "mono",
  placeholder: "name@domain",
  required: true,
  maxLength: 2_000,
});

/** One address against the draft, before it is published. */
function TryPolicy({ name, draft }: DraftProps): VNode {
  const [tried, setTried] = useState<PolicyTest>();
  const send = async ({ entry = "" }: Values): Promise<void> => {
    const body = { document: draft, entries: [entry.trim()] };
    type Answer = { readonly results: readonly PolicyTest[] };
    setTried((await asked(post<Answer>(at(name, "/test"), body))).results[0]);
  };
  return (
    <Sheet title="Try an address">
      <Form class="stack close" act="Try it for 1 check" keeps fields={[ENTRY]} send={send} />
      <div aria-live="polite">
        {tried && (
          <div class="stack close">
            <div class="bar">
              <Mark {...DECISION[tried.decision]} />
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

const languages = new Intl.DisplayNames("en", { type: "language" });

const LANGUAGES = ["en", "de", "fr", "es", "it", "pt", "nl", "pl"].map(
  (code) => [code, languages.of(code) ?? code] as const,
);

/** What the person at the form reads, rule by rule, in their language. */
function Messages(props: { draft: PolicyDocument; reasons: readonly string[] }): VNode {
  const [language, choice] = useChoice("Language", LANGUAGES, "en");
  const said = props.draft.rules.flatMap(({ then, reason, message }, rule) => {
    const messages = message && new Map(Object.entries(message));
    const outcome = { decision: then, reason: reason ?? props.reasons[rule] ?? "" };
    const spoken = { language, meant: outcome.reason === "typo" ? "jo@gmail.com" : undefined };
    const words = messageFor({ ...outcome, ...(messages && { messages }) }, spoken);
    const quoted = <span lang={language}>“{words}”</span>;
    return words === undefined ? [] : [[`Rule ${String(rule + 1)}`, quoted] as const];
  });
  return (
    <Sheet title="What the person reads" aside={choice}>
      <Pairs rows={said} />
    </Sheet>
  );
}

function Versions(props: { policy: Policy; onUse: (document: PolicyDocument) => void }): VNode {
  const { name, versions } = props.policy;
  const use = async (version: number): Promise<void> =>
    props.onUse((await call<Policy>("GET", at(name, `?version=${String(version)}`))).document);
  const remove = async (): Promise<void> => {
    await call("DELETE", at(name));
    location.reload();
  };
  return (
    <Sheet title="Versions">
      <Lines
        rows={versions.map(({ version, state, author, created_at: made }) => [
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
      {name === "default" ? null : (
        <div>
          <Ask
            act="Remove this policy"
            class="small grave"
            title={`Remove the policy “${name}”?`}
            send={remove}
          >
            All its versions go. Forms and hooks that name it are refused until you change them.
          </Ask>
        </div>
      )}
    </Sheet>
  );
}
