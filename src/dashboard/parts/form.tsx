import type { ComponentChildren, VNode } from "preact";
import { useId, useState } from "preact/hooks";
import { useAction } from "../app/load.ts";
import { Confirm } from "./dialog.tsx";
import { Fault } from "./states.tsx";

interface OptionsProps {
  value: string;
  onValue: (value: string) => void;
  choices: readonly (readonly [value: string, words: string])[];
}

/** A native choice. Without a label of its own it needs `label`. */
export function Options(
  props: OptionsProps & { label?: string; id?: string; class?: string },
): VNode {
  const { value, onValue, choices, label, ...more } = props;
  return (
    <select
      {...more}
      aria-label={label}
      value={value}
      onChange={(event) => onValue(event.currentTarget.value)}
    >
      {choices.map(([one, words]) => (
        <option key={one} value={one}>
          {words}
        </option>
      ))}
    </select>
  );
}

/** A labelled choice. */
export function Field({ label, ...options }: OptionsProps & { label: string }): VNode {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <Options id={id} {...options} />
    </div>
  );
}

interface ButtonProps {
  act: string;
  /** For screen readers: which of many. */
  of?: string;
  class?: string;
}

function Press(props: ButtonProps & { disabled?: boolean; onClick: () => void }): VNode {
  const { act, of, class: kind = "small", disabled = false, onClick } = props;
  return (
    <button type="button" class={kind} disabled={disabled} onClick={onClick}>
      {act}
      {of === undefined ? null : <span class="unseen"> {of}</span>}
    </button>
  );
}

/** A button that asks once. `title`: the question. */
export function Ask(
  props: ButtonProps & {
    title: string;
    yes?: string;
    work: () => Promise<void>;
    children: ComponentChildren;
  },
): VNode {
  const { title, yes, work, children, ...button } = props;
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <Press {...button} onClick={() => setAsked(true)} />
      {isAsked ? (
        <Confirm title={title} act={yes ?? button.act} work={work} onClose={() => setAsked(false)}>
          {children}
        </Confirm>
      ) : null}
    </>
  );
}

/** A button that does its work at once, and says below it what went wrong. */
export function Act(props: ButtonProps & { work: () => Promise<void> }): VNode {
  const { work, ...button } = props;
  const { busy, fault, run } = useAction();
  return (
    <>
      <Press {...button} disabled={busy} onClick={() => run(work)} />
      <Fault text={fault} />
    </>
  );
}
