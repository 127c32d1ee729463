import type { InputHTMLAttributes, VNode } from "preact";
import { useId } from "preact/hooks";

export interface FieldProps {
  label: string;
  value: string;
  onValue: (value: string) => void;
  hint?: string;
  input?: InputHTMLAttributes<HTMLInputElement>;
}

/** A labelled line of input. */
export function Field({ label, value, onValue, hint, input = {} }: FieldProps): VNode {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        value={value}
        onInput={(event) => onValue(event.currentTarget.value)}
        {...(hint === undefined ? {} : { "aria-describedby": `${id}-hint` })}
        {...input}
      />
      {hint === undefined ? null : (
        <span class="note" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  );
}

/** A labelled box of several lines. */
export function TextField(props: {
  label: string;
  value: string;
  onValue: (value: string) => void;
  hint: string;
  placeholder: string;
}): VNode {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      <textarea
        id={id}
        class="mono"
        rows={3}
        value={props.value}
        onInput={(event) => props.onValue(event.currentTarget.value)}
        aria-describedby={`${id}-hint`}
        placeholder={props.placeholder}
        spellcheck={false}
        required
      />
      <span class="note" id={`${id}-hint`}>
        {props.hint}
      </span>
    </div>
  );
}

/** Gives password managers the user name in a form that asks only for the password. */
export function UserName({ email }: { email: string }): VNode {
  return <input type="text" name="email" autocomplete="username" value={email} readOnly hidden />;
}
