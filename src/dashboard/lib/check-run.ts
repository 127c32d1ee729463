import { signal } from "@preact/signals";
import { verdictOf } from "../words/verdict.ts";
import { isEntry, trimEntry } from "./asked.ts";
import { checkEntry, faultText } from "./client.ts";
import { nowMs } from "./format.ts";
import { fragment, setFragment } from "./router.ts";
import { loadAllowanceSoon, ownerId, whenOwnerChanges } from "./session.ts";
import type { CheckStep } from "./shapes.ts";
import { announce } from "./state.ts";

interface Answered {
  readonly state: "answered";
  readonly entry: string;
  readonly step: CheckStep;
  readonly atMs: number;
}

export type Shown =
  | { readonly state: "nothing" }
  | { readonly state: "checking"; readonly entry: string }
  | { readonly state: "failed"; readonly entry: string; readonly message: string }
  | Answered;

interface CheckRun {
  /** What stands in the field. */
  readonly text: string;
  readonly shown: Shown;
}

const NOTHING: CheckRun = { text: "", shown: { state: "nothing" } };

/** The last check, kept while its reader looks at other pages; never shown to another account at this browser. */
export const checkRun = signal(NOTHING);

// A check of an opened link begins before it is known who asks. It is that reader's: asked again, it would cost a unit more.
whenOwnerChanges(() => {
  stop();
  checkRun.value = NOTHING;
});

export function typed(text: string): void {
  checkRun.value = { ...checkRun.value, text };
}

/** What the reader does not wait for. */
const afterPaint = (task: () => void): void =>
  void requestAnimationFrame(() => setTimeout(task, 0));

let running: AbortController | undefined;

function stop(): void {
  running?.abort();
  running = undefined;
}

/** Checks what was given, in the address bar too; a check that still runs is given up. */
export function check(given: string): void {
  const entry = trimEntry(given);
  if (entry === "") return;
  stop();
  const own = new AbortController();
  running = own;
  const show = (shown: Shown): void => {
    if (running === own) checkRun.value = { text: checkRun.value.text, shown };
  };
  typed(entry);
  show({ state: "checking", entry });
  setFragment(entry);
  let said = "";
  const take = (step: CheckStep): void => {
    const answered = { state: "answered", entry, step, atMs: nowMs() } as const;
    show(answered);
    afterPaint(() => tell(answered));
  };
  const tell = (answered: Answered): void => {
    if (running !== own) return;
    keepInHistory(answered);
    // The verdict alone: read out whole, the page would take minutes. It is said again when it changes.
    const { stamp, small, sentence, reason } = verdictOf(answered.step, entry);
    const text = `${entry}: ${stamp}, ${small}. ${sentence} ${reason}`;
    if (text !== said) announce(text);
    said = text;
  };
  checkEntry(entry, take, own.signal).then(loadAllowanceSoon, (error: unknown) =>
    show({ state: "failed", entry, message: faultText(error) }),
  );
}

/** With the step of the history, so that Back and a reload show it again and cost nothing. */
function keepInHistory(answered: Answered): void {
  if (fragment.value === answered.entry) {
    history.replaceState({ ...answered, owner: ownerId() ?? "" }, "");
  }
}

/** Shows what the address bar names behind "#": as it was found before, else by a check; nothing for none. */
export function checkLinked(): void {
  const wanted = trimEntry(fragment.value);
  const { shown } = checkRun.value;
  const entry = shown.state === "nothing" ? "" : shown.entry;
  if (wanted === entry) return;
  if (!isEntry(wanted)) {
    stop();
    checkRun.value = NOTHING;
    return;
  }
  const known = history.state as (Answered & { readonly owner: string }) | null;
  if (known?.entry === wanted && known.owner === (ownerId() ?? "")) {
    stop();
    checkRun.value = { text: wanted, shown: known };
  } else check(wanted);
}
