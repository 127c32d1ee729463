import type { ComponentChildren, InputHTMLAttributes, VNode } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useAction } from "../lib/load.ts";
import { path } from "../lib/router.ts";
import { asksForCode } from "../lib/session.ts";
import { dropSecret, type Notice, say, type secrets } from "../lib/state.ts";

type InputProps = InputHTMLAttributes<HTMLInputElement>;
export type Choices = readonly (readonly [value: string, words: string])[];
export type FormValues = Readonly<Record<string, string>>;

export interface FieldSpec {
  readonly name: string;
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** What it begins with; of a choice the first one otherwise. */
  readonly value?: string;
  readonly choices?: Choices;
  readonly rows?: number;
  readonly input?: InputProps;
  readonly when?: (values: FormValues) => boolean;
}

/** A line of text that no browser fills in. */
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

interface FaultProps {
  text: string;
  retry?: () => void;
  /** What stands below it is old. */
  stale?: boolean;
}

export const Fault = ({ text, retry, stale }: FaultProps): VNode | null =>
  text === "" ? null : (
    <div class={stale ? "notice no stale" : "notice no"} role="alert">
      <span>{text}</span>
      {retry && <Button act="Try again" onClick={retry} />}
    </div>
  );

interface ButtonProps {
  act: string;
  /** For screen readers: which of many. */
  of?: string | undefined;
  class?: string;
  disabled?: boolean | undefined;
  busy?: boolean;
}

/** A busy one keeps the focus. */
export const Button = (props: ButtonProps & { onClick: () => void }): VNode => (
  <button
    type="button"
    class={props.class ?? "small"}
    disabled={props.disabled}
    aria-busy={props.busy}
    onClick={props.onClick}
  >
    {props.act}
    {props.of === undefined ? null : <span class="unseen"> {props.of}</span>}
  </button>
);

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
  /** Where no other label stands. */
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

/** How long typing has to rest before a search is sent. */
const REST_MS = 200;

