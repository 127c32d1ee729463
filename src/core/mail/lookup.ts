/** The seam to DNS and registries. What an adapter could not find out is `unknown`, never `absent`. */

/** Why nothing is there, on authority: NXDOMAIN, or the name exists without that type (RFC 2308 section 2). */
export type AbsentReason = "noName" | "noData";

export type UnknownReason =
  | "timeout"
  | "servfail"
  | "refused"
  | "malformed"
  | "network"
  | "deadline"
  /** The resolver says "no", also about names that must exist. */
  | "suspect"
  /** The resolver says that it withholds or forges the answer. */
  | "filtered";

interface Reusable {
  /** Milliseconds since the Unix epoch until which this answer may be reused; absent: ask again. */
  readonly expiresAtMs?: number;
}

export interface Found<T> extends Reusable {
  readonly kind: "found";
  readonly records: readonly T[];
}

export interface Absent extends Reusable {
  readonly kind: "absent";
  readonly why: AbsentReason;
}

export interface Unknown extends Reusable {
  readonly kind: "unknown";
  readonly why: UnknownReason;
}

/** "Yes, these", "no" and "could not tell" stay three values to the last line. */
export type Answer<T> = Found<T> | Absent | Unknown;

/** A cached answer comes back at once, without a promise: bulk lists live from that. */
export type Awaitable<T> = T | Promise<T>;

export interface MailExchange {
  /** The lower is tried first (RFC 5321 section 5.1). 0 to 65,535. */
  readonly preference: number;
  /** Lower case, no trailing dot; "" is the root, which null MX uses (RFC 7505). May be no host name: see `isMailHost`. */
  readonly host: string;
}

/** When a registrable domain was registered: the RDAP event "registration" (RFC 9083 section 4.5). */
export interface Registration {
  readonly registeredAtMs: number;
}

export interface Until {
  readonly isPast: boolean;
}

/** Several askers of one question: past when all of them have stopped waiting. */
export class Askers implements Until {
  readonly #untils: Until[] = [];
  #isForever = false;

  /** Absent: this asker waits as long as it takes. */
  add(until: Until | undefined): void {
    if (until === undefined) this.#isForever = true;
    else this.#untils.push(until);
  }

  get isPast(): boolean {
    return !this.#isForever && this.#untils.every(({ isPast }) => isPast);
  }
}

/**
 * Never rejects for what a peer did. `by`: the owner whose share of the questions under way is used. `until`: nothing
 * further is sent after it, while an answer that comes later is still kept for the next asker.
 */
export interface Lookup {
  /** `name` is lower-case A-labels without a trailing dot, here and below. */
  mx(name: string, by?: string, until?: Until): Awaitable<Answer<MailExchange>>;
  /** Gives text: A, and AAAA where mail reaches none of those. It is absent only when both are. */
  addresses(host: string, by?: string, until?: Until): Awaitable<Answer<string>>;
  /** The character-strings of each TXT record joined without a separator (RFC 7208 section 3.3). */
  txt(name: string, by?: string, until?: Until): Awaitable<Answer<string>>;
  registration(
    registrableDomain: string,
    by?: string,
    until?: Until,
  ): Awaitable<Answer<Registration>>;
}

/** A lookup that ends so many milliseconds from the call, or with its budget; what is open then is `unknown`. */
export type Within = (milliseconds: number) => Lookup;

/** Does work that may fail at once or later; with what `failed` makes of the fault. */
export function attempt<T>(
  work: () => Awaitable<T>,
  failed: (fault: unknown) => Awaitable<T>,
): Awaitable<T> {
  try {
    const working = work();
    return working instanceof Promise ? working.catch(failed) : working;
  } catch (fault) {
    return failed(fault);
  }
}

/** Continues with a value at once, and with a promise later. */
export const when = <T, U>(value: Awaitable<T>, step: (value: T) => Awaitable<U>): Awaitable<U> =>
  value instanceof Promise ? value.then(step) : step(value);
