import type { VNode } from "preact";
import { useRef } from "preact/hooks";
import { say } from "../lib/state.ts";

interface FaultProps {
  text: string;
  retry?: () => void;
  stale?: boolean;
}

export const Fault = ({ text, retry, stale }: FaultProps): VNode | null =>
  text === "" ? null : (
    <div class={stale ? "notice no stale" : "notice no"} role="alert">
      <span>{text}</span>
      {retry && <Button act="Try again" onClick={retry} />}
    </div>
  );

export interface ButtonProps {
  act: string;
  /** For screen readers: which of many. */
  of?: string | undefined;
  class?: string;
  disabled?: boolean | undefined;
  busy?: boolean;
}

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

export const SignButton = (props: {
  sign: string;
  label: string;
  onClick: () => void;
  disabled?: boolean;
}): VNode => (
  <button
    type="button"
    class="small plain"
    disabled={props.disabled}
    aria-label={props.label}
    onClick={props.onClick}
  >
    {props.sign}
  </button>
);

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
