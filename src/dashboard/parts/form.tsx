import type { ComponentChildren, InputHTMLAttributes, VNode } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useAction, useRested } from "../lib/load.ts";
import { announce, type ShownOnce, shownOnce } from "../lib/state.ts";

type Input = InputHTMLAttributes<HTMLInputElement>;
export type Choices = readonly (readonly [value: string, words: string])[];

export interface FieldSpec {
  readonly name: string;
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** What it begins with; of a choice the first one otherwise. */
  readonly value?: string;
  readonly choices?: Choices;
  /** Lines of a larger box. */
  readonly rows?: number;
  readonly input?: Input;
  readonly when?: (values: Values) => boolean;
}

export type Values = Readonly<Record<string, string>>;

/** A line of text that no browser fills in. */
export const textField = (
  name: string,
  label: string,
  hint?: string,
  input: Input = {},
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
export const NEW_PASSWORD: FieldSpec = {
  ...PASSWORD,
  hint: "At least 10 characters. A few unrelated words do well.",
  input: { ...PASSWORD.input, autocomplete: "new-password", minLength: 10, maxLength: 200 },
};

export const EMAIL: FieldSpec = {
  name: "email",
  label: "Email address",
  input: { type: "email", autocomplete: "username", required: true, maxLength: 254 },
};

interface FieldProps extends Omit<FieldSpec, "name" | "when" | "value"> {
  value: string;
  onValue: (value: string) => void;
}

/** What failed, and the way on. */
export const Fault = ({ text, retry }: { text: string; retry?: () => void }): VNode | null =>
  text === "" ? null : (
    <div class="notice no" role="alert">
      <span>{text}</span>
      {retry && (
        <button type="button" class="small" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );

export function Field(props: FieldProps): VNode {
  const { label, hint, value, onValue, choices, rows, input = {} } = props;
  const id = useId();
  const shared = { id, ...(hint !== undefined && { "aria-describedby": `${id}-hint` }) };
  const type = (event: { currentTarget: { value: string } }): void =>
    onValue(event.currentTarget.value);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {choices !== undefined ? (
        <Options {...shared} {...{ value, onValue, choices }} />
      ) : rows !== undefined ? (
        <textarea
          {...{ ...shared, rows, value }}
          class="mono"
          spellcheck={false}
          placeholder={input.placeholder}
          required={input.required}
          onInput={type}
        />
      ) : (
        <input {...shared} value={value} onInput={type} {...input} />
      )}
      {hint === undefined ? null : (
        <span class="note" id={`${id}-hint`}>
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

export function useSearch(label: string, aria = `Search: ${label}`): readonly [string, VNode] {
  const [text, setText] = useState("");
  return [
    useRested(text),
    <input
      class="search"
      type="search"
      aria-label={aria}
      placeholder={label}
      value={text}
      onInput={(event) => setText(event.currentTarget.value)}
    />,
  ];
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
    <fieldset class="choices">
      <legend class="label">{legend}</legend>
      {rows.map(([name, words]) => (
        <label key={name} class="choice">
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
  fields: readonly FieldSpec[];
  act: string;
  send: (values: Values) => Promise<unknown>;
  /** The user's address, for password managers. */
  user?: string;
  children?: ComponentChildren;
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
  const { fields, user } = props;
  const [values, setValues] = useState(() => startOf(fields));
  const { busy, fault, run, clear } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      await props.send(values);
      if (props.keeps === undefined) setValues(startOf(fields));
    });
  };
  const put = (name: string, value: string): void => {
    clear();
    setValues((known) => ({ ...known, [name]: value }));
  };
  return (
    <form class={props.class ?? "form"} onSubmit={submit}>
      {user === undefined ? null : (
        <input type="text" autocomplete="username" value={user} readOnly hidden />
      )}
      {props.children}
      {fields.map(({ name, when = () => true, ...field }) =>
        when(values) ? (
          <Field
            key={name}
            {...field}
            value={values[name] ?? ""}
            onValue={(value) => put(name, value)}
          />
        ) : null,
      )}
      <Fault text={fault} />
      <div class="bar foot">
        {props.extra}
        <button type="submit" class={props.grave ? "main grave" : "main"} disabled={busy}>
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
      class={props.hidesPage ? "alone" : ""}
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

interface QuestionProps extends Omit<FormProps, "class" | "extra" | "fields"> {
  /** None: it only asks before something that others notice or that cannot be taken back. */
  fields?: readonly FieldSpec[];
}

export function Question(props: QuestionProps & { title: string; onClose: () => void }): VNode {
  const { title, fields = [], send, onClose, children, ...form } = props;
  const isMere = fields.length === 0;
  const sent = async (values: Values): Promise<void> => {
    await send(values);
    onClose();
  };
  const leave = (
    <button type="button" class="plain push" onClick={onClose}>
      {isMere ? "Keep it as it is" : "Cancel"}
    </button>
  );
  return (
    <Dialog title={title} onClose={onClose}>
      <Form class="stack" grave={isMere} {...form} fields={fields} send={sent} extra={leave}>
        {children === undefined ? null : <div class="prose">{children}</div>}
      </Form>
    </Dialog>
  );
}

interface ButtonProps {
  act: string;
  /** For screen readers: which of many. */
  of?: string | undefined;
  class?: string;
  disabled?: boolean;
}

const button = (props: ButtonProps, onClick: () => void): VNode => (
  <button type="button" class={props.class ?? "small"} disabled={props.disabled} onClick={onClick}>
    {props.act}
    {props.of === undefined ? null : <span class="unseen"> {props.of}</span>}
  </button>
);

interface AskProps extends ButtonProps, Omit<QuestionProps, "act"> {
  /** By default what the button does, asked when there are no fields. */
  title?: string;
  /** What the dialog's button does when that is named otherwise. */
  yes?: string;
}

/** A button that asks first: whether to do it, or with `fields` for more. */
export function Ask({ act, of, class: kind = "small", title, yes, ...more }: AskProps): VNode {
  const [isAsked, setAsked] = useState(false);
  const question = {
    ...more,
    title: title ?? (more.fields === undefined ? `${act}?` : act),
    act: yes ?? act,
  };
  return (
    <>
      {button({ act, of, class: kind }, () => setAsked(true))}
      {isAsked ? <Question {...question} onClose={() => setAsked(false)} /> : null}
    </>
  );
}

/** A button that does its work at once, and says below it what went wrong. */
export function Act({ work, ...more }: ButtonProps & { work: () => Promise<unknown> }): VNode {
  const { busy, fault, run } = useAction();
  return (
    <>
      {button({ ...more, disabled: busy || more.disabled === true }, () => run(work))}
      <Fault text={fault} />
    </>
  );
}

/** Without permission for the clipboard, and over plain HTTP, the old way: it copies what is selected. */
const copied = (text: string, shown: Element | null): Promise<boolean> =>
  Promise.resolve()
    .then(() => navigator.clipboard.writeText(text))
    .then(
      () => true,
      () => {
        if (shown !== null) getSelection()?.selectAllChildren(shown);
        return document.execCommand("copy");
      },
    );

/** Copies `text`, which stands before the button, or elsewhere as `otherwise` says. */
export function Copy(props: {
  text: string;
  what: string;
  act?: string;
  otherwise?: string;
}): VNode {
  const { text, what, act = "Copy", otherwise } = props;
  const [word, setWord] = useState(act);
  useEffect(() => {
    const timer = setTimeout(() => setWord(act), 2_000);
    return () => clearTimeout(timer);
  }, [word]);
  const copy = async (event: { currentTarget: HTMLButtonElement }): Promise<void> => {
    const shown = otherwise === undefined ? event.currentTarget.previousElementSibling : null;
    const isCopied = await copied(text, shown);
    setWord(isCopied ? "Copied" : otherwise === undefined ? "Selected" : act);
    const selected = `${what} is selected: copy it.`;
    announce(
      isCopied ? `${what} copied.` : `The browser does not allow copying. ${otherwise ?? selected}`,
    );
  };
  return (
    <button type="button" class="small" onClick={(event) => void copy(event)}>
      {word}
      {otherwise === undefined ? <span class="unseen"> {what}</span> : null}
    </button>
  );
}

export const Code = ({ text, what }: { text: string; what: string }): VNode => (
  <div class="code">
    <pre class="wrap" tabIndex={0} role="region" aria-label={what}>
      {text}
    </pre>
    <Copy text={text} what={what} />
  </div>
);

const KEEP = "This is the only time it is shown. Copy it to where your server keeps its secrets.";

/** What is shown this once, and says so before it goes. */
export function Once({ title, value, words = KEEP, more }: ShownOnce): VNode {
  const box = useRef<HTMLDivElement>(null);
  // After the dialog that made it is gone: it may stand out of sight, and it is shown only once.
  useEffect(() => box.current?.focus(), [value]);
  const done = (): void => {
    document.querySelector("h1")?.focus();
    shownOnce.value = undefined;
  };
  return (
    <>
      <div class="secret" role="group" aria-label={title} tabIndex={-1} ref={box}>
        <h2>{title}</h2>
        <p>{words}</p>
        <div class="bar">
          <code>{value}</code>
          <Copy text={value} what={title} />
          <button type="button" class="small" onClick={done}>
            I have kept it
          </button>
        </div>
      </div>
      {more}
    </>
  );
}
