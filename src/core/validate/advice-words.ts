import type { Feature, PremiumFields } from "../checks/check.ts";

/** `unknown`: nobody could say, or there is nothing to say it of. */
export type AdviceState = "good" | "warn" | "bad" | "unknown";

/** What one premium result means to somebody who sends mail, without the terms of the standards. */
export interface Advice {
  readonly check: Feature | "spam_trap";
  readonly state: AdviceState;
  /** Whole sentences of printable text. */
  readonly says: string;
  /** What to change, mostly in DNS; absent when there is nothing to change. */
  readonly fix?: string;
}

/** The part of a result that advice is given on. */
export type Advised = PremiumFields & {
  readonly domain: string;
  /** Whether the domain has a usable mail host. */
  readonly dns: boolean;
};

/** Advice before it is known which check it is on. */
export type Words = Omit<Advice, "check">;
