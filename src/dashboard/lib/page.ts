import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** What had the focus last, then what it stood in, from the inside out. */
let trail: readonly Element[] = [];

/**
 * Passes the focus on to the heading above when what had it is gone, as the row of a key that is revoked. It would fall
 * to the page: the keyboard would begin at the top again, and a screen reader would fall silent.
 */
export function keepFocus(): void {
  document.addEventListener("focusin", ({ target }) => {
    const found: Element[] = [];
    let at = target instanceof Element ? target : null;
    for (; at !== null; at = at.parentElement) found.push(at);
    trail = found;
  });
  new MutationObserver(() => {
    // What else lost it, such as by a click beside it, was left on purpose.
    if (document.activeElement === document.body && trail[0]?.isConnected === false) focusHeading();
  }).observe(document.body, { childList: true, subtree: true });
}

/** The heading of the innermost part that is still there; nothing while the page is on its way. */
function focusHeading(): void {
  const main = document.querySelector("main");
  const left = trail.filter((part) => main?.contains(part) === true);
  const headings = [...left, main].map((part) => part?.querySelector<HTMLElement>("h1, h2, h3"));
  const heading = headings.find((found) => found);
  if (!heading) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

let takeFile: ((file: File | undefined) => void) | undefined;

const isFileOver = signal(false);

/** A file that nothing takes would open in the page's place, and all that stands there be lost. */
export function catchDrops(): void {
  const catchOne = (event: DragEvent): void => {
    const { dataTransfer, target, type } = event;
    const isInput = target instanceof HTMLInputElement && target.type === "file";
    if (isInput || dataTransfer?.types.includes("Files") !== true) return;
    event.preventDefault();
    if (takeFile === undefined) dataTransfer.dropEffect = "none";
    isFileOver.value = type === "dragover";
    if (type === "drop") takeFile?.(dataTransfer.files[0]);
  };
  for (const kind of ["dragover", "dragleave", "drop"] as const) addEventListener(kind, catchOne);
}

export function useDroppedFile(onFile: (file: File | undefined) => void): boolean {
  useEffect(() => {
    takeFile = onFile;
    return () => {
      takeFile = undefined;
    };
  });
  return isFileOver.value;
}

/** Dropped on the front page before its visitor had an account: the page of lists takes it. It stays in the browser. */
export const brought: { file?: File | undefined } = {};
