import type { ComponentChildren, VNode } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { useAction } from "../app/load.ts";
import { t } from "../app/i18n.ts";
import { Fault } from "./states.tsx";

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

/** The way out of a form in a dialog, and what it does. */
export function FormFoot(props: {
  act: string;
  disabled: boolean;
  onClose: () => void;
  leave?: string;
}): VNode {
  return (
    <div class="bar">
      <span class="push" />
      <button type="button" class="plain" onClick={props.onClose}>
        {props.leave ?? t("Cancel")}
      </button>
      <button type="submit" class="main" disabled={props.disabled}>
        {props.act}
      </button>
    </div>
  );
}

/** Asks before something that cannot be taken back. */
export function Confirm(props: {
  title: string;
  act: string;
  work: () => Promise<void>;
  onClose: () => void;
  children: ComponentChildren;
}): VNode {
  const { busy, fault, run } = useAction();
  const confirm = (): void =>
    run(async () => {
      await props.work();
      props.onClose();
    });
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <div class="prose">{props.children}</div>
      <Fault text={fault} />
      <div class="bar">
        <span class="push" />
        <button type="button" class="plain" onClick={props.onClose}>
          {t("Keep it as it is")}
        </button>
        <button type="button" class="main grave" disabled={busy} onClick={confirm}>
          {props.act}
        </button>
      </div>
    </Dialog>
  );
}
