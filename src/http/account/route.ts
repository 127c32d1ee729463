import type { SignIn, Visitor } from "../../accounts/sign-in/sign-ins.ts";
import type { Account } from "../../accounts/accounts-store.ts";
import type { Schema } from "../../core/json-schema.ts";
import type { UploadedFile } from "../api/bulk/multipart.ts";

/** A request for `/account/*` that was let in. */
export interface AccountRequest {
  readonly visitor: Visitor;
  /** The members of the JSON body; empty where there is none. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Of an upload. */
  readonly file?: UploadedFile;
  readonly query: Readonly<Record<string, string | undefined>>;
  /** The path's parameter. */
  readonly id: string;
  /** The token of the session cookie, valid or not. */
  readonly token: string | undefined;
  /** Who is signed in; undefined for a visitor. Never a disabled account. */
  readonly account?: Account;
}

export interface SignedInRequest extends AccountRequest {
  readonly account: Account;
  readonly session: SignIn;
}

/** What is sent back: JSON, or nothing for `undefined`. */
export interface AccountReply {
  readonly json?: unknown;
  /** JSON values, one a line, each sent as soon as it is made. */
  readonly lines?: AsyncIterable<unknown>;
  /** A new session's token, or "" to take the cookie away. */
  readonly cookie?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text of another type than JSON. */
  readonly text?: { readonly type: string; readonly chunks: AsyncIterable<string> };
}

interface RouteWords {
  readonly method: "GET" | "POST" | "DELETE";
  /** Behind `/account/`; one parameter may be `:id`. */
  readonly path: string;
  /** For the documentation. */
  readonly summary: string;
  readonly body?: Schema;
  /** Of the 200 answer; of each line where it streams. */
  readonly answer?: Schema;
  /** A list of entries or rules may be up to the transport's limit; other bodies stay below 64 KiB. */
  readonly largeBody?: true;
  /** The body is multipart/form-data with one file instead of JSON. */
  readonly upload?: true;
}

/**
 * One path of the dashboard's API. `everyone` may be a visitor; `account` and `admin` need a session of an
 * account that is not disabled; `leaving` serves a disabled one too.
 */
export type AccountRoute = RouteWords &
  (
    | {
        readonly for: "everyone";
        readonly handle: (request: AccountRequest) => Promise<AccountReply>;
      }
    | {
        readonly for: "account" | "admin" | "leaving";
        readonly handle: (request: SignedInRequest) => Promise<AccountReply>;
      }
  );

interface RequestsFor {
  readonly everyone: AccountRequest;
  readonly account: SignedInRequest;
  readonly admin: SignedInRequest;
  readonly leaving: SignedInRequest;
}

type Handling<For extends keyof RequestsFor, Reply> = RouteWords & {
  readonly for: For;
  readonly handle: (request: RequestsFor[For]) => Promise<Reply>;
};

/** A route that answers JSON of one shape: 200. */
export function answering<T, For extends keyof RequestsFor>(
  answer: Schema<T>,
  route: Handling<For, NoInfer<T>>,
): AccountRoute {
  const { handle, ...words } = route;
  const reply = async (request: RequestsFor[For]): Promise<AccountReply> => ({
    json: await handle(request),
  });
  return { ...words, answer, handle: reply } as AccountRoute; // `for` and the request fit by the types above
}

/** A route that answers JSON values of one shape, one a line. */
export function streaming<T, For extends keyof RequestsFor>(
  answer: Schema<T>,
  route: Handling<For, { readonly lines: AsyncIterable<NoInfer<T>> }>,
): AccountRoute {
  return { ...route, answer } as AccountRoute;
}

/** 204. */
export const done: AccountReply = {};
