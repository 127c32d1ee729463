/** What a policy can decide, mildest first. */
export const DECISIONS = ["accept", "challenge", "review", "reject"] as const;
export type Verdict = (typeof DECISIONS)[number];

/**
 * `timeout`: the deadline passed. `network`: name, connection or TLS failed, or the connection ended before the answer
 * did. `status`: the service refused. `answer`: what came is not an answer of Gatepost. `request`: the parameters cannot
 * be sent. `failed`: a batch failed.
 */
export type FaultKind = "timeout" | "network" | "status" | "answer" | "request" | "failed";

/** The service did not answer, or refused. */
export class GatepostError extends Error {
  override readonly name = "GatepostError";
  readonly kind: FaultKind;
  /** Of the answer, if there was one. */
  readonly status?: number;
  /** Seconds, as the service asked for. */
  readonly retryAfter?: number;
  /** Of a batch: `resume` goes on with it. */
  session?: string;

  constructor(kind: FaultKind, text: string, more: FaultDetail = {}) {
    super(text, more.cause === undefined ? undefined : { cause: more.cause });
    this.kind = kind;
    if (more.status !== undefined) this.status = more.status;
    if (more.retryAfter !== undefined) this.retryAfter = more.retryAfter;
  }
}

export interface FaultDetail {
  readonly status?: number;
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
}

/** The result of a single check; docs/api.md has its fields. */
export interface Result {
  readonly format: boolean;
  readonly domain: string;
  readonly disposable: boolean;
  readonly dns: boolean;
  readonly confidence: number;
  readonly whitelist: boolean;
  readonly signals: readonly string[];
  readonly did_you_mean?: string;
  readonly domain_info?: {
    readonly tld: string;
    readonly is_subdomain: boolean;
    readonly parent_domain: string | null;
  };
  readonly mx_info?: readonly string[];
  readonly role: boolean;
  readonly free: boolean;
  readonly alias?: boolean;
  /** Premium fields. */
  readonly [field: string]: unknown;
}

interface Decided {
  readonly decision: Verdict;
  /** As the policy names it: "disposable", "no_mail_server", ... "unknown" without an answer. */
  readonly reason: string;
  /** For the person at the form; absent for `accept`. */
  readonly message?: string;
  readonly did_you_mean?: string;
  /** False: DNS did not answer in time, or the service did not. */
  readonly complete: boolean;
}

/** The service answered. */
export interface ServiceDecision extends Decided {
  readonly source: "service";
  /** Where `evt` was sent: whether it proves that the person owns the mailbox. */
  readonly verified?: "yes" | "no" | "unknown";
  /** The issuer of the proof says that the address hides another one. */
  readonly private_address?: true;
  /** With `too_often`: seconds until a message may be sent there. */
  readonly retry_after?: number;
  /** Distinct mailboxes before this one, by the names of `countBy` and `net`. */
  readonly counts?: Readonly<Record<string, Readonly<Record<"10m" | "day" | "30d", number>>>>;
  readonly policy: { readonly name: string; readonly version: number };
  readonly mailbox?: { readonly id: string; readonly rules?: number; readonly seen?: number };
  readonly result?: Result;
  readonly token?: string;
  readonly fault?: undefined;
}

/** It did not: this is the declared answer. */
export interface OwnDecision extends Decided {
  readonly source: "away";
  readonly fault: GatepostError;
}

/** The text is no address (`format`), or the service has more questions than it can answer (`busy`). */
export interface RefusedDecision extends Decided {
  readonly source: "client";
  readonly decision: "reject";
  readonly message: string;
  readonly retry_after?: number;
  /** Absent: the service was not asked. */
  readonly fault?: GatepostError;
}

export type Decision = ServiceDecision | OwnDecision | RefusedDecision;

/** Of `maySend` and `mayInvite`. */
export interface MaySend {
  /** The policy accepts, or nobody answered. */
  readonly send: boolean;
  /** The policy wants a question or a CAPTCHA first: ask again with `confirmed`. */
  readonly ask: boolean;
  readonly reason: string;
  /** Seconds. */
  readonly retryAfter?: number;
  /** For the person; absent where `send` is true. */
  readonly message?: string;
  readonly didYouMean?: string;
}

