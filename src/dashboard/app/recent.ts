import { computed, signal } from "@preact/signals";
import type { Mark } from "../words/verdict.ts";
import { session } from "./session.ts";

/** One of the last checks of this tab. */
export interface Recent {
  readonly entry: string;
  readonly mark: Mark;
  readonly stamp: string;
}

const RECENT_MAX = 8;

const storedName = (): string => `gatepost-recent ${session.value?.account?.id ?? "visitor"}`;

function isRecent(value: unknown): value is Recent {
  return (
    typeof value === "object" &&
    value !== null &&
    ["entry", "mark", "stamp"].every(
      (name) => typeof (value as Record<string, unknown>)[name] === "string",
    )
  );
}

function stored(name: string): readonly Recent[] {
  try {
    const known: unknown = JSON.parse(sessionStorage.getItem(name) ?? "[]");
    return Array.isArray(known) ? known.filter(isRecent).slice(0, RECENT_MAX) : [];
  } catch {
    return [];
  }
}

/** What this page has kept itself, and under which name. */
const kept = signal<{ readonly name: string; readonly list: readonly Recent[] } | undefined>(
  undefined,
);

/** Each account at this browser has its own. Read when first shown: the browser waits up to 100 ms for its storage. */
export const recent = computed<readonly Recent[]>(() => {
  const name = storedName();
  return kept.value?.name === name ? kept.value.list : stored(name);
});

function keep(list: readonly Recent[]): void {
  const name = storedName();
  kept.value = { name, list };
  try {
    sessionStorage.setItem(name, JSON.stringify(list));
  } catch {
    // Without storage they last until the next reload.
  }
}

export function addRecent(one: Recent): void {
  const others = recent.value.filter(({ entry }) => entry !== one.entry);
  keep([one, ...others].slice(0, RECENT_MAX));
}

export const clearRecent = (): void => keep([]);
