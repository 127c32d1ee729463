import type { ComponentChildren, VNode } from "preact";
import { type Decision, DECISIONS } from "../../core/policy/policy.ts";
import { capital, counted } from "../lib/format.ts";
import { say } from "../lib/state.ts";
import { Button, SignButton } from "../parts/button.tsx";
import { Options } from "../parts/form.tsx";
import { Chip, Mark, noted } from "../parts/marks.tsx";
import { Sheet } from "../parts/page.tsx";
import { Lines } from "../parts/rows.tsx";
import {
  conditionOf,
  CONDITIONS,
  DECISION,
  detailOf,
  type EditableRule,
  type PolicyDocument,
  ruleWords,
  same,
  valueOf,
} from "../words/policy.ts";

const RULES_MAX = 50;

const ADDED: EditableRule = { when: { disposable: true }, then: "reject" };

type OnDraft = (draft: PolicyDocument) => void;
type Hits = readonly (number | undefined)[];

interface RulesProps {
  shown: PolicyDocument;
  live: PolicyDocument;
  /** Of each rule of the live version, or of the one that is shown, in 30 days; behind them, of no rule. */
  hits: Hits;
  /** Absent: it can be read alone. */
  onDraft?: OnDraft | undefined;
  aside: ComponentChildren;
}

const timesOf = (hits: number | undefined): VNode => (
  <span class="note">{hits === undefined ? "… times" : counted(hits, "time")}</span>
);

export const Rules = ({ shown, live, hits, onDraft, aside }: RulesProps): VNode => (
  <Sheet title="Rules" aside={aside}>
    <p class="note">The first rule that fits decides. Counts are of 30 days.</p>
    {onDraft === undefined ? (
      <Lines
        rows={[...shown.rules, undefined].map((rule, at) => [
          noted(
            rule === undefined ? "Otherwise" : `${String(at + 1)}. If ${ruleWords(rule)}`,
            rule?.message?.["en"],
          ),
          <span class="bar">
            <Mark {...DECISION[rule?.then ?? shown.else]} />
            {timesOf(hits[at])}
          </span>,
        ])}
      />
    ) : (
      editedRules(shown, live, hits, onDraft)
    )}
  </Sheet>
);

function editedRules(draft: PolicyDocument, live: PolicyDocument, hits: Hits, onDraft: OnDraft) {
  const { rules } = draft;
  const put = (next: readonly EditableRule[]): void => onDraft({ ...draft, rules: next });
  const remove = (at: number): void => {
    put(rules.toSpliced(at, 1));
    say(`Rule ${String(at + 1)} is removed from the draft.`, async () => onDraft(draft));
  };
  const move = (at: number, by: number): void =>
    put(rules.toSpliced(at, 1).toSpliced(at + by, 0, ...rules.slice(at, at + 1)));
  return (
    <>
      <ol class="policy-rules">
        {rules.map((rule, at) => {
          const name = `rule ${String(at + 1)}`;
          const known = live.rules.findIndex((one) => same(one, rule));
          const change = (next: EditableRule): void => put(rules.toSpliced(at, 1, next));
          return (
            <li key={at}>
              <b>{at + 1}</b>
              <div class="bar">
                {whenSlots(name, rule, change)}
                {thenSlots(name, rule, change, known < 0 ? CHANGED : timesOf(hits[known]))}
              </div>
              <span class="moves">
                <SignButton
                  {...{ sign: "↑", label: `Move ${name} up`, disabled: at === 0 }}
                  onClick={() => move(at, -1)}
                />
                <SignButton
                  {...{ sign: "↓", label: `Move ${name} down`, disabled: at === rules.length - 1 }}
                  onClick={() => move(at, 1)}
                />
                <SignButton sign="×" label={`Remove ${name}`} onClick={() => remove(at)} />
              </span>
            </li>
          );
        })}
      </ol>
      <div class="bar otherwise">
        <span>Otherwise</span>
        {actionSlot("Otherwise", draft.else, (then) => onDraft({ ...draft, else: then }))}
        {timesOf(hits[live.rules.length])}
      </div>
      <Button
        {...{ act: "Add a rule", class: "", disabled: rules.length >= RULES_MAX }}
        onClick={() => put([...rules, ADDED])}
      />
    </>
  );
}

