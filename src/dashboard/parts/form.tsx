import type { ComponentChildren, InputHTMLAttributes, VNode } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useAction } from "../lib/load.ts";
import { announce } from "../lib/state.ts";
import { Fault } from "./basic.tsx";

/** One thing that a form asks for. */
export interface FieldSpec {
  readonly name: string;
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** What it begins with; of a choice the first one otherwise. */
  readonly value?: string;
  /** A choice of these instead of a text. */
  readonly choices?: readonly (readonly [value: string, words: string])[];
  /** Lines of a larger box. */
  readonly rows?: number;
  readonly input?: InputHTMLAttributes<HTMLInputElement>;
  /** Only while this holds. */
  readonly when?: (values: Values) => boolean;
}

export type Values = Readonly<Record<string, string>>;

interface FieldProps extends Omit<FieldSpec, "name" | "when" | "value"> {
  value: string;
  onValue: (value: string) => void;
}

/** A labelled line of input, box or choice. */
export function Field(props: FieldProps): VNode {
  const { label, hint, value, onValue, choices, rows, input = {} } = props;
  const id = useId();
  const shared = { id, ...(hint !== undefined && { "aria-describedby": `${id}-hint` }) };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {choices !== undefined ? (
        <Options {...shared} {...{ value, onValue, choices }} />
      ) : rows !== undefined ? (
        <textarea
          {...shared}
          {...{ rows, value }}
          class="mono"
          spellcheck={false}
          placeholder={input.placeholder}
          required={input.required}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      ) : (
        <input
          {...shared}
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
          {...input}
        />
      )}
      {hint === undefined ? null : (
        <span class="note" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  );
}

/** A native choice. Without a label of its own it needs `label`. */
export function Options(props: {
  value: string;
  onValue: (value: string) => void;
  choices: readonly (readonly [value: string, words: string])[];
  label?: string;
  id?: string;
  class?: string;
}): VNode {
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

/** A line that narrows what is shown below it. */
export const Search = (props: {
  label: string;
  value: string;
  onValue: (value: string) => void;
}): VNode => (
  <input
    class="search"
    type="search"
    aria-label={`Search: ${props.label}`}
    placeholder={props.label}
    value={props.value}
    onInput={(event) => props.onValue(event.currentTarget.value)}
  />
);

interface FormProps {
  fields: readonly FieldSpec[];
  /** What its button does. */
  act: string;
  send: (values: Values) => Promise<unknown>;
  /** The user's address, for password managers. */
  user?: string;
  children?: ComponentChildren;
  /** Beside the button. */
  extra?: ComponentChildren;
  class?: string;
  grave?: boolean;
  /** What was sent stays in its fields. */
  keeps?: true;
}

const startOf = (fields: readonly FieldSpec[]): Values =>
  Object.fromEntries(
    fields.map(({ name, value, choices }) => [name, value ?? choices?.[0]?.[0] ?? ""]),
  );

/** Fields and one button. It empties itself when its sending went well, unless it `keeps`. */
export function Form(props: FormProps): VNode {
  const { fields, act, send, user } = props;
  const [values, setValues] = useState(() => startOf(fields));
  const { busy, fault, run, clear } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      await send(values);
      if (props.keeps === undefined) setValues(startOf(fields));
    });
  };
  return (
    <form class={props.class ?? "form"} onSubmit={submit}>
      {user === undefined ? null : (
        <input type="text" autocomplete="username" value={user} readOnly hidden />
      )}
      {props.children}
      {fields.map(({ name, when, ...field }) =>
        when === undefined || when(values) ? (
          <Field
            key={name}
            {...field}
            value={values[name] ?? ""}
            onValue={(value) => {
              clear();
              setValues((known) => ({ ...known, [name]: value }));
            }}
          />
        ) : null,
      )}
      <Fault text={fault} />
      <div class="bar foot">
        {props.extra}
        <button type="submit" class={props.grave ? "main grave" : "main"} disabled={busy}>
          {act}
        </button>
      </div>
    </form>
  );
}

export const EMAIL: FieldSpec = {
  name: "email",
  label: "Email address",
  input: { type: "email", autocomplete: "username", required: true, maxLength: 254 },
};

/** The server holds the same limits and says so. */
export const NEW_PASSWORD: FieldSpec = {
  name: "password",
  label: "Password",
  hint: "At least 10 characters. A few unrelated words do well.",
  input: {
    type: "password",
    autocomplete: "new-password",
    required: true,
    minLength: 10,
    maxLength: 200,
  },
};

export const OWN_PASSWORD: FieldSpec = {
  name: "current_password",
  label: "Your own password, to be sure it is you",
  input: { type: "password", autocomplete: "current-password", required: true },
};

/** A native modal dialog that opens when it appears. Escape and its own buttons call `onClose`. */
export function Dialog(props: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  /** Nothing of the page is seen behind it. */
  hidesPage?: true;
}): VNode {
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
    props.onClose();
  };
  // The event comes late: by then the same dialog may have been opened anew.
  const close = (): void => {
    if (isShown.current) props.onClose();
  };
  return (
    <dialog
      ref={dialog}
      class={props.hidesPage === true ? "alone" : ""}
      aria-labelledby={id}
      onCancel={cancel}
      onClose={close}
    >
      <div class="stack">
        <h2 id={id}>{props.title}</h2>
        {props.children}
      </div>
    </dialog>
  );
}

