import type { Until } from "../core/mail/lookup.ts";

export type OutboundFault =
  /** Not http or https, or with a user name in it. */
  | "bad_url"
  | "unresolved"
  | "no_address"
  /** An address of the name is outside the public internet. */
  | "not_public"
  | "unreachable"
  | "tls"
  | "timeout"
  /** The connection ended before the answer did. */
  | "broken"
  | "malformed"
  /** More redirects than allowed, or one that points where none may. */
  | "redirect";

export interface OutboundFailure {
  readonly ok: false;
  readonly fault: OutboundFault;
  /** A code for the log ("ECONNREFUSED", "CERT_HAS_EXPIRED"), or the address that was refused. */
  readonly detail?: string;
  readonly status?: number;
  /** The peer that was named answered, and its redirect led to the failure. */
  readonly isRedirected?: boolean;
}

export type OutboundResult<T> = { readonly ok: true; readonly value: T } | OutboundFailure;

export interface HttpQuestion {
  readonly url: string;
  readonly method: "GET" | "POST";
  /** Sent as they are, after Host, Connection and (with a body) Content-Length. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** From the first question to DNS to the last byte of the answer, redirects included. */
  readonly timeoutMs: number;
  readonly maxBodyBytes: number;
  /** 0: an answer that redirects is an answer like any other. */
  readonly maxRedirects: number;
  readonly until?: Until | undefined;
}

export interface HttpReply {
  readonly status: number;
  /** Names in lower case; a repeated header as Node joins it. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
  readonly cut: boolean;
  /** It comes from where a redirect led, not from the peer that was named. */
  readonly isRedirected?: boolean;
}

export interface Outbound {
  /** Checks that every address is public and dials the checked one. Never rejects for what a peer or DNS did. */
  readonly http: (question: HttpQuestion) => Promise<OutboundResult<HttpReply>>;
}
