import type { ComponentChildren, InputHTMLAttributes, VNode } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import { useAction } from "../lib/load.ts";
import { asksForCode, ownEmail } from "../lib/session.ts";
import { type Notice, say } from "../lib/state.ts";
import { Fault } from "./button.tsx";

type InputProps = InputHTMLAttributes<HTMLInputElement>;
export type Choices = readonly (readonly [value: string, words: string])[];
export type FormValues = Readonly<Record<string, string>>;

export interface FieldSpec {
  readonly name: string;
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly value?: string;
  readonly choices?: Choices;
  readonly rows?: number;
  readonly input?: InputProps;
  readonly when?: (values: FormValues) => boolean;
}

export const textField = (
  name: string,
  label: string,
  hint?: string,
  input: InputProps = {},
): FieldSpec => ({ name, label, hint, input: { autocomplete: "off", ...input } });

const passwordField = (name: string, label: string): FieldSpec => ({
  name,
  label,
  input: { type: "password", autocomplete: "current-password", required: true },
});

export const PASSWORD = passwordField("password", "Password");
export const OWN_PASSWORD = passwordField(
  "current_password",
  "Your own password, to be sure it is you",
);

/** The server holds the same limits and says so. */
export const newPassword = (label = "Password"): FieldSpec => ({
  ...PASSWORD,
  label,
  hint: "At least 10 characters. A few unrelated words do well.",
  input: { ...PASSWORD.input, autocomplete: "new-password", minLength: 10, maxLength: 200 },
});

export const EMAIL: FieldSpec = {
  name: "email",
  label: "Email address",
  input: { type: "email", autocomplete: "username", required: true, maxLength: 254 },
};

/** Appears once the password was right, of an account that asks for a code, too. */
export const CODE: FieldSpec = {
  name: "code",
  label: "Code",
  hint: "Six digits from your authenticator app, or one of your recovery codes.",
  input: { autocomplete: "one-time-code", maxLength: 40, ref: (box) => box?.focus() },
  when: () => asksForCode.value,
};

interface FieldProps extends Omit<FieldSpec, "name" | "when" | "value"> {
  value: string;
  onValue: (value: string) => void;
}

export function Field({ label, hint, choices, rows, input = {}, ...more }: FieldProps): VNode {
  const id = useId();
  const hintId = hint === undefined ? undefined : `${id}-hint`;
  const shared = { id, value: more.value, "aria-describedby": hintId };
  const type = (event: { currentTarget: { value: string } }): void =>
    more.onValue(event.currentTarget.value);
  const { placeholder, required } = input;
  const box = { ...shared, rows, placeholder, required, class: "mono", spellcheck: false };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {choices !== undefined ? (
        <Options {...shared} {...more} choices={choices} />
      ) : rows !== undefined ? (
        <textarea {...box} onInput={type} />
      ) : (
        <input {...shared} onInput={type} {...input} />
      )}
      {hint === undefined ? null : (
        <span class="note" id={hintId}>
          {hint}
        </span>
      )}
    </div>
  );
}

interface OptionsProps {
  value: string;
  onValue: (value: string) => void;
  choices: Choices;
  label?: string;
  id?: string;
  class?: string;
  "aria-describedby"?: string | undefined;
}

export const Options = ({ onValue, choices, label, ...more }: OptionsProps): VNode => (
  <select {...more} aria-label={label} onChange={(event) => onValue(event.currentTarget.value)}>
    {choices.map(([one, words]) => (
      <option key={one} value={one}>
        {words}
      </option>
    ))}
  </select>
);

export function useChoice(label: string, choices: Choices, first = ""): readonly [string, VNode] {
  const [value, setValue] = useState(first);
  return [value, <Options class="kind" {...{ label, value, choices }} onValue={setValue} />];
}

const REST_MS = 200;

export function useSearch(
  label: string,
  aria = `Search: ${label}`,
  first = "",
): readonly [string, VNode] {
  const [text, setText] = useState(first);
  const [rested, setRested] = useState(first);
  useEffect(() => {
    const timer = setTimeout(() => setRested(text.trim()), REST_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const field = (
    <input
      class="search"
      type="search"
      aria-label={aria}
      placeholder={label}
      value={text}
      onInput={(event) => setText(event.currentTarget.value)}
    />
  );
  return [rested, field];
}

export function Checks<Name extends string>(props: {
  legend: string;
  rows: readonly (readonly [name: Name, words: ComponentChildren])[];
  chosen: readonly Name[];
  onChosen: (chosen: readonly Name[]) => void;
}): VNode {
  const { legend, rows, chosen, onChosen } = props;
  const choose = (name: Name, isChosen: boolean): void =>
    onChosen([...chosen.filter((one) => one !== name), ...(isChosen ? [name] : [])]);
  return (
    <fieldset class="stack close">
      <legend>{legend}</legend>
      {rows.map(([name, words]) => (
        <label key={name} class="bar">
          <input
            type="checkbox"
            checked={chosen.includes(name)}
            onChange={({ currentTarget }) => choose(name, currentTarget.checked)}
          />
          {words}
        </label>
      ))}
    </fieldset>
  );
}

export interface FormProps {
  act: string;
  send: (values: FormValues) => unknown;
  said?: string;
  undo?: Notice["undo"];
  fields?: readonly FieldSpec[] | undefined;
  children?: ComponentChildren;
  extra?: ComponentChildren;
  class?: string;
  grave?: boolean;
  keeps?: true;
}

export async function done({ send, said, undo }: FormProps, values: FormValues): Promise<void> {
  await send(values);
  if (said !== undefined) say(said, undo);
}

const startOf = (fields: readonly FieldSpec[]): FormValues =>
  Object.fromEntries(
    fields.map(({ name, value, choices }) => [name, value ?? choices?.[0]?.[0] ?? ""]),
  );

/** Fields and one button. It empties itself when its sending went well, unless it `keeps`. */
export function Form(props: FormProps): VNode {
  const { fields = [], keeps, grave } = props;
  const [values, setValues] = useState(() => startOf(fields));
  const { busy, fault, run, clear } = useAction();
  // Password managers want to know whose it is.
  const needsPassword = ownEmail() !== "" && fields.some(({ input }) => input?.type === "password");
  const submit = (event: Event): void => {
    event.preventDefault();
    run(() => done(props, values).then(() => keeps ?? setValues(startOf(fields))));
  };
  const put = (name: string, value: string): void => {
    clear();
    setValues((known) => ({ ...known, [name]: value }));
  };
  return (
    <form class={props.class ?? "form stack"} onSubmit={submit}>
      {needsPassword && (
        <input type="text" autocomplete="username" value={ownEmail()} readOnly hidden />
      )}
      {props.children}
      {fields.map(({ name, when, ...field }) =>
        when?.(values) === false ? null : (
          <Field
            key={name}
            {...field}
            value={values[name] ?? ""}
            onValue={(value) => put(name, value)}
          />
        ),
      )}
      <Fault text={fault} />
      <div class="bar">
        {props.extra}
        <button type="submit" class={grave ? "main grave" : "main"} aria-busy={busy}>
          {props.act}
        </button>
      </div>
    </form>
  );
}
