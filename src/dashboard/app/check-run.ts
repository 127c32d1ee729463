import { computed, signal } from "@preact/signals";
import { checkAsAccount, checkAsVisitor } from "../api/check.ts";
import { faultText } from "../api/client.ts";
import type { CheckStep } from "../api/shapes.ts";
import { verdictOf } from "../words/verdict.ts";
import { announce } from "./announce.ts";
import { loadAllowance, session } from "./session.ts";

export type Shown =
  | { readonly state: "nothing" }
  | { readonly state: "checking"; readonly entry: string }
  | { readonly state: "failed"; readonly entry: string; readonly message: string }
  | { readonly state: "answered"; readonly entry: string; readonly step: CheckStep };

interface CheckRun {
  /** What stands in the field. */
  readonly text: string;
  readonly shown: Shown;
}

const NOTHING: CheckRun = { text: "", shown: { state: "nothing" } };

const ownerId = (): string | undefined => session.value?.account?.id;

const kept = signal<CheckRun & { readonly owner: string | undefined }>({
  ...NOTHING,
  owner: undefined,
});

/** The last check, kept while its reader looks at other pages; nobody else at this browser sees it. */
export const checkRun = computed<CheckRun>(() =>
  kept.value.owner === ownerId() ? kept.value : NOTHING,
);

export function typed(text: string): void {
  kept.value = { ...checkRun.value, text, owner: ownerId() };
}

let running: AbortController | undefined;

/** Checks what was given; one that still runs is given up. */
export function check(given: string): void {
  const entry = given.trim();
  if (entry === "") return;
  running?.abort();
  const own = new AbortController();
  running = own;
  const show = (shown: Shown): void => {
    if (running === own) kept.value = { text: checkRun.value.text, shown, owner: ownerId() };
  };
  typed(entry);
  show({ state: "checking", entry });
  const ask = session.value?.account === undefined ? checkAsVisitor : checkAsAccount;
  let said = "";
  const take = (step: CheckStep): void => {
    show({ state: "answered", entry, step });
    // The verdict alone: read out whole, the page would take minutes. It is said again when it changes.
    const { stamp, small, sentence, reason } = verdictOf(step);
    const words = `${entry}: ${stamp}, ${small}. ${sentence} ${reason}`;
    if (words !== said && running === own) announce(words);
    said = words;
  };
  ask(entry, take, own.signal).then(loadAllowanceOfAccount, (error: unknown) =>
    show({ state: "failed", entry, message: faultText(error) }),
  );
}

/** The server's books are up to a quarter of a second behind. */
const BOOKED_AFTER_MS = 400;

const loadAllowanceOfAccount = (): void => {
  if (session.value?.account !== undefined) setTimeout(() => void loadAllowance(), BOOKED_AFTER_MS);
};
