import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** What had the focus last, then what it stood in, from the inside out. */
let trail: readonly Element[] = [];

/** The last one, while it is switched off. */
let off: Element | undefined;

/**
 * Gives the focus back when what had it was switched off for a moment, as a button that is busy, and passes it on to
 * the heading above when that is gone, as the row of a key that is revoked. It would fall to the page: the keyboard
 * would begin at the top again, and a screen reader would fall silent.
 */
export function keepFocus(): void {
  document.addEventListener("focusin", ({ target }) => {
    trail = trailOf(target);
  });
  new MutationObserver(look).observe(document.body, {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter: ["disabled"],
  });
}

function trailOf(target: EventTarget | null): readonly Element[] {
  const found: Element[] = [];
  for (let at = target instanceof Element ? target : null; at !== null; at = at.parentElement) {
    found.push(at);
  }
  return found;
}

function look(): void {
  const [last, ...around] = trail;
  if (!(last instanceof HTMLElement)) return;
  if (last.isConnected && last.matches(":disabled")) {
    off = last; // the browser takes the focus from it only later
    return;
  }
  const wasOff = off === last;
  off = undefined;
  if (document.activeElement !== document.body) return;
  if (!last.isConnected) focusHeading(around);
  else if (wasOff) last.focus({ preventScroll: true });
  // What else lost it, such as by a click beside it, was left on purpose.
}

/** The heading of the innermost part that is still there; nothing while the page is on its way. */
function focusHeading(parts: readonly Element[]): void {
  const main = document.querySelector("main");
  const left = parts.filter((part) => part !== main && main?.contains(part) === true);
  const headings = [...left, main].map((part) => part?.querySelector<HTMLElement>("h1, h2, h3"));
  const heading = headings.find((found) => found !== null && found !== undefined);
  if (heading === undefined || heading === null) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

/** What takes a file that is dropped anywhere on the page. */
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

/** Takes such a file. True while one is held over the page. */
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