export function useSearch(label: string, aria = `Search: ${label}`): readonly [string, VNode] {
  const [text, setText] = useState("");
  const [rested, setRested] = useState("");
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

interface FormProps {
  act: string;
  send: (values: FormValues) => unknown;
  /** What is said once it is done, with the way back. */
  said?: string;
  undo?: Notice["undo"];
  fields?: readonly FieldSpec[] | undefined;
  /** The user's address, for password managers. */
  user?: string;
  children?: ComponentChildren;
  extra?: ComponentChildren;
  class?: string;
  grave?: boolean;
  /** What was sent stays in its fields. */
  keeps?: true;
}

async function done({ send, said, undo }: FormProps, values: FormValues): Promise<void> {
  await send(values);
  if (said !== undefined) say(said, undo);
}

const startOf = (fields: readonly FieldSpec[]): FormValues =>
  Object.fromEntries(
    fields.map(({ name, value, choices }) => [name, value ?? choices?.[0]?.[0] ?? ""]),
  );

/** Fields and one button. It empties itself when its sending went well, unless it `keeps`. */
export function Form(props: FormProps): VNode {
  const { fields = [], user, keeps, grave } = props;
  const [values, setValues] = useState(() => startOf(fields));
  const { busy, fault, run, clear } = useAction();
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
      {user && <input type="text" autocomplete="username" value={user} readOnly hidden />}
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

/** A native modal dialog that opens when it appears. Escape and its own buttons call `onClose`. */
export function Dialog(props: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  /** Nothing of the page is seen behind it. */
  hidesPage?: true;
}): VNode {
  const { title, onClose, children, hidesPage } = props;
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const isShown = useRef(true);
  // A layout effect, for between a late one and the next key the focus would be nowhere.
  useLayoutEffect(() => {
    const opener = document.activeElement;
    const { current } = dialog;
    current?.showModal();
    return () => {
      isShown.current = false;
      current?.close();
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  // Escape closes by the state alone: a dialog that closed by itself first would miss being opened again.
  const cancel = (event: Event): void => {
    event.preventDefault();
    onClose();
  };
  // The event comes late: by then the same dialog may have been opened anew.
  const close = (): void => void (isShown.current && onClose());
  const more = { class: hidesPage ? "alone" : "", onCancel: cancel, onClose: close };
  return (
    <dialog ref={dialog} aria-labelledby={id} {...more}>
      <div class="stack">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

interface ActProps extends ButtonProps, Omit<FormProps, "extra"> {
  /** Of the question; by default what the button does. */
  title?: string;
  /** What the question's button does when that is named otherwise. */
  yes?: string;
  /** Why it asks; "" when it need not. */
  reason?: () => Promise<string>;
}

/** A button that does its work, or asks first: what its children say, for more by `fields`, or for a `reason`. */
export function Act({ of, class: kind, title, yes, reason, disabled, ...props }: ActProps): VNode {
  const { act, fields, children } = props;
  const [why, setWhy] = useState<string>();
  const { busy, fault, run } = useAction();
  const close = (): void => setWhy(undefined);
  const press = (): void => {
    if ((children ?? fields) !== undefined) setWhy("");
    else
      run(async () => {
        const found = await reason?.();
        if (found) setWhy(found);
        else await done(props, {});
      });
  };
  const isMere = fields === undefined;
  const form = {
    ...props,
    act: yes ?? act,
    grave: props.grave ?? isMere,
    class: "stack",
    extra: (
      <Button act={isMere ? "Keep it as it is" : "Cancel"} class="plain push" onClick={close} />
    ),
    send: async (values: FormValues) => {
      await props.send(values);
      close();
    },
  };
  return (
    <>
      <Button {...{ act, of, class: kind ?? "small", disabled, busy }} onClick={press} />
      <Fault text={fault} />
      {why === undefined ? null : (
        <Dialog title={title ?? (isMere ? `${act}?` : act)} onClose={close}>
          <Form {...form}>{(children ?? why) && <div class="prose">{children ?? why}</div>}</Form>
        </Dialog>
      )}
    </>
  );
}

/** Without permission for the clipboard, and over plain HTTP, the old way: it copies what is selected. */
async function copied(text: string, shown: Element | null): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    if (shown !== null) getSelection()?.selectAllChildren(shown);
    return document.execCommand("copy");
  }
}

interface CopyProps {
  text: string;
  what: string;
  act?: string;
  /** Where it stands, unless it stands before the button. */
  otherwise?: string;
}

export function Copy({ text, what, act = "Copy", otherwise }: CopyProps): VNode {
  const button = useRef<HTMLSpanElement>(null);
  const copy = async (): Promise<void> => {
    const shown = otherwise === undefined ? button.current?.previousElementSibling : null;
    const selected = `${what} is selected: copy it.`;
    const isCopied = await copied(text, shown ?? null);
    say(
      isCopied ? `${what} copied.` : `The browser does not allow copying. ${otherwise ?? selected}`,
    );
  };
  return (
    <span ref={button}>
      <Button
        act={act}
        of={otherwise === undefined ? what : undefined}
        onClick={() => void copy()}
      />
    </span>
  );
}

export const Code = ({ text, what }: { text: string; what: string }): VNode => (
  <div class="stack close">
    <pre tabIndex={0} role="region" aria-label={what}>
      {text}
    </pre>
    <Copy text={text} what={what} />
  </div>
);

const KEEP = "This is the only time it is shown. Copy it to where your server keeps its secrets.";

type OnceProps = (typeof secrets.value)[number];

export function Once({ id, title, value, words = KEEP, page, more }: OnceProps): VNode {
  const box = useRef<HTMLDivElement>(null);
  // After the dialog that made it is gone: it may stand out of sight, and it is shown only once.
  useEffect(() => box.current?.focus(), [value]);
  return (
    <>
      <div class="sheet secret stack" role="group" aria-label={title} tabIndex={-1} ref={box}>
        <h2>{title}</h2>
        <p>{words}</p>
        <div class="bar">
          <code>{value}</code>
          <Copy text={value} what={title} />
          <Button act="I have kept it" of={title} onClick={() => dropSecret(id)} />
        </div>
      </div>
      {page === path.value ? more : null}
    </>
  );
}
