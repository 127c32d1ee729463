import type { Awaitable } from "../core/lookup.ts";
import type { Entrance } from "./gate.ts";

/** A single check as a client asked for it. */
export interface CheckRequest {
  /** Not empty; as sent, blanks included. */
  readonly text: string;
  readonly mode: "address" | "domain";
  /** Feature names as asked, lower case, in order; unknown ones may be among them. */
  readonly features: readonly string[];
}

export interface CheckAnswer {
  /** The JSON body, keys in the contract's order. */
  readonly body: string;
  readonly paidBy: "plan" | "credits";
}

export type CheckOne = (entrance: Entrance, request: CheckRequest) => Awaitable<CheckAnswer>;
