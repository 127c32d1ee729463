import { effect, signal } from "@preact/signals";
import type { Mark } from "../words/verdict.ts";
import { session } from "./session.ts";

/** One of the last checks of this tab. */
export interface Recent {
  readonly entry: string;
  readonly mark: Mark;
  readonly stamp: string;
}

const RECENT_MAX = 8;

export const recent = signal<readonly Recent[]>([]);

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

// Each account at this browser has its own.
effect(() => {
  const name = storedName();
  try {
    const known: unknown = JSON.parse(sessionStorage.getItem(name) ?? "[]");
    recent.value = Array.isArray(known) ? known.filter(isRecent).slice(0, RECENT_MAX) : [];
  } catch {
    recent.value = [];
  }
});

function keep(list: readonly Recent[]): void {
  recent.value = list;
  try {
    sessionStorage.setItem(storedName(), JSON.stringify(list));
  } catch {
    // Without storage they last until the next reload.
  }
}

export function addRecent(one: Recent): void {
  const others = recent.value.filter(({ entry }) => entry !== one.entry);
  keep([one, ...others].slice(0, RECENT_MAX));
}

export const clearRecent = (): void => keep([]);
