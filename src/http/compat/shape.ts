import type { IncomingHttpHeaders } from "node:http";
import { missingParameter } from "../../base/refusals.ts";
import type { RequestedFeature } from "../../check/features.ts";
import { type EntryMode, readEntry, trimEntry } from "../../core/address/address.ts";
import { isoTime } from "../../core/calendar.ts";
import { canonicalAddress } from "../../core/evidence/alias.ts";
import type { FullResult } from "../../core/validate/result.ts";
import type { Params } from "../params.ts";
import type { Method } from "../route.ts";

export interface Shape {
  readonly service: string;
  /** Where its clients put the key, the first that is there; Gatepost's own headers work with every shape. */
  readonly keys: readonly KeyPlace[];
  readonly parameters: readonly string[];
  /** The original lets pages of other sites read its answers. */
  readonly cors?: true;
  readonly endpoints: readonly Endpoint[];
  readonly refused: (why: Why, params?: Params) => ShapeAnswer;
}

export interface Endpoint {
  readonly methods?: readonly Method[];
  /** Behind the service's base, without slashes around it; "*" stands for the entry. */
  readonly paths: readonly string[];
  readonly answer: (request: ShapeRequest) => Promise<ShapeAnswer>;
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
  if ("param" in place) {
    const value = params.value(place.param) ?? undefined;
    // A number or a list is a wrong key, never none.
    return value === undefined || typeof value === "string" ? value : "";
  }
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

export function paramText(params: Params, name: string): string | undefined {
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
  answer: (facts: ShapeFacts, request: ShapeRequest) => unknown,
  terms: CheckTerms = {},
): Endpoint {
  const { name, ...where } = at;
  const kind = terms.mode === undefined || terms.mode === "address" ? "address" : "either";
  return {
    ...where,
    async answer(request) {
      const text = name === undefined ? request.entry : entryOf(request.params, name, kind);
      return { body: await answer(await request.check(text, terms), request) };
    },
  };
}

/** An endpoint that says how many units and credits are left. */
export const balance = (path: string, shown: (left: number) => unknown): Endpoint => ({
  paths: [path],
  answer: async ({ unitsLeft }) => ({ body: shown(await unitsLeft()) }),
});

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

type OwnRefusals = Partial<Record<Why["kind"], readonly [status: number, message?: string]>>;

export const refusing =
  (body: (why: Why) => unknown, own: OwnRefusals = {}): Shape["refused"] =>
  (why) => {
    const [status = why.status, message = why.message] = own[why.kind] ?? [];
    return { status, body: body({ ...why, status, message }) };
  };

/** Most services answer a refusal with its status and `{"message": ...}`. */
export const byMessage = (own?: OwnRefusals): Shape["refused"] =>
  refusing(({ message }) => ({ message }), own);

/**
 * The one word that a service's result is made from, the first of these that is true:
 * - `syntax`: the format is invalid,
 * - `disposable`,
 * - `no_mail`: DNS says that no mail server is there,
 * - `trap`: a known spam trap (Pro),
 * - `role`,
 * - `unknown`: DNS did not say,
 * - `good`: nothing was found, and the operator set GATEPOST_COMPAT_OPTIMISTIC,
 * - `takes`: the domain takes mail; whether the mailbox exists is not known.
 */
export type ShapeVerdict =
  "syntax" | "disposable" | "no_mail" | "trap" | "role" | "unknown" | "good" | "takes";

export type ByVerdict<T> = Readonly<Record<ShapeVerdict, T>>;

export interface ShapeFacts {
  readonly verdict: ShapeVerdict;
  readonly result: FullResult;
  readonly entry: string;
  readonly user: string;
  /** As evaluated; of a malformed entry what is right of the last "@". */
  readonly domain: string;
  /** Whether a mail server is there; null: DNS did not say. */
  readonly mail: boolean | null;
  readonly mx: readonly string[];
  readonly meant: string | null;
  readonly meantDomain: string | null;
  /** One text for all spellings of the mailbox. */
  readonly mailbox: string;
  /** "tag" of "jo+tag@...". */
  readonly tag: string | null;
  readonly alias: boolean;
  readonly relay: boolean;
  readonly ageDays: number | null;
  /** Who keeps the mailboxes, in one lower-case word (Pro). */
  readonly provider: string | null;
  readonly tookMs: number;
  readonly at: string;
}

export function shapeFacts(
  text: string,
  result: FullResult,
  terms: { readonly isOptimistic: boolean; readonly tookMs: number; readonly nowMs: number },
): ShapeFacts {
  const entry = trimEntry(text);
  const at = entry.lastIndexOf("@");
  const user = entry.slice(0, Math.max(0, at));
  const { signals, did_you_mean: meant = null, mx_info: mx = [] } = result;
  return {
    verdict: verdictOf(result, terms.isOptimistic),
    result,
    entry,
    user,
    domain: result.format ? result.domain : entry.slice(at + 1),
    mail: signals.includes("dns_indeterminate") ? null : result.dns,
    mx,
    meant,
    meantDomain: meant?.slice(meant.lastIndexOf("@") + 1) ?? null,
    mailbox: mailboxOf(entry),
    tag: /^[^+]+\+(.*)$/s.exec(user)?.[1] ?? null,
    alias: result.alias ?? false,
    relay: signals.includes("privacy_relay"),
    ageDays: result.domain_age?.age_days ?? null,
    provider: wordOf(result.inbox_provider),
    tookMs: Math.round(terms.tookMs),
    at: isoTime(terms.nowMs),
  };
}

const OWNERS: Readonly<Record<string, string>> = { gmail: "google", outlook: "microsoft" };

function wordOf(provider: string | undefined): string | null {
  const word = /^[a-z0-9]+/i.exec(provider ?? "")?.[0]?.toLowerCase();
  return word === undefined ? null : (OWNERS[word] ?? word);
}

function mailboxOf(entry: string): string {
  const read = readEntry(entry, "address");
  return read.kind === "address" ? canonicalAddress(read.address) : entry;
}

const VERDICTS: readonly (readonly [ShapeVerdict, (result: FullResult) => boolean])[] = [
  ["syntax", ({ format }) => !format],
  ["disposable", ({ disposable }) => disposable],
  ["no_mail", ({ dns, signals }) => !dns && !signals.includes("dns_indeterminate")],
  ["trap", ({ spam_trap: trap }) => trap?.is_trap === true],
  ["role", ({ role }) => role],
  ["unknown", ({ dns }) => !dns],
];

function verdictOf(result: FullResult, isOptimistic: boolean): ShapeVerdict {
  const found = VERDICTS.find(([, holds]) => holds(result))?.[0];
  if (found !== undefined) return found;
  const isClean = result.confidence === 0 && result.did_you_mean === undefined;
  return isOptimistic && isClean ? "good" : "takes";
}
