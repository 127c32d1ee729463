import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import type { Awaitable } from "../core/mail/lookup.ts";
import type { Admitted } from "../accounts/admission/admission.ts";
import type { Refusal } from "../base/refusals.ts";
import type { Params } from "./params.ts";
import type { Credentials } from "../accounts/admission/caller.ts";

export type HttpRequest = IncomingMessage;
export type HttpResponse = ServerResponse;

export type Method = "GET" | "POST" | "PUT" | "DELETE";

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
  /** The body is read before it is known who asks; absent: after. */
  readonly before?: Before;
  /** Whom the route serves although the admission refuses; absent: nobody. */
  readonly admits?: (admitted: Admitted) => Admitted;
  /** Another service's shape: its clients send a body with GET and declare any type, and know no hints. */
  readonly foreign?: { readonly cors: boolean };
  /** Whether it is charged one unit: by its path likely, and certain once the parameters are known. Absent: it is not. */
  readonly isSingle?: (path: ApiRequest["path"], params?: Params) => boolean;
  /** How a refusal is sent, where it is not sent as it stands; `refusal` is undefined for a fault. */
  readonly refused?: (
    refusal: Refusal | undefined,
    about: RefusedRequest,
  ) => ApiReply | Refusal | undefined;
  /** Throws a `Refusal` to refuse; anything else it throws is a fault. */
  handle(request: ApiRequest): Awaitable<ApiReply>;
}

/** A body that says who asks, or until when the answer is of use. */
export interface Before {
  readonly maxBytes: number;
  /** In place of a body that cannot be read: what is taken for it, or the refusal to be sent. Absent: the refusal stands. */
  readonly unread?: (refusal: Refusal) => Params | Refusal;
  readonly terms: (params: Params, source: HttpRequest, credentials: Credentials) => EarlyTerms;
}

interface EarlyTerms {
  readonly credentials?: Credentials;
  /** The answer is sent within so many milliseconds: who cannot be identified by then is answered as an anonymous caller. */
  readonly deadlineMs?: number;
}

export interface RefusedRequest {
  readonly path: ApiRequest["path"];
  readonly params: Params | undefined;
  readonly isSingle: boolean;
}

export interface ApiRequest {
  readonly method: Method;
  /** Segments behind the family, split at raw "/" and then decoded; one trailing "/" is ignored. */
  readonly path: readonly string[];
  readonly params: Params;
  readonly admitted: Admitted;
  readonly waitedMs: number;
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

export const jsonReply = (value: object): ApiReply => ({
  type: JSON_TYPE,
  body: JSON.stringify(value),
});