/** The way out of a dialog. */
export const Leave = (props: { onClose: () => void; words?: string }): VNode => (
  <button type="button" class="plain push" onClick={props.onClose}>
    {props.words ?? "Cancel"}
  </button>
);

/** Asks before something that others notice or that cannot be taken back. */
export function Confirm(props: {
  title: string;
  act: string;
  work: () => Promise<unknown>;
  onClose: () => void;
  children: ComponentChildren;
}): VNode {
  const send = async (): Promise<void> => {
    await props.work();
    props.onClose();
  };
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <Form
        class="stack"
        fields={[]}
        act={props.act}
        send={send}
        grave
        extra={<Leave onClose={props.onClose} words="Keep it as it is" />}
      >
        <div class="prose">{props.children}</div>
      </Form>
    </Dialog>
  );
}

interface ButtonProps {
  act: string;
  /** For screen readers: which of many. */
  of?: string;
  class?: string;
  disabled?: boolean;
}

function Press(props: ButtonProps & { onClick: () => void }): VNode {
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
    work: () => Promise<unknown>;
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
export function Act(props: ButtonProps & { work: () => Promise<unknown> }): VNode {
  const { work, ...button } = props;
  const { busy, fault, run } = useAction();
  return (
    <>
      <Press
        {...button}
        disabled={busy || button.disabled === true}
        onClick={() =>
          run(async () => {
            await work();
          })
        }
      />
      <Fault text={fault} />
    </>
  );
}

/** A button that opens a form. */
export function FormDialog(
  props: Omit<FormProps, "class" | "extra" | "act"> & ButtonProps & { title: string; yes: string },
): VNode {
  const { title, yes, fields, send, user, children, grave = false, ...button } = props;
  const [isOpen, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  const sent = async (values: Values): Promise<void> => {
    await send(values);
    close();
  };
  return (
    <>
      <Press {...button} onClick={() => setOpen(true)} />
      {isOpen ? (
        <Dialog title={title} onClose={close}>
          <Form
            class="stack"
            act={yes}
            send={sent}
            {...{ fields, children, grave }}
            {...(user !== undefined && { user })}
            extra={<Leave onClose={close} />}
          />
        </Dialog>
      ) : null}
    </>
  );
}

/** Puts text on the clipboard; without permission for that, selects it where it stands before the button. */
function CopyButton({ text, what }: { text: string; what: string }): VNode {
  const [word, setWord] = useState("Copy");
  useEffect(() => {
    if (word === "Copy") return undefined;
    const timer = setTimeout(() => setWord("Copy"), 2_000);
    return () => clearTimeout(timer);
  }, [word]);
  const copy = ({ currentTarget }: { currentTarget: HTMLButtonElement }): void => {
    const shownText = currentTarget.previousElementSibling;
    const tell = (shown: string, said: string): void => {
      setWord(shown);
      announce(said);
    };
    copyText(text).then(
      () => tell("Copied", `${what} copied.`),
      () =>
        copySelected(shownText)
          ? tell("Copied", `${what} copied.`)
          : tell("Selected", `The browser does not allow copying. ${what} is selected: copy it.`),
    );
  };
  return (
    <button type="button" class="small" onClick={copy}>
      {word}
      <span class="unseen"> {what}</span>
    </button>
  );
}

/** Plain HTTP on an address that is not loopback has no clipboard. */
export async function copyText(text: string): Promise<void> {
  if (!("clipboard" in navigator)) throw new Error("no clipboard");
  await navigator.clipboard.writeText(text);
}

/** The old way, which browsers allow wherever a person pressed a button; the text stays selected. */
function copySelected(shownText: Element | null): boolean {
  if (shownText !== null) getSelection()?.selectAllChildren(shownText);
  return document.execCommand("copy");
}

/** Code as text, with a copy button. */
export function Code({ text, what }: { text: string; what: string }): VNode {
  return (
    <div class="code">
      <pre class="wrap" tabIndex={0} role="region" aria-label={what}>
        {text}
      </pre>
      <CopyButton text={text} what={what} />
    </div>
  );
}

/** What is shown this once, and says so before it goes. */
export function Secret(props: {
  title: string;
  value: string;
  words?: string;
  onDone: () => void;
}): VNode {
  const box = useRef<HTMLDivElement>(null);
  // After the dialog that made it is gone: it may stand out of sight, and it is shown only once.
  useEffect(() => box.current?.focus(), [props.value]);
  const done = (): void => {
    document.querySelector("h1")?.focus();
    props.onDone();
  };
  return (
    <div class="secret" role="group" aria-label={props.title} tabIndex={-1} ref={box}>
      <h2>{props.title}</h2>
      <p>
        {props.words ??
          "This is the only time it is shown. Copy it to where your server keeps its secrets."}
      </p>
      <div class="bar">
        <code>{props.value}</code>
        <CopyButton text={props.value} what={props.title} />
        <button type="button" class="small" onClick={done}>
          I have kept it
        </button>
      </div>
    </div>
  );
}
