import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { prunedWords, sentenceFor } from "../../core/policy/sentence.ts";
import { type Decision, DECISIONS } from "../../core/policy/policy.ts";
import type {
  PolicyJson,
  PolicyTest,
  RuleCounts,
  SavedPolicy,
  ShadowReport,
} from "../../http/account/shapes.ts";
import { ApiFault, call, post, remove } from "../lib/client.ts";
import { type DraftState, type ShownPolicy, useDraft } from "../lib/draft.ts";
import { capital, count, joined, plural } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import { say } from "../lib/state.ts";
import { Act } from "../parts/act.tsx";
import { Button } from "../parts/button.tsx";
import { Legend, Split } from "../parts/chart.tsx";
import { Form, type FormValues, Options, textField, useChoice } from "../parts/form.tsx";
import { Chip, Mark, noted, Time } from "../parts/marks.tsx";
import { GateTabs, Loaded, PageHead, Sheet, Shown } from "../parts/page.tsx";
import { Lines, More, Pairs } from "../parts/rows.tsx";
import { reasonName } from "../words/names.ts";
import {
  type DecisionCounts,
  DECISION,
  inRules,
  mayRefuseMore,
  type PolicyDocument,
} from "../words/policy.ts";
import { Rules } from "./rule-editor.tsx";

const at = (name: string, rest = ""): string => `policies/${encodeURIComponent(name)}${rest}`;

/** A change or test of a policy: rules in the server's refusals have the number that the page shows. */
const order = <Reply,>(name: string, rest: string, body: object = {}): Promise<Reply> =>
  post<Reply>(at(name, rest), body).catch((error: unknown) => {
    if (!(error instanceof ApiFault)) throw error;
    throw new ApiFault(error.status, inRules(error.message));
  });

/** The choice of policies stands beside the title: it is there with it. */
const PENDING = { fault: "", isGone: false, reload: () => undefined };