const CHANGED = <Chip mark="tip" words="Changed" />;

type ChangeRule = (rule: EditableRule) => void;

/** Gives a rule other conditions; its reason goes, because it belonged to the old ones. */
function under(rule: EditableRule, when: EditableRule["when"]): EditableRule {
  const { reason: _, ...others } = rule;
  return { ...others, when };
}

/** Each condition of the rule; all have to hold. One that was written by hand stays as it is. */
function whenSlots(name: string, rule: EditableRule, onChange: ChangeRule): readonly VNode[] {
  const entries = Object.entries(rule.when);
  const put = (next: typeof entries): void => onChange(under(rule, Object.fromEntries(next)));
  return entries.map(([fact, value], place) => {
    const number = String(place + 1);
    const label = capital(place === 0 ? name : `${name}, condition ${number}`);
    const known = conditionOf(fact, value);
    const choices = CONDITIONS.filter(
      (one) => one.fact === fact || !Object.hasOwn(rule.when, one.fact),
    );
    const words = choices.map((one) => [one.id, one.words] as const);
    const written = ruleWords({ when: { [fact]: value }, then: "accept" });
    const choose = (id: string): void => {
      const chosen = choices.find((one) => one.id === id);
      if (chosen) put(entries.toSpliced(place, 1, [chosen.fact, chosen.value]));
    };
    return (
      <span key={fact} class="bar">
        <span>{place === 0 ? "If" : "and"}</span>
        <Options
          {...{ class: "slot", label: `${label}: condition`, value: known?.id ?? "" }}
          onValue={choose}
          choices={known === undefined ? [["", written], ...words] : words}
        />
        {known !== undefined && known.kind !== "fixed" && (
          <input
            class="slot"
            aria-label={`${label}: value`}
            inputMode={known.kind === "texts" ? "text" : "numeric"}
            value={detailOf(value, known)}
            onChange={({ currentTarget: box }) =>
              put(entries.toSpliced(place, 1, [fact, valueOf(box.value, known)]))
            }
          />
        )}
        {entries.length > 1 && (
          <SignButton
            {...{ sign: "×", label: `Remove condition ${number} of ${name}` }}
            onClick={() => put(entries.toSpliced(place, 1))}
          />
        )}
      </span>
    );
  });
}

const actionSlot = (label: string, value: Decision, onValue: (next: Decision) => void): VNode => (
  <Options
    {...{ class: `slot ${DECISION[value].mark}`, label, value }}
    onValue={(next) => onValue(next as Decision)}
    choices={DECISIONS.map((one) => [one, DECISION[one].words])}
  />
);

function thenSlots(name: string, rule: EditableRule, onChange: ChangeRule, times: VNode): VNode {
  const label = capital(name);
  // Empty: the sentence that comes with Gatepost, in eight languages.
  const speak = (text: string): void => {
    const { message: _, ...plain } = rule;
    onChange(text.trim() === "" ? plain : { ...plain, message: { ...rule.message, en: text } });
  };
  const free = CONDITIONS.filter(({ fact }) => !Object.hasOwn(rule.when, fact));
  const added = free.find(({ id }) => id === "free") ?? free[0];
  return (
    <span class="bar then">
      <span>then</span>
      {actionSlot(`${label}: what to do`, rule.then, (then) => onChange({ ...rule, then }))}
      {rule.then !== "accept" && (
        <input
          class="said"
          aria-label={`${label}: text for the person`}
          placeholder="Standard text for the person"
          maxLength={300}
          value={rule.message?.["en"] ?? ""}
          onInput={(event) => speak(event.currentTarget.value)}
        />
      )}
      {times}
      {added && (
        <Button
          {...{ act: "and…", of: `in ${name}`, class: "small plain" }}
          onClick={() => onChange(under(rule, { ...rule.when, [added.fact]: added.value }))}
        />
      )}
    </span>
  );
}
