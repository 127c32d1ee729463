import type { IncomingHttpHeaders } from "node:http";
import type { EntryMode } from "../../core/address/address.ts";
import type { RequestedFeature } from "../../check/features.ts";
import { missingParameter } from "../../base/refusals.ts";
import type { Method } from "../route.ts";
import type { Params } from "../params.ts";
import type { ShapeFacts } from "./facts.ts";

export interface Shape {
  readonly service: string;
  /** Where its clients put the key, the first that is there; Gatepost's own headers work with every shape. */
  readonly keys: readonly KeyPlace[];
  readonly parameters: readonly string[];
  /** The original lets pages of other sites read its answers. */
  readonly cors?: true;
  readonly endpoints: readonly Endpoint[];
  /** `params` as far as they could be read. */
  readonly refused: (why: Why, params?: Params) => ShapeAnswer;
}

export interface Endpoint {
  readonly methods?: readonly Method[];
  /** Behind the service's base, without slashes around it; "*" stands for the entry. */
  readonly paths: readonly string[];
  readonly answer: (asked: ShapeRequest) => Promise<ShapeAnswer>;
  readonly refused?: Shape["refused"];
}

export interface ShapeAnswer {
  readonly status?: number;
  /** Text is sent as it is, anything else as JSON. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ShapeRequest {
  readonly params: Params;
  /** What stands at the "*" of the path; "" if there is none. */
  readonly entry: string;
  /** Charges one unit and checks one entry; refuses as a single check does. */
  readonly check: (text: string, more?: CheckTerms) => Promise<ShapeFacts>;
  /** Counts more requests of the caller's rate, for work of that cost. */
  readonly spend: (requests: number) => Promise<void>;
  /** Units and credits that the caller has left; a plan without limits has `UNLIMITED`. */
  readonly unitsLeft: () => Promise<number>;
}

export interface CheckTerms {
  readonly mode?: EntryMode;
  readonly features?: readonly RequestedFeature[];
}

export const UNLIMITED = 999_999_999;

/** Why a request is refused, as other services tell it apart. */
export interface Why {
  /** `key`: wrong or revoked; `missing`: a parameter; `fault`: ours, or a store that is down. */
  readonly kind: "key" | "rate" | "quota" | "missing" | "request" | "fault";
  readonly message: string;
  readonly status: number;
}

/** Where clients put a key; of the scheme "basic" it is the password (RFC 7617). */
export type KeyPlace =
  | { readonly param: string }
  | { readonly header: string }
  | { readonly scheme: "bearer" | "token" | "basic" };

export function keyAt(
  place: KeyPlace,
  params: Params,
  headers: IncomingHttpHeaders,
): string | undefined {
  if ("param" in place) return textOf(params, place.param);
  if ("header" in place) {
    const value = headers[place.header];
    return typeof value === "string" ? value : value?.[0];
  }
  const [scheme = "", ...rest] = (headers.authorization ?? "").trim().split(/ +/);
  if (scheme.toLowerCase() !== place.scheme) return undefined;
  if (place.scheme !== "basic") return rest.join(" ");
  const text = Buffer.from(rest.join(" "), "base64").toString("utf8");
  return text.slice(text.indexOf(":") + 1);
}

/** A parameter's text; undefined where it is absent or a JSON member of another type. */
export function textOf(params: Params, name: string): string | undefined {
  const value = params.value(name);
  return typeof value === "string" ? value : undefined;
}

export const flagOf = (params: Params, name: string): boolean =>
  /^(?:1|true)$/i.test(String(params.value(name)));

/** The entry of a parameter; refused as missing when there is none. */
export function entryOf(params: Params, name: string, kind: "address" | "either"): string {
  const text = params.entry(name, kind) ?? "";
  if (text === "") throw missingParameter(name);
  return text;
}

/** An endpoint that checks one entry of the parameter `name`, or of the path. */
export function single(
  at: Pick<Endpoint, "paths" | "methods"> & { readonly name?: string },
  answer: (facts: ShapeFacts, asked: ShapeRequest) => unknown,
  terms: CheckTerms = {},
): Endpoint {
  const { name, ...where } = at;
  const kind = terms.mode === undefined || terms.mode === "address" ? "address" : "either";
  return {
    ...where,
    async answer(asked) {
      const text = name === undefined ? asked.entry : entryOf(asked.params, name, kind);
      return { body: await answer(await asked.check(text, terms), asked) };
    },
  };
}

/** Addresses that a batch may have. */
export const BATCH_MAX = 200;
const AT_ONCE = 20;

/** Checks the rows of a batch by 20 at once, each 20 one request of the rate. */
export async function inPortions<Row, T>(
  rows: readonly Row[],
  { spend }: Pick<ShapeRequest, "spend">,
  one: (row: Row) => Promise<T>,
): Promise<readonly T[]> {
  if (rows.length > AT_ONCE) await spend(Math.ceil(rows.length / AT_ONCE) - 1);
  const found: T[] = [];
  for (let at = 0; at < rows.length; at += AT_ONCE) {
    found.push(...(await Promise.all(rows.slice(at, at + AT_ONCE).map(one))));
  }
  return found;
}

/** Most services answer a refusal with its status and `{"message": ...}`. */
export const byMessage =
  (statuses: Partial<Record<Why["kind"], number>> = {}): Shape["refused"] =>
  ({ kind, status, message }) => ({ status: statuses[kind] ?? status, body: { message } });
