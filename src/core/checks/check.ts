import type { Address } from "../address/address.ts";
import type { Datasets } from "../evidence/datasets.ts";
import type { Domain } from "../name/domain.ts";
import type { Described, Schema } from "../json-schema.ts";
import type { Lookup, Within } from "../mail/lookup.ts";
import type { MailHosts } from "../mail/mail-hosts.ts";

export interface CheckedSubject {
  readonly domain: Domain;
  readonly address?: Address;
  readonly mail: MailHosts;
}

export interface CheckDeps {
  readonly lookup: Lookup;
  readonly within: Within;
  readonly datasets: Datasets;
  readonly nowMs: number;
  /** GATEPOST_IMPLICIT_MX: an address record alone counts as a mail server. */
  readonly implicitMx: boolean;
}

/** The fields to send, which may be none, or `unavailable`: a lookup could not finish. */
export type CheckOutcome<Fields> = Fields | "unavailable";

export interface CheckRun<Reads = unknown> extends CheckDeps {
  readonly obtained: () => Promise<Reads>;
  /** DNS questions this request may still ask, once the checks before it that ask DNS have ended. */
  readonly questionsLeft: () => Promise<number>;
}

/** `unknown`: it could not be found out, or it does not apply. */
export type AdviceState = "good" | "warn" | "bad" | "unknown";

export interface AdviceWords {
  readonly state: AdviceState;
  readonly says: string;
  readonly fix?: string;
  readonly figure?: string;
  readonly record?: string;
}

export const NOT_NOW: AdviceWords = {
  state: "unknown",
  says: "This could not be looked up just now. Try again in a few minutes.",
};

export interface Advised {
  readonly domain: string;
  readonly dns: boolean;
}

export const AUTH = "Features `spf`, `dkim` and `dmarc`.";

export type FieldSchemas = Readonly<Record<string, Schema>>;

export type FieldsOf<S extends FieldSchemas> = {
  readonly [Name in keyof S]?: Described<S[Name]>;
};

export interface PremiumPart<Name extends string, S extends FieldSchemas, Reads = unknown> {
  readonly name: Name;
  readonly title: string;
  readonly fields: S;
  readonly advise: (result: Advised & FieldsOf<S> & Reads) => AdviceWords;
}

export interface Check<
  Name extends string,
  S extends FieldSchemas,
  Reads = unknown,
> extends PremiumPart<Name, S, Reads> {
  readonly about: string;
  /** DNS questions it asks at the most, without those that a check named before it asks anyway. */
  readonly questions: number;
  readonly run: (
    subject: CheckedSubject,
    deps: CheckRun<Reads>,
  ) => Promise<CheckOutcome<FieldsOf<S>>>;
}
