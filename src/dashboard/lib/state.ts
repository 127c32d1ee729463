import { effect, signal } from "@preact/signals";
import type { VNode } from "preact";
import { store, stored, whenOwnerChanges } from "./session.ts";

/** Short announcements to a screen reader: "Copied.", "50 % checked." */
export const announcement = signal("");

export function announce(text: string): void {
  announcement.value = "";
  requestAnimationFrame(() => (announcement.value = text));
}

export interface Notice {
  readonly words: string;
  readonly undo?: (() => Promise<unknown>) | undefined;
}

/** Until its reader closes it, goes to another page or does the next thing. */
export const notice = signal<Notice | undefined>(undefined);

export const say = (words: string, undo?: Notice["undo"]): void =>
  void (notice.value = { words, undo });

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

/** Shows the secret that an answer brings; null: the server made no new one. */
export const showSecret =
  (title: string) =>
  ({ secret: value }: { readonly secret: string | null }): void => {
    if (value !== null) shownOnce.value = { title, value };
  };

// One account's key must not appear in the samples of the next one at this browser.
whenOwnerChanges(() => (freshKey.value = shownOnce.value = undefined));

const THEME = "gatepost-theme";

export const theme = signal(stored(THEME) ?? "system");

effect(() => {
  document.documentElement.dataset["theme"] = theme.value;
  store(THEME, theme.value);
});
