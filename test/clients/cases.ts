import { readFileSync } from "node:fs";

/** A row of `statuses`: what such answers mean to the person at the form. */
export interface StatusRow {
  readonly status: readonly (number | "none")[];
  /** Who can provoke it; no visitor can. */
  readonly by: string;
  readonly decision: "accept" | "reject";
  readonly reason: string;
  readonly message?: string;
}

/** A row of `decide` in clients/cases.json. */
export interface DecideCase {
  readonly name: string;
  readonly email: string;
  /** So many follow the address. */
  readonly blanks?: number;
  /** A fault of the proxy; absent: the service itself. */
  readonly at?: string;
  readonly client?: {
    readonly key?: "none" | "wrong";
    readonly away?: "accept" | "challenge" | "review" | "reject" | "function";
  };
  readonly ask?: Readonly<Record<string, unknown>>;
  readonly expect: {
    readonly source: "service" | "away" | "client";
    readonly decision: string;
    readonly reason: string;
    readonly complete?: boolean;
    readonly message?: string;
    readonly did_you_mean?: string;
    readonly policy?: string;
    readonly token?: true;
    readonly verified?: "yes" | "no" | "unknown";
    /** Null: the library gives none. */
    readonly retry_after?: number | null;
    readonly fault?: { readonly kind: readonly string[]; readonly status?: number };
  };
}

export interface Said {
  readonly with?: Readonly<Record<string, unknown>>;
  readonly send: boolean;
  readonly ask: boolean;
  readonly reason: string;
}

/** A row of `may_send`: what each of several questions says. */
export interface MaySendCase extends Pick<DecideCase, "name" | "email" | "at" | "client"> {
  readonly told?: "bounce" | "complaint";
  readonly fault?: { readonly kind: readonly string[] };
  readonly invite?: true;
  readonly says: readonly Said[];
}

/** A row of `feedback`. */
export interface FeedbackCase extends Pick<DecideCase, "name" | "at" | "client"> {
  readonly tell: {
    readonly email?: string;
    readonly mailbox?: string;
    readonly outcome: "abuse" | "bounce" | "fine";
    readonly note?: string;
  };
  readonly fault?: { readonly kind: readonly string[]; readonly status?: number };
}

/** A row of `mailboxes`. */
export interface MailboxesCase extends Pick<DecideCase, "name" | "client"> {
  readonly emails: readonly string[];
  readonly times?: number;
  readonly ids?: readonly (string | null)[];
  readonly fault?: { readonly kind: readonly string[]; readonly status?: number };
}

/** Why a token is not good; a good one has none. */
export type TokenFault =
  "malformed" | "signature" | "expired" | "account" | "address" | "form" | "replayed";

export interface TokenCase {
  readonly name: string;
  readonly token: string;
  readonly email: string;
  /** Seconds. */
  readonly now: number;
  /** The label that is expected; absent: any. */
  readonly form?: string;
  readonly fault?: TokenFault;
}

/** To be run in order, with one memory of ids. */
export interface TokenTable {
  /** Of the account: the new one and the old one. */
  readonly secrets: readonly string[];
  readonly account: string;
  readonly cases: readonly TokenCase[];
}

export interface WebhookCase {
  readonly name: string;
  readonly body: string;
  readonly signature: string | null;
  readonly secret: string;
  readonly valid: boolean;
}

export interface ClientCases {
  readonly statuses: readonly StatusRow[];
  readonly decide: readonly DecideCase[];
  readonly may_send: readonly MaySendCase[];
  readonly feedback: readonly FeedbackCase[];
  readonly mailboxes: readonly MailboxesCase[];
  readonly tokens: TokenTable;
  readonly webhooks: readonly WebhookCase[];
}

const FILE = new URL("../../../clients/cases.json", import.meta.url);

/** The table that every client library runs. */
export const CLIENT_CASES = JSON.parse(readFileSync(FILE, "utf8")) as ClientCases;
