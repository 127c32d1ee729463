import { signal } from "@preact/signals";
import type { CheckStep } from "../../http/account/shapes.ts";
import { verdictOf } from "../words/verdict.ts";
import { checkEntry, faultText } from "./client.ts";
import { nowMs } from "./format.ts";
import { fragment, setFragment } from "./router.ts";
import { loadAllowanceSoon, ownerId, whenOwnerChanges } from "./session.ts";
import { announce } from "./state.ts";

export interface AnsweredCheck {
  readonly state: "answered";
  readonly entry: string;
  readonly step: CheckStep;
  readonly atMs: number;
}

type Shown =
  | { readonly state: "nothing"; readonly entry: "" }
  | { readonly state: "checking"; readonly entry: string }
  | { readonly state: "failed"; readonly entry: string; readonly message: string }
  | AnsweredCheck;

const NOTHING: Shown = { state: "nothing", entry: "" };

export const typed = signal("");

/** The last check, kept while its reader looks at other pages; never shown to another account at this browser. */
export const shownCheck = signal<Shown>(NOTHING);

let running: AbortController | undefined;

function show(shown: Shown): void {
  running?.abort();
  running = undefined;
  shownCheck.value = shown;
  typed.value = shown.entry;
}

whenOwnerChanges(() => show(NOTHING));

const trimEntry = (text: string): string =>
  text.replace(/^[\s\u0085\u200b]+|[\s\u0085\u200b]+$/g, "");

export function check(given: string): void {
  const entry = trimEntry(given);
  if (entry === "") return;
  show({ state: "checking", entry });
  const own = (running = new AbortController());
  setFragment(entry);
  let said = "";
  const take = (step: CheckStep): void => {
    if (running !== own) return;
    const answered = { state: "answered", entry, step, atMs: nowMs() } as const;
    shownCheck.value = answered;
    // Its reader does not wait for the rest.
    requestAnimationFrame(() => setTimeout(() => running === own && tell(answered), 0));
  };
  const tell = (answered: AnsweredCheck): void => {
    // With the step of the history, so that Back and a reload show it again and cost nothing.
    if (fragment.value === entry) history.replaceState({ ...answered, owner: ownerId() }, "");
    // The verdict alone: read out whole, the page would take minutes. It is said again when it changes.
    const { stamp, small, sentence, reason } = verdictOf(answered.step, entry);
    const text = `${entry}: ${stamp}, ${small}. ${sentence} ${reason}`;
    if (text !== said) announce(text);
    said = text;
  };
  checkEntry(entry, take, own.signal).then(loadAllowanceSoon, (error: unknown) => {
    if (running === own) shownCheck.value = { state: "failed", entry, message: faultText(error) };
  });
}

/** Shows what the address bar names behind "#": as it was found before, else by a check; nothing for none. */
export function checkLinked(): void {
  const wanted = trimEntry(fragment.value);
  if (wanted === shownCheck.value.entry) return;
  const known = history.state as (AnsweredCheck & { readonly owner: string }) | null;
  if (wanted === "") show(NOTHING);
  else if (known?.entry === wanted && known.owner === ownerId()) show(known);
  else check(wanted);
}
