import { badField, wrongCurrentPassword } from "../../base/refusals.ts";
import { orNull, type Schema, Type } from "../../core/json-schema.ts";
import type { Awaitable } from "../../core/mail/lookup.ts";
import type { Note } from "../../accounts/audit.ts";
import { type Field, type Fields, type FieldValues, readMembers } from "../field.ts";
import type { AccountContext, AccountRequest, SignedInRequest } from "./context.ts";

/** An answer other than JSON; 204 without `text`. */
export interface AccountReply {
  /** A new session's token, or "" to take the cookie away. */
  readonly cookie?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text?: { readonly type: string; readonly chunks: AsyncIterable<string | Uint8Array> };
}

interface AccountRouteWords {
  readonly body?: Fields;
  readonly answer?: Schema;
  /** Of each line of an answer that streams. */
  readonly lines?: Schema;
  /** A list of entries or rules may be up to the transport's limit; other bodies stay below 64 KiB. */
  readonly largeBody?: true;
  readonly upload?: true;
  /** Works while the database is away, for a browser whose session was seen lately. */
  readonly withoutStore?: true;
}

interface RequestsFor<Body> {
  readonly everyone: AccountRequest<Body>;
  readonly account: SignedInRequest<Body>;
  readonly admin: SignedInRequest<Body>;
  readonly leaving: SignedInRequest<Body>;
}
type Audience = keyof RequestsFor<unknown>;

export interface AccountRoute extends AccountRouteWords {
  readonly for: Audience;
  readonly method: "GET" | "POST" | "DELETE";
  /** Behind `/account/`; one parameter may be `:id`. */
  readonly path: string;
  /**
   * Reads the members of a JSON body. Resolves to the JSON of `answer` or the values of `lines`, undefined for 204;
   * without both to an `AccountReply`.
   */
  readonly handle: (request: AccountRequest, context: AccountContext) => Awaitable<unknown>;
}

type Terms<F extends Fields, T, Line> = AccountRouteWords & {
  readonly body?: F;
  readonly answer?: Schema<T>;
  readonly lines?: Schema<Line>;
};
type AccountRouteAnswer<T, Line> = [Line] extends [never]
  ? [T] extends [never]
    ? AccountReply | void
    : T | undefined
  : AsyncIterable<Line>;

const routeFor =
  <For extends Audience>(audience: For) =>
  <F extends Fields, T = never, Line = never>(
    place: `${AccountRoute["method"]} ${string}`,
    terms: Terms<F, T, Line>,
    handle: (
      request: RequestsFor<FieldValues<F>>[For],
      context: AccountContext,
    ) => Awaitable<AccountRouteAnswer<NoInfer<T>, NoInfer<Line>>>,
  ): AccountRoute => {
    const [method = "", path = ""] = place.split(" ");
    return {
      ...terms,
      method: method as AccountRoute["method"], // by the type of `place`
      path,
      for: audience,
      handle: (request, context) =>
        // The guard lets in nobody but the audience.
        handle(
          {
            ...request,
            body: readMembers(terms.body ?? {}, Object(request.body)),
          } as typeof request & RequestsFor<FieldValues<F>>[For],
          context,
        ),
    };
  };

/** Visitors too. */
export const everyone = routeFor("everyone");
export const account = routeFor("account");
export const admin = routeFor("admin");
/** A disabled account too. */
export const leaving = routeFor("leaving");

export const textField = (
  maxCharacters: number,
  keywords?: Readonly<Record<string, unknown>>,
): Field<string> => ({
  schema: Type.String(keywords),
  read(value, name) {
    if (typeof value !== "string") throw badField(`"${name}" must be text.`);
    if (value.length <= maxCharacters) return value;
    throw badField(`"${name}" must have at most ${String(maxCharacters)} characters.`);
  },
});

export const textsField = (maxItems: number): Field<readonly string[]> => ({
  schema: Type.Array(Type.String()),
  read(value, name) {
    const isList = Array.isArray(value) && value.every((item) => typeof item === "string");
    if (!isList || value.length > maxItems) throw badField(`"${name}" must be a list of texts.`);
    return value;
  },
});

export const wholeField: Field<number> = {
  schema: Type.Integer(),
  read(value, name) {
    if (typeof value === "number" && Number.isSafeInteger(value)) return value;
    throw badField(`"${name}" must be a whole number.`);
  },
};

/** A limit: a whole number, null for none; absent where the plan's counts. */
export const limitField: Field<number | null | undefined> = {
  schema: Type.Optional(orNull(Type.Integer())),
  read: (value, name) =>
    value === undefined || value === null ? value : wholeField.read(value, name),
};

export const flagField: Field<boolean> = {
  schema: Type.Optional(Type.Boolean()),
  read: (value) => value === true,
};

/** One of `words`; `mistake` is a sentence for any other value. */
export const wordField = <const T extends string>(
  words: readonly T[],
  mistake: string,
): Field<T> => ({
  schema: Type.Enum(words),
  read(value) {
    const found = words.find((word) => word === value);
    if (found === undefined) throw badField(mistake);
    return found;
  },
});

export const optional = <T>({ schema, read: readIt }: Field<T>): Field<T | undefined> => ({
  schema: Type.Optional(schema as Schema<T>),
  read: (value, name) => (value === undefined ? undefined : readIt(value, name)),
});

export const emailField = textField(320);
export const passwordField = textField(2_000);

/** Asked for again: a browser left open is not enough. */
export const CONFIRMED = { current_password: passwordField };

export async function confirm(
  { account: own, body, visitor }: SignedInRequest<{ readonly current_password: string }>,
  { signIn }: AccountContext,
): Promise<void> {
  const isOwn = await signIn.isPassword(own.id, body.current_password, visitor);
  if (!isOwn) throw wrongCurrentPassword();
}

/** A whole number of the query within bounds; `standard` when it is absent or no such number. */
export function boundedNumber(
  text: string | undefined,
  { standard, max }: { readonly standard: number; readonly max: number },
): number {
  const value = Number(text ?? "");
  return Number.isSafeInteger(value) && value >= 1 && value <= max ? value : standard;
}

export const noteOwn = (
  { account: { id: accountId }, note }: Pick<SignedInRequest, "account" | "note">,
  change: Omit<Parameters<Note>[0], "accountId">,
): Promise<void> => note({ ...change, accountId });

/** A file that the browser saves under `name`, which needs no quotes. */
export function file(name: string, type: string, chunks: AsyncIterable<string>): AccountReply {
  const headers = { "content-disposition": `attachment; filename=${name}` };
  return { headers, text: { type, chunks } };
}
