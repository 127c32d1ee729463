import { effect, signal } from "@preact/signals";
import { nowMs } from "../app/clock.ts";
import { session } from "../app/session.ts";

/** One of the lists that this browser has sent, in whichever tab. */
export interface Shelved {
  readonly sessions: readonly string[];
  readonly name: string;
  readonly entries?: number;
  readonly good?: number;
  /** Absent while it runs. */
  readonly expiresAtMs?: number;
  readonly begunAtMs: number;
}

const SHELF_MAX = 6;

/** How long a list that is deleted stays to be seen. */
const SHOWN_AFTER_MS = 30 * 60_000;

export const shelf = signal<readonly Shelved[]>([]);

const storedName = (): string => `gatepost-shelf ${session.value?.account?.id ?? ""}`;

function isShelved(value: unknown): value is Shelved {
  if (typeof value !== "object" || value === null) return false;
  const { sessions, name, begunAtMs } = value as Record<string, unknown>;
  return Array.isArray(sessions) && typeof name === "string" && typeof begunAtMs === "number";
}

function stored(): readonly Shelved[] {
  try {
    const known: unknown = JSON.parse(localStorage.getItem(storedName()) ?? "[]");
    if (!Array.isArray(known)) return [];
    const now = nowMs();
    return known
      .filter(isShelved)
      .filter(({ expiresAtMs = now }) => now - expiresAtMs < SHOWN_AFTER_MS);
  } catch {
    return [];
  }
}

effect(() => {
  shelf.value = stored();
});

// Every tab shows the same shelf.
if (typeof addEventListener === "function") {
  addEventListener("storage", ({ key }) => {
    if (key === storedName()) shelf.value = stored();
  });
}

function keep(lists: readonly Shelved[]): void {
  shelf.value = lists;
  try {
    localStorage.setItem(storedName(), JSON.stringify(lists));
  } catch {
    // Without storage each tab knows its own lists alone.
  }
}

type News = Partial<Pick<Shelved, "entries" | "good" | "expiresAtMs">> & { readonly name: string };

/** Puts a list in front, or says more of it. The first session names it. */
export function putOnShelf(sessions: readonly string[], news: News): void {
  const all = stored();
  const known = all.find((one) => one.sessions[0] === sessions[0]);
  const others = all.filter((one) => one !== known);
  const list = { begunAtMs: nowMs(), ...known, ...news, sessions };
  keep([list, ...others].slice(0, SHELF_MAX));
}

export function takeFromShelf(sessions: readonly string[]): void {
  keep(stored().filter((one) => one.sessions[0] !== sessions[0]));
}
