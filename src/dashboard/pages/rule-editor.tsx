import type { ComponentChildren, VNode } from "preact";
import { capital, counted } from "../lib/format.ts";
import { say } from "../lib/state.ts";
import { Button } from "../parts/button.tsx";
import { Options } from "../parts/form.tsx";
import { Chip, Mark, noted } from "../parts/marks.tsx";
import { Sheet } from "../parts/page.tsx";
import { Lines } from "../parts/rows.tsx";
import {
  type EditableCondition,
  conditionOf,
  CONDITIONS,
  DECISION,
  type ShownDecision,
  DECISIONS,
  detailOf,
  type PolicyDocument,
  type EditableRule,
  ruleWords,
  same,
  valueOf,
} from "../words/policy.ts";

const RULES_MAX = 50;

/** A new rule begins as the most frequent one. */
const ADDED: EditableRule = { when: { disposable: true }, then: "reject" };

interface RulesProps {
  shown: PolicyDocument;
  live: PolicyDocument;
  /** Of each rule of the live version, or of the one that is shown, in 30 days; behind them, of no rule. */
  hits: readonly (number | undefined)[];
  /** Absent: it can be read alone. */
  onDraft?: ((draft: PolicyDocument) => void) | undefined;
  aside: ComponentChildren;
}

const timesOf = (hits: number | undefined): string =>
  hits === undefined ? "… times" : counted(hits, "time");

export const Rules = ({ onDraft, aside, ...props }: RulesProps): VNode => (
  <Sheet title="Rules" aside={aside}>
    <p class="note">The first rule that fits decides. Counts are of 30 days.</p>
    {onDraft === undefined ? (
      <ReadRules {...props} />
    ) : (
      <EditRules {...props} draft={props.shown} onDraft={onDraft} />
    )}
  </Sheet>
);

const ReadRules = ({ shown, hits }: Pick<RulesProps, "shown" | "hits">): VNode => (
  <Lines
    rows={[...shown.rules, undefined].map((rule, at) => [
      noted(
        rule === undefined ? "Otherwise" : `${String(at + 1)}. If ${ruleWords(rule)}`,
        rule?.message?.["en"],
      ),
      <span class="bar">
        <Mark {...DECISION[rule?.then ?? shown.else]} />
        <span class="note">{timesOf(hits[at])}</span>
      </span>,
    ])}
  />
);

interface EditProps extends Pick<RulesProps, "live" | "hits"> {
  draft: PolicyDocument;
  onDraft: (draft: PolicyDocument) => void;
}

function EditRules({ draft, live, hits, onDraft }: EditProps): VNode {
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
                {thenSlots(name, rule, change, known < 0 ? "changed" : hits[known])}
              </div>
              <span class="moves">
                {small(`Move ${name} up`, "↑", () => move(at, -1), at === 0)}
                {small(`Move ${name} down`, "↓", () => move(at, 1), at === rules.length - 1)}
                {small(`Remove ${name}`, "×", () => remove(at))}
              </span>
            </li>
          );
        })}
      </ol>
      <div class="bar otherwise">
        <span>Otherwise</span>
        {actionSlot("Otherwise", draft.else, (then) => onDraft({ ...draft, else: then }))}
        <span class="note">{timesOf(hits[live.rules.length])}</span>
      </div>
      <Button
        act="Add a rule"
        class=""
        disabled={rules.length >= RULES_MAX}
        onClick={() => put([...rules, ADDED])}
      />
    </>
  );
}

const small = (label: string, sign: string, work: () => void, isOff = false): VNode => (
  <button type="button" class="small plain" disabled={isOff} aria-label={label} onClick={work}>
    {sign}
  </button>
);

type ChangeRule = (rule: EditableRule) => void;

