import type { VNode } from "preact";
import { counted } from "../lib/format.ts";
import { say } from "../lib/state.ts";
import { Sheet } from "../parts/basic.tsx";
import { Options } from "../parts/form.tsx";
import {
  type Condition,
  conditionOf,
  CONDITIONS,
  DECISION,
  type Decision,
  DECISIONS,
  detailOf,
  type PolicyDocument,
  type Rule,
  ruleWords,
  valueOf,
} from "../words/policy.ts";

interface RulesProps {
  draft: PolicyDocument;
  live: { readonly document: PolicyDocument };
  /** Of each live rule, in 30 days; undefined until known. */
  hits: readonly (number | undefined)[];
  onDraft: (draft: PolicyDocument) => void;
}

const RULES_MAX = 50;

/** A new rule begins as the most frequent one. */
const ADDED: Rule = { when: { disposable: true }, then: "reject" };

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

function moved(rules: readonly Rule[], at: number, by: number): readonly Rule[] {
  const next = [...rules];
  const [rule] = next.splice(at, 1);
  if (rule !== undefined) next.splice(at + by, 0, rule);
  return next;
}

/** Rules as sentences with slots; the first that fits decides. */
export function Rules({ draft, live, hits, onDraft }: RulesProps): VNode {
  const { rules } = draft;
  const put = (next: readonly Rule[]): void => onDraft({ ...draft, rules: next });
  const remove = (at: number): void => {
    put(rules.filter((_, place) => place !== at));
    say(`Rule ${String(at + 1)} is removed from the draft.`, async () => onDraft(draft));
  };
  return (
    <Sheet
      title="Rules"
      aside={<span class="note">The first rule that fits decides. Counts are of 30 days.</span>}
    >
      <ol class="policy-rules">
        {rules.map((rule, at) => {
          const known = live.document.rules.findIndex((one) => same(one, rule));
          return (
            <RuleRow
              key={at}
              at={at}
              last={rules.length - 1}
              rule={rule}
              hits={known < 0 ? "changed" : hits[known]}
              onChange={(next) => put(rules.map((one, place) => (place === at ? next : one)))}
              onMove={(by) => put(moved(rules, at, by))}
              onTake={(from) => put(moved(rules, from, at - from))}
              onRemove={() => remove(at)}
            />
          );
        })}
      </ol>
      <div class="bar sentence otherwise">
        <span>Otherwise</span>
        <Action
          label="Otherwise"
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
          Add a rule
        </button>
      </div>
    </Sheet>
  );
}

interface RowProps {
  at: number;
  last: number;
  rule: Rule;
  hits: number | undefined | "changed";
  onChange: (rule: Rule) => void;
  onMove: (by: number) => void;
  /** Another rule was dropped here. */
  onTake: (from: number) => void;
  onRemove: () => void;
}

/** What a dragged rule carries: its place. Buttons do the same for the keyboard and for fingers. */
const DRAGGED = "application/x-gatepost-rule";

function RuleRow(props: RowProps): VNode {
  const { at, last, rule, hits, onChange, onMove, onTake, onRemove } = props;
  const name = `rule ${String(at + 1)}`;
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
        {at + 1}
      </b>
      <div class="stack close">
        <When {...{ name, rule, onChange }} />
        <div class="bar sentence">
          <span>then</span>
          <Action
            label={`Rule ${String(at + 1)}: what to do`}
            value={rule.then}
            onValue={(then) => onChange({ ...rule, then })}
          />
          {rule.then === "accept" ? null : <Message {...{ name, rule, onChange }} />}
          {hits === "changed" ? (
            <span class="chip tip">Changed</span>
          ) : (
            <span class="note">{hits === undefined ? "" : counted(hits, "time")}</span>
          )}
        </div>
      </div>
      <span class="moves">
        <Move of={`Move ${name} up`} sign="↑" off={at === 0} work={() => onMove(-1)} />
        <Move of={`Move ${name} down`} sign="↓" off={at === last} work={() => onMove(1)} />
        <Move of={`Remove ${name}`} sign="×" off={false} work={onRemove} />
      </span>
    </li>
  );
}

