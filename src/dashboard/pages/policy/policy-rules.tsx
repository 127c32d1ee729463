import type { VNode } from "preact";
import { type Decision, DECISIONS, type PolicyDocument, type Rule } from "../../api/gate.ts";
import { t } from "../../app/i18n.ts";
import {
  type Condition,
  CONDITIONS,
  conditionOf,
  conditionWords,
  decisionWords,
  detailOf,
  withCondition,
} from "../../words/policy.ts";

interface RulesProps {
  draft: PolicyDocument;
  live: PolicyDocument;
  onDraft: (draft: PolicyDocument) => void;
}

const RULES_MAX = 50;

/** A new rule begins as the most frequent one. */
const ADDED: Rule = { when: { disposable: true }, then: "reject", reason: "disposable" };

function moved(rules: readonly Rule[], at: number, by: number): readonly Rule[] {
  const next = [...rules];
  const [rule] = next.splice(at, 1);
  if (rule !== undefined) next.splice(at + by, 0, rule);
  return next;
}

/** Rules as sentences with slots; the first that fits decides. */
export function Rules({ draft, live, onDraft }: RulesProps): VNode {
  const { rules } = draft;
  const put = (next: readonly Rule[]): void => onDraft({ ...draft, rules: next });
  const change = (at: number, rule: Rule): void =>
    put(rules.map((known, place) => (place === at ? rule : known)));
  return (
    <section class="sheet stack">
      <div class="bar">
        <h2>{t("Rules")}</h2>
        <span class="note push">{t("The first rule that fits decides.")}</span>
      </div>
      <ol class="policy-rules">
        {rules.map((rule, at) => (
          <RuleRow
            key={at}
            at={at}
            last={rules.length - 1}
            rule={rule}
            isNew={!live.rules.some((known) => JSON.stringify(known) === JSON.stringify(rule))}
            onChange={(next) => change(at, next)}
            onMove={(by) => put(moved(rules, at, by))}
            onTake={(from) => put(moved(rules, from, at - from))}
            onRemove={() => put(rules.filter((_, place) => place !== at))}
          />
        ))}
      </ol>
      <div class="bar sentence otherwise">
        <span>{t("Otherwise")}</span>
        <Action
          label={t("Otherwise")}
          value={draft.else}
          onValue={(then) => onDraft({ ...draft, else: then })}
        />
      </div>
      <div>
        <button
          type="button"
          disabled={rules.length >= RULES_MAX}
          onClick={() => put([...rules, ADDED])}
        >
          {t("Add a rule")}
        </button>
      </div>
    </section>
  );
}

interface RowProps {
  at: number;
  last: number;
  rule: Rule;
  isNew: boolean;
  onChange: (rule: Rule) => void;
  onMove: (by: number) => void;
  /** Another rule was dropped here. */
  onTake: (from: number) => void;
  onRemove: () => void;
}

/** What a dragged rule carries: its place. Buttons do the same for the keyboard and for fingers. */
const DRAGGED = "application/x-gatepost-rule";

function RuleRow(props: RowProps): VNode {
  const { at, rule, isNew, onChange, onTake } = props;
  const number = at + 1;
  return (
    <li
      onDragOver={(event) => {
        if (event.dataTransfer?.types.includes(DRAGGED) === true) event.preventDefault();
      }}
      onDrop={(event) => {
        const from = event.dataTransfer?.getData(DRAGGED) ?? "";
        if (from === "") return;
        event.preventDefault();
        onTake(Number(from));
      }}
    >
      <b
        class="rule-number"
        draggable
        onDragStart={(event) => event.dataTransfer?.setData(DRAGGED, String(at))}
      >
        {number}
      </b>
      <div class="stack close">
        <div class="bar sentence">
          <span>{t("If")}</span>
          <When number={number} rule={rule} onChange={onChange} />
          {isNew ? <span class="chip tip">{t("Changed")}</span> : null}
        </div>
        <div class="bar sentence">
          <span>{t("then")}</span>
          <Action
            label={t("Rule {n}: what to do", { n: number })}
            value={rule.then}
            onValue={(then) => onChange({ ...rule, then })}
          />
          {rule.then === "accept" ? null : (
            <Message number={number} rule={rule} onChange={onChange} />
          )}
        </div>
      </div>
      <Moves {...props} number={number} />
    </li>
  );
}

