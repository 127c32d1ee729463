import { signal } from "@preact/signals";
import type { ComponentChildren, VNode } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { t } from "../app/i18n.ts";
import type { Loading } from "../app/load.ts";

/** How many parts of the page are on their way: what stands below them waits, too. */
export const waiting = signal(0);

/** Lines in the place of what is on its way, so that the layout stays still. */
export function Bones({ lines = 3 }: { lines?: number }): VNode {
  useLayoutEffect(() => {
    waiting.value += 1;
    return () => {
      waiting.value -= 1;
    };
  }, []);
  return (
    <div class="bones" role="status">
      <span class="unseen">{t("Loading")}</span>
      {Array.from({ length: lines }, (_, at) => (
        <i key={at} />
      ))}
    </div>
  );
}

/** What failed, and the way on. */
export function Failed({ message, retry }: { message: string; retry: () => void }): VNode {
  return (
    <div class="notice no" role="alert">
      <span>{message}</span>
      <button type="button" class="small" onClick={retry}>
        {t("Try again")}
      </button>
    </div>
  );
}

/** A list with nothing in it teaches what would be there. */
export function Empty(props: { title: string; children: ComponentChildren }): VNode {
  return (
    <div class="empty">
      <h2>{props.title}</h2>
      {props.children}
    </div>
  );
}

/** Shows `children` of what was loaded, or why it is not there. */
export function Shown<Value>(props: {
  loading: Loading<Value>;
  lines?: number;
  children: (value: Value) => ComponentChildren;
}): VNode {
  const { loaded, reload } = props.loading;
  if (loaded.state === "loading") return <Bones lines={props.lines ?? 3} />;
  if (loaded.state === "failed") return <Failed message={loaded.message} retry={reload} />;
  return <>{props.children(loaded.value)}</>;
}

/** The fault of a form or a button; nothing when there is none. */
export function Fault({ text }: { text: string }): VNode | null {
  if (text === "") return null;
  return (
    <p class="notice no" role="alert">
      {text}
    </p>
  );
}