const Move = (props: { of: string; sign: string; off: boolean; work: () => void }): VNode => (
  <button
    type="button"
    class="small plain"
    disabled={props.off}
    aria-label={props.of}
    onClick={props.work}
  >
    {props.sign}
  </button>
);

interface PartProps {
  name: string;
  rule: Rule;
  onChange: (rule: Rule) => void;
}

/** A rule whose conditions changed gives the reason that belongs to them. */
const withWhen = ({ then, message }: Rule, when: Rule["when"]): Rule => ({
  when,
  then,
  ...(message && { message }),
});

/** Each condition of the rule; all have to hold. One that was written by hand stays as it is. */
function When({ name, rule, onChange }: PartProps): VNode {
  const entries = Object.entries(rule.when);
  const put = (next: readonly (readonly [string, unknown])[]): void =>
    onChange(withWhen(rule, Object.fromEntries(next)));
  const replace = (at: number, fact: string, value: unknown): void =>
    put(entries.map((one, place) => (place === at ? [fact, value] : one)));
  const free = CONDITIONS.filter(({ fact }) => !Object.hasOwn(rule.when, fact));
  const add = ({ fact, value }: Condition): void => put([...entries, [fact, value]]);
  return (
    <>
      {entries.map(([fact, value], at) => (
        <div key={fact} class="bar sentence">
          <span>{at === 0 ? "If" : "and"}</span>
          <Slot
            name={at === 0 ? name : `${name}, condition ${String(at + 1)}`}
            {...{ fact, value, free }}
            onValue={(next, changed) => replace(at, next, changed)}
          />
          {entries.length === 1 ? null : (
            <Move
              of={`Remove condition ${String(at + 1)} of ${name}`}
              sign="×"
              off={false}
              work={() => put(entries.filter((_, place) => place !== at))}
            />
          )}
          {at === entries.length - 1 && free[0] !== undefined ? (
            <button
              type="button"
              class="small plain"
              onClick={() => add(free.find(({ id }) => id === "free") ?? (free[0] as Condition))}
            >
              and…<span class="unseen"> in {name}</span>
            </button>
          ) : null}
        </div>
      ))}
    </>
  );
}

function Slot(props: {
  name: string;
  fact: string;
  value: unknown;
  free: readonly Condition[];
  onValue: (fact: string, value: unknown) => void;
}): VNode {
  const { name, fact, value, free, onValue } = props;
  const known = conditionOf(fact, value);
  const own = CONDITIONS.filter((one) => one.fact === fact);
  const choices = CONDITIONS.filter((one) => own.includes(one) || free.includes(one));
  const label = name.replace(/^r/, "R");
  const choose = (id: string): void => {
    const found = CONDITIONS.find((one) => one.id === id);
    if (found !== undefined) onValue(found.fact, found.value);
  };
  const words = ruleWords({ when: { [fact]: value }, then: "accept" });
  return (
    <>
      <Options
        class="slot"
        label={`${label}: condition`}
        value={known?.id ?? ""}
        onValue={choose}
        choices={[
          ...(known === undefined ? [["", words] as const] : []),
          ...choices.map((one) => [one.id, one.words] as const),
        ]}
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

const isDecision = (text: string): text is Decision => DECISIONS.some((one) => one === text);

const Action = (props: {
  label: string;
  value: Decision;
  onValue: (decision: Decision) => void;
}): VNode => (
  <Options
    class={`slot then-${props.value}`}
    label={props.label}
    value={props.value}
    onValue={(value) => isDecision(value) && props.onValue(value)}
    choices={DECISIONS.map((one) => [one, DECISION[one].words])}
  />
);

/** The sentence that the person at the form reads; empty: the one that comes with Gatepost, in eight languages. */
function Message({ name, rule, onChange }: PartProps): VNode {
  const put = (text: string): void => {
    const { message: _, ...plain } = rule;
    onChange(text.trim() === "" ? plain : { ...plain, message: { ...rule.message, en: text } });
  };
  return (
    <input
      class="said"
      aria-label={`${name.replace(/^r/, "R")}: text for the person`}
      placeholder="Standard text for the person"
      maxLength={300}
      value={rule.message?.["en"] ?? ""}
      onInput={(event) => put(event.currentTarget.value)}
    />
  );
}