export function Page(): VNode {
  const list = useLoad<{ readonly policies: readonly PolicyJson[] }>("policies");
  const [name, setName] = useState("default");
  const names = list.value?.policies.map((policy) => policy.name) ?? [];
  const loading = useLoad<ShownPolicy>(at(name));
  const isKnown = list.value !== undefined || list.fault !== "";
  return (
    <Shown loading={isKnown ? loading : PENDING} lines={8} heading="Gate">
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

function conflictNote({ conflict }: DraftState): VNode | null {
  if (conflict === undefined) return null;
  return (
    <p class="notice unsure" role="alert">
      <span>This draft was changed in another tab. Only one of the two can be kept.</span>
      <span class="bar">
        <Button act="Take the other one" onClick={conflict.take} />
        <Button act="Keep this one" onClick={conflict.keep} />
      </span>
    </p>
  );
}

function draftNote(
  live: number,
  { base, isChanged, conflict }: DraftState,
  onDiscard: () => void,
): VNode | null {
  if (!isChanged || conflict !== undefined) return null;
  return (
    <p class="notice">
      <span>Your draft is not live. It is kept in this browser. {overtaken(base, live)}</span>
      <Button act="Discard the draft" onClick={onDiscard} />
    </p>
  );
}

const overtaken = (base: number, live: number): string =>
  base === live
    ? ""
    : `It was made from version ${String(base)}; version ${String(live)} is live now.`;

interface EditorProps {
  policy: ShownPolicy;
  names: readonly string[];
  onName: (name: string) => void;
}

const SIDES = { draft: "Draft", live: "Live version", shadow: "Shadow version" } as const;
type Side = keyof typeof SIDES;

function Editor({ policy, names, onName }: EditorProps): VNode {
  const { name, document, live, shadow, versions } = policy;
  const state = useDraft(policy);
  const { draft, base, set } = state;
  const isReady = state.isChanged && state.conflict === undefined;
  const [side, choice] = useChoice(
    "Which rules",
    Object.entries(SIDES).filter(([one]) => one !== "shadow" || shadow !== null),
    "draft",
  );
  const running = useLoad<ShownPolicy>(at(name, `?version=${String(shadow ?? live)}`)).value;
  const shown = { draft, live: document, shadow: running?.document ?? document }[side as Side];
  const isShadow = side === "shadow" && shadow !== null;
  const hits = useHits(name, isShadow ? shadow : live, isShadow ? shown : document);
  const next = Math.max(0, ...versions.map(({ version }) => version)) + 1;
  const discard = (): void => {
    set(document);
    say("The draft is discarded.", async () => set(draft));
  };
  return (
    <>
      <PageHead title="Gate" lead={leadOf(policy)}>
        {names.length > 1 && (
          <Options
            {...{ label: "Which policy", class: "kind", value: name, onValue: onName }}
            choices={names.map((one) => [one, one])}
          />
        )}
        <Act
          {...{ act: "Run in shadow", class: "", disabled: !isReady }}
          send={() => order(name, "/shadow", { document: draft }).then(() => set(document))}
          said="The draft runs in the shadow of the live version. It decides nothing."
        />
        {liveButton(
          policy,
          `Publish ${String(next)}`,
          () => compareDraft(policy, draft, base),
          () => order(name, "", { document: draft }),
          !isReady,
        )}
      </PageHead>
      <GateTabs />
      {conflictNote(state)}
      {shadow !== null && effect(policy)}
      <Rules
        {...{ shown, live: document, hits, aside: choice }}
        onDraft={side === "draft" ? set : undefined}
      />
      {draftNote(live, state, discard)}
      <div class="two start">
        <div class="stack wide">
          <TryPolicy key={side} {...{ name, draft: shown }} of={SIDES[side as Side]} />
          {versionSheet(policy, set)}
        </div>
        <Messages draft={shown} reasons={policy.rule_reasons} />
      </div>
    </>
  );
}

function leadOf({ live, shadow, built_in: isBuiltIn }: ShownPolicy): string {
  const what = "What your form does with a new address.";
  if (shadow !== null) {
    return `${what} Version ${String(live)} is live; ${String(shadow)} runs in its shadow and decides nothing yet.`;
  }
  return isBuiltIn
    ? `${what} These rules come with Gatepost; change them and publish your own.`
    : `${what} Version ${String(live)} is live.`;
}

/** How often each rule of a version decided in 30 days, and behind them no rule; undefined until known. */
function useHits(
  name: string,
  version: number,
  { rules }: PolicyDocument,
): readonly (number | undefined)[] {
  const counts = useLoad<RuleCounts>(at(name, "/counts?days=30")).value?.counts;
  return [...rules.keys(), null].map((rule) => {
    const found = counts?.find((one) => one.version === version && one.rule === rule);
    return counts && (found?.count ?? 0);
  });
}

/** Why the draft is not published without a question: it may refuse more people, or another version came meanwhile. */
async function compareDraft(
  { name, document }: ShownPolicy,
  draft: PolicyDocument,
  base: number,
): Promise<string> {
  const { live } = await call<ShownPolicy>("GET", at(name));
  const old = overtaken(base, live);
  return mayRefuseMore(document, draft)
    ? `${old} This draft may refuse people whom the live version lets in. Run it in shadow first to see how many.`
    : old && `${old} That one stays among the versions.`;
}

interface DraftProps {
  name: string;
  draft: PolicyDocument;
}

const ENTRY = textField("entry", "Address", undefined, {
  class: "mono",
  placeholder: "name@domain",
  required: true,
  maxLength: 2_000,
});

function TryPolicy({ name, draft, of }: DraftProps & { of: string }): VNode {
  const [tried, setTried] = useState<PolicyTest>();
  const send = async ({ entry = "" }: FormValues): Promise<void> => {
    type Answer = { readonly results: readonly PolicyTest[] };
    const body = { document: draft, entries: [entry.trim()] };
    setTried((await order<Answer>(name, "/test", body)).results[0]);
  };
  return (
    <Sheet title="Try an address" aside={<Chip words={of} />}>
      <Form class="stack close" act="Try it for 1 check" keeps fields={[ENTRY]} send={send} />
      <div aria-live="polite">
        {tried && (
          <div class="bar">
            <Mark {...DECISION[tried.decision]} />
            <span class="note">
              {tried.rule === null ? "No rule fits." : `Rule ${String(tried.rule + 1)}:`}{" "}
              {reasonName(tried.reason)}
            </span>
          </div>
        )}
        {tried?.message && <p>“{tried.message}”</p>}
      </div>
    </Sheet>
  );
}

function versionSheet({ name, versions }: ShownPolicy, onUse: DraftState["set"]): VNode {
  const use = async (version: string): Promise<void> =>
    onUse((await call<ShownPolicy>("GET", at(name, `?version=${version}`))).document);
  return (
    <Sheet title="Versions">
      <Lines
        rows={versions.map(({ version, state, author, created_at: made }) => [
          noted(
            <b>{version}</b>,
            author ?? "comes with Gatepost",
            made && <Time words="," at={made} />,
          ),
          <span class="bar">
            {state !== "old" && (
              <Chip mark={state === "live" ? "yes" : ""} words={capital(state)} />
            )}
            {state !== "live" && (
              <Act act="Use as draft" of={String(version)} send={() => use(String(version))} />
            )}
          </span>,
        ])}
      />
      {name !== "default" && (
        <Act
          {...{ act: "Remove this policy", class: "small grave" }}
          send={() => remove(at(name)).then(() => location.reload())}
        >
          All versions of “{name}” go. Forms and hooks that name it are refused until you change
          them.
        </Act>
      )}
    </Sheet>
  );
}

/**
 * Makes a document live, and says how to take it back. It asks first when `why` says why more people might be refused.
 */
function liveButton(
  { name, document }: ShownPolicy,
  act: string,
  why: () => Promise<string>,
  send: () => Promise<SavedPolicy>,
  disabled = false,
): VNode {
  const asks = async () => {
    const words = await why();
    const title = words.includes("refuse")
      ? "Refuse more people?"
      : "Publish over a newer version?";
    return words === "" ? undefined : { title, words };
  };
  const makeLive = async (): Promise<void> => {
    const saved = await send();
    say(`Version ${String(saved.version)} is live${prunedWords(saved, "; ")}.`, () =>
      post(at(name), { document }),
    );
  };
  return <Act {...{ act, class: "main", disabled, asks, send: makeLive }} />;
}

const decisionBars = (sides: readonly (readonly [name: string, counts: DecisionCounts])[]) => (
  <>
    <Pairs
      rows={sides.map(([label, counts]) => [
        label,
        <Split
          label={label}
          parts={DECISIONS.map((one) => [DECISION[one].words, DECISION[one].colour, counts[one]])}
        />,
      ])}
    />
    <Legend
      parts={DECISIONS.map((one) => {
        const figures = new Set(sides.map(([, counts]) => count(counts[one])));
        return [`${DECISION[one].words} ${[...figures].join(" → ")}`, DECISION[one].colour];
      })}
    />
  </>
);

const turned = (was: Decision, becomes: Decision): string =>
  `${DECISION[was].words} → ${DECISION[becomes].words}`;

function sums({ pairs }: ShadowReport, side: "live" | "shadow"): DecisionCounts {
  const made: Record<Decision, number> = { accept: 0, challenge: 0, review: 0, reject: 0 };
  for (const pair of pairs) made[pair[side]] += pair.count;
  return made;
}

function effect(policy: ShownPolicy): VNode {
  const { name } = policy;
  const shadow = String(policy.shadow);
  const why = async (report: ShadowReport): Promise<string> => {
    if (report.total === 0) {
      const { document } = await call<ShownPolicy>("GET", at(name, `?version=${shadow}`));
      return mayRefuseMore(policy.document, document)
        ? "It has seen no sign-ups yet, and it may refuse people whom the live version lets in."
        : "";
    }
    const [was, becomes] = [sums(report, "live").reject, sums(report, "shadow").reject];
    return becomes > was
      ? `Of your ${count(report.total)} sign-ups it would have refused ${count(becomes)}, the live version ${count(was)}.`
      : "";
  };
  return (
    <section class="sheet stack">
      <Loaded path={at(name, "/shadow?days=30")} lines={4}>
        {(report: ShadowReport) => (
          <>
            {changedWords(report)}
            <div class="bar">
              {liveButton(
                policy,
                `Make ${shadow} live`,
                () => why(report),
                () => order(name, "/promote"),
              )}
              <Act
                {...{ act: `Discard ${shadow}`, class: "plain" }}
                send={() => remove(at(name, "/shadow"))}
                said={`Version ${shadow} no longer runs in the shadow.`}
                undo={() => post(at(name, "/shadow"), { version: policy.shadow })}
              />
            </div>
          </>
        )}
      </Loaded>
    </section>
  );
}

function changedWords(report: ShadowReport): VNode {
  const { pairs, live, shadow, total, changed, domains } = report;
  const version = String(shadow ?? 0);
  if (total === 0) return <h2 class="say">Version {version} has seen no sign-ups yet.</h2>;
  return (
    <>
      <h2 class="say">
        Version {version} would have changed {count(changed)} of your {count(total)} sign-ups.
      </h2>
      {decisionBars([
        [`${String(live)}, live`, sums(report, "live")],
        [`${version}, shadow`, sums(report, "shadow")],
      ])}
      <Pairs
        cells
        rows={pairs
          .filter((pair) => pair.live !== pair.shadow)
          .map((pair) => [turned(pair.live, pair.shadow), count(pair.count)])}
      />
      {domains.length > 0 && (
        <More summary="See the domains">
          <Lines
            rows={domains.map(({ domain, count: times, ...one }) => [
              <span class="mono">{domain}</span>,
              <span class="note">{`${turned(one.live, one.shadow)}, ${count(times)}`}</span>,
            ])}
          />
        </More>
      )}
    </>
  );
}

const languages = new Intl.DisplayNames("en", { type: "language" });

const LANGUAGES = ["en", "de", "fr", "es", "it", "pt", "nl", "pl"].map(
  (code) => [code, languages.of(code) ?? code] as const,
);

function Messages(props: { draft: PolicyDocument; reasons: readonly string[] }): VNode {
  const [language, choice] = useChoice("Language", LANGUAGES, "en");
  const said = (words: Readonly<Record<string, string>>): Map<string, string[]> => {
    const rules = new Map<string, string[]>();
    for (const [rule, { then, reason, message }] of props.draft.rules.entries()) {
      if (then === "accept") continue;
      const messages = message && new Map(Object.entries(message));
      const outcome = { decision: then, reason: reason ?? props.reasons[rule] ?? "" };
      const spoken = { language, meant: outcome.reason === "typo" ? "jo@gmail.com" : undefined };
      const all = { ...outcome, ...(messages && { messages }) };
      const sentence = sentenceFor(all, spoken, (use) => words[use]) ?? "";
      rules.set(sentence, [...(rules.get(sentence) ?? []), String(rule + 1)]);
    }
    return rules;
  };
  return (
    <Sheet title="What the person reads" aside={choice}>
      <Loaded path={`messages?language=${language}`} stamp={0} lines={8}>
        {(words: Readonly<Record<string, string>>) => (
          <Pairs
            rows={[...said(words)].map(([sentence, rules]) => [
              `${plural(rules.length, "Rule", "Rules")} ${joined(rules)}`,
              <span lang={language}>“{sentence}”</span>,
            ])}
          />
        )}
      </Loaded>
    </Sheet>
  );
}
