import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import type { Awaitable } from "../core/mail/lookup.ts";
import type { Admitted } from "../accounts/admission/admission.ts";
import type { Refusal } from "../base/refusals.ts";
import type { Params } from "./params.ts";
import type { Credentials } from "../accounts/admission/caller.ts";

export type HttpRequest = IncomingMessage;
export type HttpResponse = ServerResponse;

export type Method = "GET" | "POST" | "DELETE";

/** One family of paths under `/api/`, all with the same first segment. */
export interface Route {
  /** The first segment behind `/api/`, which is also the route's name in metrics: "email"; or "compat/SERVICE". */
  readonly family: string;
  readonly methods: readonly Method[];
  /** `params`: forms and JSON are read before `handle`. `stream`: `handle` reads the body from `source`. */
  readonly body: "params" | "stream";
  /** Every parameter that `handle` reads; no other is kept. */
  readonly parameters: ReadonlySet<string>;
  /**
   * `units`: `handle` charges through a use case and names the purse in its reply. `nothing`: the request
   * costs its rate alone; when that is spent the guard takes one credit before `handle` runs.
   */
  readonly charges: "units" | "nothing";
  /** A publishable key may be used; the route looks at where it is used from. Absent: it is refused. */
  readonly forPublishableKeys?: true;
  /**
   * The answer must be sent within so many milliseconds: who cannot be identified by then is answered as an anonymous
   * caller. The body, at most 64 KiB, is read before.
   */
  readonly deadlineMs?: (params: Params, credentials: Credentials) => number;
  readonly foreign?: Foreign;
  /** More than a single check: refusals of such requests tell how long to wait in `Retry-After` alone. */
  readonly isBulk?: (params: Params, path: ApiRequest["path"]) => boolean;
  /** By its path alone it is likely to be charged one unit. */
  readonly isSingle?: (path: ApiRequest["path"]) => boolean;
  /** Throws a `Refusal` to refuse; anything else it throws is a fault. */
  handle(request: ApiRequest): Awaitable<ApiReply>;
}

/** How a route of another service's shape differs. Its body, at most 64 KiB, is read before the caller is known. */
export interface Foreign {
  readonly cors: boolean;
  credentials(params: Params, source: HttpRequest): Credentials;
  /** `params` as far as they could be read. */
  refused(refusal: Refusal | undefined, path: ApiRequest["path"], params?: Params): ApiReply;
}

export interface ApiRequest {
  readonly method: Method;
  /** Segments behind the family, split at raw "/" and then decoded; one trailing "/" is ignored. */
  readonly path: readonly string[];
  readonly params: Params;
  readonly admitted: Admitted;
  readonly waitedMs: number;
  /** Headers, and the body of a `stream` route. */
  readonly source: HttpRequest;
  /** To be called by a `stream` route with the size of the body it received. */
  readonly received: (octets: number) => void;
}

export interface RouteReply {
  readonly status?: number;
  readonly type?: string;
  readonly body?: string | Uint8Array | Readable;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ApiReply extends RouteReply {
  readonly type: string;
  readonly body: string | Readable;
  /** What paid; credits take the rate headers off the answer. */
  readonly paidBy?: "plan" | "credits";
  readonly crossOrigin?: boolean;
  /** What was checked, for the access log, which keeps only its domain by default. */
  readonly entry?: string;
}

export const JSON_TYPE = "application/json";
