import { effect, signal } from "@preact/signals";
import type { VNode } from "preact";
import { path } from "./router.ts";
import { store, stored, whenOwnerChanges } from "./session.ts";

export const announcement = signal("");

export function announce(text: string): void {
  announcement.value = "";
  requestAnimationFrame(() => (announcement.value = text));
}

export interface Notice {
  readonly words: string;
  readonly undo?: (() => Promise<unknown>) | undefined;
}

export const notice = signal<Notice | undefined>(undefined);

export const say = (words: string, undo?: Notice["undo"]): void =>
  void (notice.value = { words, undo });

export interface MadeKey {
  readonly id: string;
  readonly api_key: string;
}

export interface ShownOnce {
  /** Of the key or hook that it belongs to; a newer one takes the place of an older. */
  readonly id?: string;
  readonly title: string;
  readonly value: string;
  readonly words?: string;
  readonly more?: VNode;
}

type Secret = ShownOnce & { readonly id: string; readonly page: string };

/** Above every page until each is dismissed, newest first. */
export const secrets = signal<readonly Secret[]>([]);

export function showOnce({ id = "", ...one }: ShownOnce): void {
  const key = id || one.title;
  dropSecret(key);
  secrets.value = [{ ...one, id: key, page: path.value }, ...secrets.value];
}

export const dropSecret = (id: string): void =>
  void (secrets.value = secrets.value.filter((one) => one.id !== id));

/** Shows the secret that an answer brings; null: the server made no new one. */
export async function showSecret(
  title: string,
  made: Promise<{ readonly secret: string | null }>,
  id = title,
): Promise<void> {
  const { secret: value } = await made;
  if (value !== null) showOnce({ id, title, value });
}

// The browser asks before the page, and a secret with it, is gone.
addEventListener("beforeunload", (event) => secrets.value.length > 0 && event.preventDefault());

// One account's secrets must not appear to the next one at this browser.
whenOwnerChanges(() => void (secrets.value = []));

const THEME = "gatepost-theme";

export const theme = signal(stored(THEME) ?? "system");

effect(() => {
  document.documentElement.dataset["theme"] = theme.value;
  store(THEME, theme.value);
});
