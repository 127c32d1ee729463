import { signal } from "@preact/signals";
import type { VNode } from "preact";
import { store, stored, whenOwnerChanges } from "./session.ts";

/** Short announcements to a screen reader: "Copied.", "Key revoked." */
export const announcement = signal("");

export function announce(text: string): void {
  announcement.value = "";
  requestAnimationFrame(() => {
    announcement.value = text;
  });
}

/** The same once something is done. */
export const told = (work: Promise<unknown>, said: string): Promise<void> =>
  work.then(() => announce(said));

/** One sentence above the page: what was done, with the way back. */
export interface Notice {
  readonly words: string;
  readonly undo?: () => Promise<unknown>;
}

/** Until its reader closes it, goes to another page or does the next thing. */
export const notice = signal<Notice | undefined>(undefined);

export function say(words: string, undo?: () => Promise<unknown>): void {
  notice.value = { words, ...(undo && { undo }) };
}

export interface MadeKey {
  readonly id: string;
  readonly api_key: string;
}

/** The secret key made in this tab since it was loaded: samples hold it, so that they run as copied. */
export const freshKey = signal<MadeKey | undefined>(undefined);

/** What the server tells this once, above the page until its reader has kept it. */
export interface ShownOnce {
  readonly title: string;
  readonly value: string;
  readonly words?: string;
  readonly more?: VNode;
}

export const shownOnce = signal<ShownOnce | undefined>(undefined);

/** Shows what the server made; null: it made nothing new. */
export const showOnce = (title: string, value: string | null): void => {
  if (value !== null) shownOnce.value = { title, value };
};

// One account's key must not appear in the samples of the next one at this browser.
whenOwnerChanges(() => (freshKey.value = shownOnce.value = undefined));

export const THEMES = [
  ["system", "As the system"],
  ["light", "Light"],
  ["dark", "Dark"],
] as const;

const THEME = "gatepost-theme";

export const theme = signal(stored(THEME) ?? "system");

export function showTheme(name: string): void {
  theme.value = name;
  if (name === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = name;
}

export function chooseTheme(name: string): void {
  showTheme(name);
  store(THEME, name);
}
