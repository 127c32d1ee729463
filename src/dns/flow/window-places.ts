import type { Permits } from "../transport/lane.ts";
import type { SharedCap } from "./shared-cap.ts";
import type { Window } from "./window.ts";

/** The places of one client: as many as its window has, within what the process's cap leaves. */
export class WindowPlaces implements Permits {
  held = 0;
  readonly #window: Window;
  readonly #cap: SharedCap;
  readonly #limit: number;

  /** `limit` of the cap's places. */
  constructor(window: Window, cap: SharedCap, limit: number) {
    this.#window = window;
    this.#cap = cap;
    this.#limit = limit;
  }

  take(): boolean {
    if (this.held >= this.#window.size || !this.#cap.take(this.#limit)) return false;
    this.held += 1;
    return true;
  }

  giveBack(): void {
    this.held -= 1;
    this.#cap.giveBack();
  }
}
