import type { ComponentChildren, VNode } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { useAction } from "../app/load.ts";
import { Fault } from "./states.tsx";

/** A native modal dialog that opens when it appears. Escape and its own buttons call `onClose`. */
export function Dialog(props: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}): VNode {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={props.onClose}>
      <div class="stack">
        <h2 id={id}>{props.title}</h2>
        {props.children}
      </div>
    </dialog>
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
          Keep it as it is
        </button>
        <button type="button" class="main grave" disabled={busy} onClick={confirm}>
          {props.act}
        </button>
      </div>
    </Dialog>
  );
}