/** Each condition of the rule; all have to hold. One that was written by hand stays as it is. */
function whenSlots(name: string, rule: EditableRule, onChange: ChangeRule): readonly VNode[] {
  const entries = Object.entries(rule.when);
  // A rule whose conditions changed gives the reason that belongs to them.
  const put = (next: typeof entries): void => {
    const { reason: _, ...others } = rule;
    onChange({ ...others, when: Object.fromEntries(next) });
  };
  const free = freeOf(rule);
  return entries.map((entry, place) => {
    const number = String(place + 1);
    const label = capital(place === 0 ? name : `${name}, condition ${number}`);
    const drop = (): void => put(entries.toSpliced(place, 1));
    return (
      <span key={entry[0]} class="bar">
        <span>{place === 0 ? "If" : "and"}</span>
        {slot(label, entry, free, (...next) => put(entries.toSpliced(place, 1, next)))}
        {entries.length > 1 ? small(`Remove condition ${number} of ${name}`, "×", drop) : null}
      </span>
    );
  });
}

const freeOf = ({ when }: EditableRule): readonly EditableCondition[] =>
  CONDITIONS.filter(({ fact }) => !Object.hasOwn(when, fact));

type ConditionEntry = [fact: string, value: unknown];

/** A condition and its value. `free`: those that the rule may have instead. */
function slot(
  label: string,
  [fact, value]: ConditionEntry,
  free: readonly EditableCondition[],
  onValue: (...next: ConditionEntry) => void,
): VNode {
  const known = conditionOf(fact, value);
  const choices = CONDITIONS.filter((one) => one.fact === fact || free.includes(one));
  const words = choices.map((one) => [one.id, one.words] as const);
  const written = ruleWords({ when: { [fact]: value }, then: "accept" });
  const choose = (id: string): void => {
    const chosen = choices.find((one) => one.id === id);
    if (chosen !== undefined) onValue(chosen.fact, chosen.value);
  };
  return (
    <>
      <Options
        class="slot"
        label={`${label}: condition`}
        value={known?.id ?? ""}
        onValue={choose}
        choices={known === undefined ? [["", written], ...words] : words}
      />
      {known === undefined || known.kind === "fixed" ? null : (
        <input
          class="slot"
          aria-label={`${label}: value`}
          inputMode={known.kind === "texts" ? "text" : "numeric"}
          value={detailOf(value, known)}
          onChange={(event) => onValue(fact, valueOf(event.currentTarget.value, known))}
        />
      )}
    </>
  );
}

const actionSlot = (
  label: string,
  value: ShownDecision,
  onValue: (next: ShownDecision) => void,
): VNode => (
  <Options
    class={`slot ${DECISION[value].mark}`}
    {...{ label, value }}
    onValue={(next) => onValue(next as ShownDecision)}
    choices={DECISIONS.map((one) => [one, DECISION[one].words])}
  />
);

function thenSlots(
  name: string,
  rule: EditableRule,
  onChange: ChangeRule,
  hits?: number | "changed",
): VNode {
  const label = capital(name);
  // Empty: the sentence that comes with Gatepost, in eight languages.
  const speak = (text: string): void => {
    const { message: _, ...plain } = rule;
    onChange(text.trim() === "" ? plain : { ...plain, message: { ...rule.message, en: text } });
  };
  const free = freeOf(rule);
  const added = free.find(({ id }) => id === "free") ?? free[0];
  const add = (): void => {
    const { reason: _, ...others } = rule;
    if (added) onChange({ ...others, when: { ...rule.when, [added.fact]: added.value } });
  };
  return (
    <span class="bar then">
      <span>then</span>
      {actionSlot(`${label}: what to do`, rule.then, (then) => onChange({ ...rule, then }))}
      {rule.then === "accept" ? null : (
        <input
          class="said"
          aria-label={`${label}: text for the person`}
          placeholder="Standard text for the person"
          maxLength={300}
          value={rule.message?.["en"] ?? ""}
          onInput={(event) => speak(event.currentTarget.value)}
        />
      )}
      {hits === "changed" ? (
        <Chip mark="tip" words="Changed" />
      ) : (
        <span class="note">{timesOf(hits)}</span>
      )}
      {added && (
        <Button {...{ act: "and…", of: `in ${name}`, class: "small plain" }} onClick={add} />
      )}
    </span>
  );
}