function When(props: { number: number; rule: Rule; onChange: (rule: Rule) => void }): VNode {
  const { number, rule, onChange } = props;
  const known = conditionOf(rule);
  const choose = (id: string): void => {
    const condition = CONDITIONS.find((one) => one.id === id);
    if (condition !== undefined) onChange(withCondition(rule, condition));
  };
  return (
    <>
      <select
        class="slot"
        aria-label={t("Rule {n}: condition", { n: number })}
        value={known?.id ?? ""}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        {known === undefined ? <option value="">{t("several conditions hold")}</option> : null}
        {CONDITIONS.map(({ id, words }) => (
          <option key={id} value={id}>
            {t(words)}
          </option>
        ))}
      </select>
      {known === undefined ? <span class="note grow">{conditionWords(rule)}</span> : null}
      {known === undefined ? null : <Detail {...props} condition={known} />}
    </>
  );
}

/** The figure or the texts of a condition that has some. */
function Detail(props: {
  number: number;
  rule: Rule;
  condition: Condition;
  onChange: (rule: Rule) => void;
}): VNode | null {
  const { number, rule, condition, onChange } = props;
  if (condition.figure === undefined && condition.texts === undefined) return null;
  return (
    <input
      class="slot"
      aria-label={t("Rule {n}: value", { n: number })}
      inputMode={condition.figure === undefined ? "text" : "numeric"}
      value={detailOf(rule, condition)}
      onChange={(event) => onChange(withCondition(rule, condition, event.currentTarget.value))}
    />
  );
}

function Action(props: {
  label: string;
  value: Decision;
  onValue: (decision: Decision) => void;
}): VNode {
  return (
    <select
      class={`slot then-${props.value}`}
      aria-label={props.label}
      value={props.value}
      onChange={({ currentTarget }) => {
        const found = DECISIONS.find((decision) => decision === currentTarget.value);
        if (found !== undefined) props.onValue(found);
      }}
    >
      {DECISIONS.map((decision) => (
        <option key={decision} value={decision}>
          {decisionWords(decision)}
        </option>
      ))}
    </select>
  );
}

/** The sentence that the person at the form reads; empty: the one that comes with Gatepost, in eight languages. */
function Message(props: { number: number; rule: Rule; onChange: (rule: Rule) => void }): VNode {
  const { number, rule, onChange } = props;
  const put = (text: string): void => {
    const { message: _, ...plain } = rule;
    onChange(text.trim() === "" ? plain : { ...plain, message: { ...rule.message, en: text } });
  };
  return (
    <input
      class="said"
      aria-label={t("Rule {n}: text for the person", { n: number })}
      placeholder={t("Standard text for the person")}
      maxLength={300}
      value={rule.message?.["en"] ?? ""}
      onChange={(event) => put(event.currentTarget.value)}
    />
  );
}

function Moves({ at, last, number, onMove, onRemove }: RowProps & { number: number }): VNode {
  return (
    <span class="moves">
      <button
        type="button"
        class="small plain"
        disabled={at === 0}
        aria-label={t("Move rule {n} up", { n: number })}
        onClick={() => onMove(-1)}
      >
        ↑
      </button>
      <button
        type="button"
        class="small plain"
        disabled={at === last}
        aria-label={t("Move rule {n} down", { n: number })}
        onClick={() => onMove(1)}
      >
        ↓
      </button>
      <button
        type="button"
        class="small plain"
        aria-label={t("Remove rule {n}", { n: number })}
        onClick={onRemove}
      >
        ×
      </button>
    </span>
  );
}