export function maySendOf(said: Decision): MaySend {
  const { decision, reason, message, did_you_mean: didYouMean } = said;
  const retryAfter = said.source === "away" ? undefined : said.retry_after;
  return {
    send: said.source === "away" || decision === "accept",
    ask: said.source === "service" && decision === "challenge",
    reason,
    ...(retryAfter !== undefined && { retryAfter }),
    ...(message !== undefined && { message }),
    ...(didYouMean !== undefined && { didYouMean }),
  };
}

export const MALFORMED_MESSAGE = "Please enter a complete email address.";

export const MALFORMED: RefusedDecision = {
  source: "client",
  decision: "reject",
  reason: "format",
  message: MALFORMED_MESSAGE,
  complete: true,
};

const BUSY: RefusedDecision = {
  ...MALFORMED,
  reason: "busy",
  message: "Please try again in a minute.",
  complete: false,
};

/** By `statuses` in clients/cases.json: what a visitor can provoke is refused; undefined for every other fault. */
export function refusedBy(fault: GatepostError): RefusedDecision | undefined {
  const { status = 0, retryAfter } = fault;
  if ([400, 413, 422].includes(status)) return { ...MALFORMED, fault };
  if (status !== 429) return undefined;
  return { ...BUSY, fault, ...(retryAfter !== undefined && { retry_after: retryAfter }) };
}

type Fields = Readonly<Record<string, unknown>>;

const isText = (value: unknown): value is string => typeof value === "string";

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export function unlike(): GatepostError {
  return new GatepostError("answer", "The answer is not one of Gatepost.");
}

/** Throws for whatever could stop a person without a reason. */
export function readDecision(body: unknown): ServiceDecision {
  if (!isFields(body) || !isRuling(body)) throw unlike();
  const { policy, message, did_you_mean, token, verified, mailbox, result } = body;
  const texts = [message, did_you_mean, token, verified];
  const areTexts = texts.every((text) => text === undefined || isText(text));
  if (!areTexts || !isFields(policy) || !isText(policy["name"])) throw unlike();
  if (mailbox !== undefined && !isFields(mailbox)) throw unlike();
  if (result !== undefined) readResult(result);
  const { retry_after, ...said } = body;
  const seconds = isSeconds(retry_after) && { retry_after };
  return { ...said, ...seconds, source: "service" } as unknown as ServiceDecision;
}

const isSeconds = (value: unknown): boolean =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) < 1_000_000;

const isRuling = ({ decision, reason, complete }: Fields): boolean =>
  DECISIONS.some((word) => word === decision) &&
  isText(reason) &&
  /^[a-z_]{1,32}$/.test(reason) &&
  typeof complete === "boolean";

const BOOLEANS = ["format", "disposable", "dns", "whitelist", "role", "free"] as const;

export function readResult(body: unknown): Result {
  if (!isFields(body) || BOOLEANS.some((name) => typeof body[name] !== "boolean")) throw unlike();
  const { domain, confidence, signals } = body;
  if (!isText(domain) || typeof confidence !== "number" || !Array.isArray(signals)) throw unlike();
  return body as Result;
}

/** Throws unless the service stored what it was told. */
/** A mailbox that you may have stored: docs/guides/one-mailbox.md. */
export interface Mailbox {
  readonly email: string;
  /** Null where the text is no address. */
  readonly id: string | null;
  /** Ids of earlier alias rules, where they differ. */
  readonly former: readonly string[];
}

export function readMailboxes(body: unknown, count: number): readonly Mailbox[] {
  const rows = isFields(body) ? body["mailboxes"] : undefined;
  if (!Array.isArray(rows) || rows.length !== count) throw unlike();
  return rows as readonly Mailbox[];
}

export function readRecorded(body: unknown): void {
  if (!isFields(body) || body["recorded"] !== true) throw unlike();
}
