import { effect, signal } from "@preact/signals";
import { session } from "./session.ts";

/** Short announcements to a screen reader: "Copied.", "Key revoked." */
export const announcement = signal("");

export function announce(text: string): void {
  announcement.value = "";
  requestAnimationFrame(() => {
    announcement.value = text;
  });
}

/** One sentence above the page: what was done, with the way back or the way on. */
export interface Notice {
  readonly words: string;
  readonly undo?: () => Promise<unknown>;
  readonly href?: string;
}

/** Until its reader closes it, goes to another page or does the next thing. */
export const notice = signal<Notice | undefined>(undefined);

/** Says what was done; with `undo` it can be taken back. */
export function say(words: string, undo?: () => Promise<unknown>): void {
  notice.value = { words, ...(undo && { undo }) };
}

/** A key as the server answers it once, when it is made. */
export interface MadeKey {
  readonly id: string;
  readonly name: string;
  readonly api_key: string;
  /** Of a publishable key alone. */
  readonly origins?: readonly string[];
}

/** The secret key made in this tab since it was loaded: samples hold it, so that they run as copied. */
export const freshKey = signal<MadeKey | undefined>(undefined);

let ownerId: string | undefined;

// One account's key must not appear in the samples of the next one at this browser.
effect(() => {
  const id = session.value?.account?.id;
  if (id !== ownerId) freshKey.value = undefined;
  ownerId = id;
});

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const STORED = "gatepost-theme";

/** Storage may be switched off in the browser. */
function stored(): string | null {
  try {
    return localStorage.getItem(STORED);
  } catch {
    return null;
  }
}

export const theme = signal<Theme>(THEMES.find((name) => name === stored()) ?? "system");

/** Shows the page in `name`. */
export function showTheme(name: Theme): void {
  theme.value = name;
  if (name === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = name;
}

/** The same, and remembers it in this browser. */
export function chooseTheme(name: Theme): void {
  showTheme(name);
  try {
    localStorage.setItem(STORED, name);
  } catch {
    // Then it holds for this visit.
  }
}
