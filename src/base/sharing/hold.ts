import { StacklessError } from "../stackless-error.ts";
import type { ResourceName } from "./resources.ts";

/** Whether the owner is over its own share, or everything is in use. */
export type WhyNoRoom = "owner" | "all";

/** Work that finds no room: it was not started. The HTTP floor answers 429 for `owner` and 503 for `all`. */
export class NoRoom extends StacklessError {
  readonly resource: ResourceName;
  readonly why: WhyNoRoom;

  constructor(resource: ResourceName, why: WhyNoRoom) {
    super(`no room: ${resource}, ${why}`);
    this.name = "NoRoom";
    this.resource = resource;
    this.why = why;
  }
}

/** What an owner holds of a resource. */
export interface Hold {
  /** Takes more, or throws `NoRoom` and holds what it held. */
  grow(amount: number): void;
  /** Gives a part of it back. */
  shrink(amount: number): void;
  /** From now on it is never reclaimed: its work can no longer be ended. */
  keep(): void;
  /** Gives all of it back; later calls do nothing. */
  release(): void;
}

export interface TakeOptions {
  /**
   * Called when an owner with less than an equal part needs room that this owner has beyond one. It must end the
   * work and release the hold before it returns. Absent: the hold is never taken away.
   */
  readonly reclaim?: () => void;
}
