import type { ComponentChildren, VNode } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useAction } from "../lib/load.ts";
import { Button, type ButtonProps, Fault } from "./button.tsx";
import { done, Form, type FormProps, type FormValues } from "./form.tsx";

/** A native modal dialog that opens when it appears. Escape and its own buttons call `onClose`. */
export function Dialog(props: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
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

interface ActQuestion {
  readonly title: string;
  readonly words: ComponentChildren;
  readonly values?: FormValues;
}

interface ActProps extends ButtonProps, Omit<FormProps, "extra"> {
  title?: string;
  yes?: string;
  asks?: (values: FormValues) => Promise<ActQuestion | undefined>;
}

/** A button that does its work, or asks first: what its children say, for more by `fields`, or what `asks` finds. */
export function Act({ of, class: kind, title, yes, asks, disabled, ...props }: ActProps): VNode {
  const { act, fields, children } = props;
  const [question, setQuestion] = useState<ActQuestion>();
  const { busy, fault, run } = useAction();
  const close = (): void => setQuestion(undefined);
  const send = async (given: FormValues): Promise<void> => {
    const { values } = question ?? {};
    const next = values === undefined ? await asks?.(given) : undefined;
    if (next !== undefined) return setQuestion({ ...next, values: given });
    await done(props, values ?? given);
    return close();
  };
  const press = (): void => {
    const named = title ?? [act, of].join(" ").trim() + (fields === undefined ? "?" : "");
    if (children || fields) setQuestion({ title: named, words: "" });
    else run(() => send({}));
  };
  const shown = question?.values === undefined ? fields : undefined;
  const words = question?.words || children;
  const no = shown === undefined ? "Keep it as it is" : "Cancel";
  const grave = props.grave ?? shown === undefined;
  return (
    <>
      <Button {...{ act, of, class: kind ?? "small", disabled, busy }} onClick={press} />
      <Fault text={fault} />
      {question && (
        <Dialog key={question.title} title={question.title} onClose={close}>
          <Form
            {...{ class: "stack", act: yes ?? act, fields: shown, grave, send }}
            extra={<Button act={no} class="plain push" onClick={close} />}
          >
            {words && <div class="prose">{words}</div>}
          </Form>
        </Dialog>
      )}
    </>
  );
}
