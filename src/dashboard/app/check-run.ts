import { trimEntry } from "../../core/address/address.ts";
import { computed, effect, signal } from "@preact/signals";
import { checkEntry } from "../api/check.ts";
import { faultText } from "../api/client.ts";
import type { CheckStep } from "../api/shapes.ts";
import { verdictOf } from "../words/verdict.ts";
import { announce } from "./announce.ts";
import { isEntry } from "../api/asked.ts";
import { nowMs } from "./clock.ts";
import { addRecent } from "./recent.ts";
import { fragment, setFragment } from "./router.ts";
import { loadAllowance, session } from "./session.ts";

export type Shown =
  | { readonly state: "nothing" }
  | { readonly state: "checking"; readonly entry: string }
  | { readonly state: "failed"; readonly entry: string; readonly message: string }
  | {
      readonly state: "answered";
      readonly entry: string;
      readonly step: CheckStep;
      readonly atMs: number;
    };

interface CheckRun {
  /** What stands in the field. */
  readonly text: string;
  readonly shown: Shown;
}

const NOTHING: CheckRun = { text: "", shown: { state: "nothing" } };

/** The account that is signed in, "" for a visitor; undefined until the server has said who is here. */
const ownerId = (): string | undefined =>
  session.value === undefined ? undefined : (session.value.account?.id ?? "");

const kept = signal<CheckRun & { readonly owner: string | undefined }>({
  ...NOTHING,
  owner: undefined,
});

/** The last check, kept while its reader looks at other pages; never shown to another account at this browser. */
export const checkRun = computed<CheckRun>(() =>
  kept.value.owner === ownerId() ? kept.value : NOTHING,
);

// A check of an opened link begins before it is known who asks. It is that reader's: asked again, it would cost a unit more.
effect(() => {
  const owner = ownerId();
  const run = kept.peek();
  if (run.owner === undefined) kept.value = { ...run, owner };
});

export function typed(text: string): void {
  kept.value = { ...checkRun.value, text, owner: ownerId() };
}

/** What the reader does not wait for. */
const afterPaint = (task: () => void): void =>
  void requestAnimationFrame(() => setTimeout(task, 0));

let running: AbortController | undefined;

/** The entry that the page shows or asks about; "" for none. */
const entryOnPage = (): string => {
  const { shown } = checkRun.value;
  return shown.state === "nothing" ? "" : shown.entry;
};

/** Empties the page for the next check. */
export function clearCheck(): void {
  running?.abort();
  running = undefined;
  kept.value = { ...NOTHING, owner: ownerId() };
}

/** Checks what was given; a check that still runs is given up. */
export function check(given: string): void {
  const entry = trimEntry(given);
  if (entry === "") return;
  running?.abort();
  const own = new AbortController();
  running = own;
  const show = (shown: Shown): void => {
    if (running === own) kept.value = { text: checkRun.value.text, shown, owner: ownerId() };
  };
  typed(entry);
  show({ state: "checking", entry });
  setFragment(entry);
  let said = "";
  const take = (step: CheckStep): void => {
    show({ state: "answered", entry, step, atMs: nowMs() });
    afterPaint(() => tell(step));
  };
  const tell = (step: CheckStep): void => {
    if (running !== own) return;
    // The verdict alone: read out whole, the page would take minutes. It is said again when it changes.
    const { mark, stamp, small, sentence, reason } = verdictOf(step, entry);
    addRecent({ entry, mark, stamp });
    const text = `${entry}: ${stamp}, ${small}. ${sentence} ${reason}`;
    if (text !== said) announce(text);
    said = text;
  };
  checkEntry(entry, take, own.signal).then(loadAllowanceOfAccount, (error: unknown) =>
    show({ state: "failed", entry, message: faultText(error) }),
  );
}

/** Checks what the address bar names behind "#", unless the page shows that already. */
export function checkLinked(): void {
  const wanted = fragment.value;
  if (isEntry(wanted) && wanted.trim() !== entryOnPage()) check(wanted);
}

/** The server's counters are up to a quarter of a second behind. */
const BOOKED_AFTER_MS = 400;

const loadAllowanceOfAccount = (): void => {
  if (session.value?.account !== undefined) setTimeout(() => void loadAllowance(), BOOKED_AFTER_MS);
};
