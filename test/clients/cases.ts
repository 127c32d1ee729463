import { readFileSync } from "node:fs";
import type { TokenTable } from "./token-cases.ts";

/** A row of `decide` in clients/cases.json. */
export interface DecideCase {
  readonly name: string;
  readonly email: string;
  /** A fault of the proxy; absent: the service itself. */
  readonly at?: string;
  readonly client?: {
    readonly key?: "none" | "wrong";
    readonly away?: "accept" | "challenge" | "review" | "reject";
  };
  readonly ask?: Readonly<Record<string, unknown>>;
  readonly expect: {
    readonly source: "service" | "away";
    readonly decision: string;
    readonly reason: string;
    readonly complete?: boolean;
    readonly message?: string;
    readonly did_you_mean?: string;
    readonly policy?: string;
    readonly token?: true;
    readonly fault?: { readonly kind: readonly string[]; readonly status?: number };
  };
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

export interface WebhookCase {
  readonly name: string;
  readonly body: string;
  readonly signature: string | null;
  readonly secret: string;
  readonly valid: boolean;
}

export interface ClientCases {
  readonly decide: readonly DecideCase[];
  readonly feedback: readonly FeedbackCase[];
  readonly tokens: TokenTable;
  readonly webhooks: readonly WebhookCase[];
}

const FILE = new URL("../../../clients/cases.json", import.meta.url);

/** The table that every client library runs. */
export const CLIENT_CASES = JSON.parse(readFileSync(FILE, "utf8")) as ClientCases;
