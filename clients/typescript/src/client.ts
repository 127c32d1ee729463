import { type BulkResult, type BulkWork, type Progress, resumeBulk, submitBulk } from "./bulk.ts";
import { languageOf } from "./language.ts";
import { ask, type Deadline, isPassing, jsonOf, type Question, startDeadline } from "./question.ts";
import {
  type Decision,
  type Mailbox,
  DECISIONS,
  GatepostError,
  MALFORMED,
  type MaySend,
  maySendOf,
  readDecision,
  readMailboxes,
  readRecorded,
  readResult,
  refusedBy,
  type Result,
  type Verdict,
} from "./results.ts";
import {
  checkSecrets,
  rememberTokens,
  type TokenResult,
  trimEmail,
  type UsedTokens,
  verifyToken,
} from "./token.ts";

export interface GatepostOptions {
  /** Base URL of the service: "https://gatepost.example". */
  readonly url: string;
  readonly key?: string;
  /** Of `decide` and `check`, in milliseconds, for all of it: 1,500 unless set. */
  readonly deadlineMs?: number;
  /** The decision while the service does not answer: `accept` unless set; or a quick function of the address. */
  readonly away?: Verdict | ((email: string) => Verdict | Promise<Verdict>);
  /** Called with every fault, to log or to count it. */
  readonly onFault?: (fault: GatepostError, during: "decide") => void;
  /** Of the account, to verify tokens; while it changes, the new one and the old one. */
  readonly tokenSecret?: string | readonly string[];
  /** Id of the account that tokens must be made for. */
  readonly account?: string;
  /** Where used tokens are remembered; in this process's memory unless set. */
  readonly usedTokens?: UsedTokens;
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  readonly deadlineMs?: number;
  /** Ends the call with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Parameters of `POST /api/decide`: docs/decide.md. */
export interface DecideOptions extends CallOptions {
  /** `send`: may a message be sent there now; `invite`: may a member invite this address. Both need a secret key. */
  readonly for?: "signup" | "send" | "invite" | undefined;
  /** The person saw your question about the address, or passed your CAPTCHA: rules that challenge are left out. */
  readonly confirmed?: boolean | undefined;
  /** Of a message: your cookie says that this browser has signed in to this account. */
  readonly known?: boolean | undefined;
  /** Who asks, for counts: `{ ip: request.ip, inviter: user.id }`; up to 3 texts, cut to 128 characters. */
  readonly countBy?: Readonly<Record<string, string | undefined>> | undefined;
  readonly policy?: string | undefined;
  /** A tag, or the whole Accept-Language header of the request. */
  readonly language?: string | undefined;
  readonly form?: string | undefined;
  /** Text is cut to 128 characters. */
  readonly facts?: Readonly<Record<string, string | number | boolean>> | undefined;
  readonly token?: boolean | undefined;
  /** What a browser put into the form to prove the mailbox, with the session's nonce and the page's origin. */
  readonly evt?: string | undefined;
  readonly nonce?: string | undefined;
  readonly origin?: string | undefined;
}

export type CountBy = DecideOptions["countBy"];

export interface CheckOptions extends CallOptions {
  /** "spf", "dkim", ...: docs/premium.md. */
  readonly features?: readonly string[];
}

/** What became of a sign-up or message: docs/feedback.md. */
export interface Feedback {
  /** As the person signed up. This or `mailbox`. */
  readonly email?: string;
  /** `mailbox.id` of a decision. */
  readonly mailbox?: string;
  readonly outcome: "abuse" | "bounce" | "complaint" | "fine";
  /** At most 1,000 characters. */
  readonly note?: string;
}

export interface BulkOptions extends CallOptions {
  readonly onProgress?: (progress: Progress) => void;
  /** The same key and entries give the same batch; a random one unless set. */
  readonly idempotencyKey?: string;
}

export interface Gatepost {
  /**
   * Never throws for what the network or the service does; only an aborted signal rejects. Text that is blank or longer than
   * 1,000 characters is rejected without asking.
   */
  decide(email: string, options?: DecideOptions): Promise<Decision>;
  /**
   * Whether a confirmation, code or link may be sent there now: docs/guides/before-you-send.md. `send` is true where the
   * policy accepts and where nobody answers. Needs a secret key.
   */
  maySend(email: string, options?: Omit<DecideOptions, "for">): Promise<MaySend>;
  /** Whether a member may invite this address; as `maySend`. Count by the inviter: docs/guides/crowds.md. */
  mayInvite(email: string, options?: Omit<DecideOptions, "for">): Promise<MaySend>;
  /** An address, or a bare domain. Rejects with a GatepostError without an answer. */
  check(entry: string, options?: CheckOptions): Promise<Result>;
  /** Says what became of a sign-up; needs a secret key. Rejects with a GatepostError when it is not stored. */
  feedback(feedback: Feedback, options?: CallOptions): Promise<void>;
  /**
   * Ids of people that you have already, in order; nothing is counted. Needs a secret key. Up to 1,000 a request, and one deadline
   * for all. Rejects with a GatepostError.
   */
  mailboxes(emails: readonly string[], options?: CallOptions): Promise<readonly Mailbox[]>;
  /** Rejects with a GatepostError; its `session` can be resumed. Ten minutes unless `deadlineMs` says otherwise. */
  bulk(entries: readonly string[], options?: BulkOptions): Promise<BulkResult>;
  resumeBulk(session: string, options?: Omit<BulkOptions, "idempotencyKey">): Promise<BulkResult>;
  /** For the address that the form sent. Rejects with a TypeError without a `tokenSecret`. */
  verifyToken(
    token: string,
    email: string,
    options?: { readonly form?: string },
  ): Promise<TokenResult>;
}

const DEADLINE_MS = 1_500;
const MAILBOXES_MAX = 1_000;
const BULK_DEADLINE_MS = 600_000;
const ANSWER_MAX_BYTES = 1_048_576;
/** For the way of the answer. */
const RESERVE_MS = 25;
/** The service takes 50 to 5,000 ms. */
const SERVICE_MS = [50, 5_000] as const;

/** Throws a TypeError for options that cannot work. */
export function createGatepost(options: GatepostOptions): Gatepost {
  const parts = openParts(options);
  const { deadlineMs, secrets, asking } = parts;
  const used = options.usedTokens ?? rememberTokens();
  const batch = (
    { deadlineMs: ms = BULK_DEADLINE_MS, signal, onProgress }: BulkOptions,
    run: (work: BulkWork) => Promise<BulkResult>,
  ): Promise<BulkResult> => within(ms, signal, (deadline) => run({ asking, deadline, onProgress }));
  return {
    decide: (email, more = {}) => decide(email, more, parts),
    maySend: async (email, more = {}) =>
      maySendOf(await decide(email, { ...more, for: "send" }, parts)),
    mayInvite: async (email, more = {}) =>
      maySendOf(await decide(email, { ...more, for: "invite" }, parts)),
    async check(entry, { deadlineMs: ms = deadlineMs, signal, features } = {}) {
      const kind = entry.includes("@") ? "email" : "domain";
      const body = JSON.stringify({ [kind]: entry, features: features?.join(",") });
      const question = { path: `/api/${kind}`, method: "POST", body, ...SMALL } as const;
      const once = (deadline: Deadline): Promise<unknown> => asking(question, deadline);
      return readResult(await within(ms, signal, twice(once)));
    },
    async feedback(
      { email, mailbox, outcome, note },
      { deadlineMs: ms = deadlineMs, signal } = {},
    ) {
      const body = JSON.stringify({ email, mailbox, outcome, note });
      const question = { path: "/api/feedback", method: "POST", body, ...SMALL } as const;
      const once = (deadline: Deadline): Promise<unknown> => asking(question, deadline);
      readRecorded(await within(ms, signal, twice(once)));
    },
    async mailboxes(emails, { deadlineMs: ms = deadlineMs, signal } = {}) {
      const read = async (deadline: Deadline): Promise<readonly Mailbox[]> => {
        const found: Mailbox[] = [];
        for (let at = 0; at < emails.length; at += MAILBOXES_MAX) {
          const some = emails.slice(at, at + MAILBOXES_MAX);
          const body = JSON.stringify({ emails: some });
          const question = { path: "/api/mailboxes", method: "POST", body, ...SMALL } as const;
          found.push(...readMailboxes(await asking(question, deadline), some.length));
        }
        return found;
      };
      return await within(ms, signal, twice(read));
    },
    bulk: (entries, more = {}) =>
      batch(more, (work) => submitBulk(entries, more.idempotencyKey ?? crypto.randomUUID(), work)),
    resumeBulk: (session, more = {}) => batch(more, (work) => resumeBulk(session, work)),
    async verifyToken(token, email, { form } = {}) {
      if (secrets.length === 0) throw new TypeError("tokenSecret: set it to verify tokens.");
      const { account } = options;
      return verifyToken(token, { email, secrets, account, form, now: Date.now() / 1_000, used });
    },
  };
}

interface Parts {
  readonly deadlineMs: number;
  readonly away: NonNullable<GatepostOptions["away"]>;
  readonly told: Told;
  readonly asking: BulkWork["asking"];
  readonly secrets: readonly string[];
}

function openParts(options: GatepostOptions): Parts {
  const { key, deadlineMs = DEADLINE_MS, away = "accept", onFault, tokenSecret = [] } = options;
  const base = baseOf(options.url);
  checkOptions(deadlineMs, away);
  const secrets = [tokenSecret].flat();
  checkSecrets(secrets);
  const fetched = options.fetch ?? ((...words: Parameters<typeof fetch>) => fetch(...words));
  const told: Told = (fault) => {
    try {
      onFault?.(fault, "decide");
    } catch {
      // The caller's log must not stop a sign-up.
    }
  };
  const headers = {
    accept: "application/json",
    "content-type": "application/json",
    ...(key !== undefined && { "x-api-key": key }),
  };
  const asking: BulkWork["asking"] = async ({ path, ...question }, deadline) => {
    const all = { ...question, url: base + path, headers: { ...headers, ...question.headers } };
    return jsonOf(await ask(all, deadline, fetched));
  };
  return { deadlineMs, away, told, asking, secrets };
}

const EMAIL_MAX = 1_000;

/** Without blanks around it; undefined for what cannot be an address. */
function entryOf(email: unknown): string | undefined {
  if (typeof email !== "string") return undefined;
  const entry = trimEmail(email);
  return entry !== "" && entry.length <= EMAIL_MAX ? entry : undefined;
}

const TEXT_MAX = 128;

/** Half a character is cut off, too. */
const cut = (text: string): string => text.slice(0, TEXT_MAX).replace(/[\uD800-\uDBFF]$/, "");

/** Visitors write some of it, a browser's name above all: what is too long is cut, what is no fact is left out. */
const factsOf = (facts: DecideOptions["facts"]): DecideOptions["facts"] =>
  facts &&
  Object.fromEntries(
    Object.entries(facts)
      .filter(([, fact]) => ["string", "number", "boolean"].includes(typeof fact))
      .map(([name, fact]) => [name, typeof fact === "string" ? cut(fact) : fact]),
  );

/** What proxies write beside an address, and what is none, would be refused: a port, brackets, a zone, "unknown". */
function ipOf(text: string): string {
  const [, bare = text] = /^\[([^\]]*)\](?::\d+)?$/.exec(text) ?? /^([\d.]+):\d+$/.exec(text) ?? [];
  const [address = ""] = bare.split("%", 1);
  return /^(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{0,4}:[0-9a-f:.]{1,42})$/i.test(address)
    ? address
    : "";
}

function countByOf(names: CountBy): Record<string, string> | undefined {
  const given = Object.entries(names ?? {}).flatMap(([name, text]) => {
    if (typeof text !== "string") return [];
    const kept = name === "ip" ? ipOf(text.trim()) : cut(text);
    return kept === "" ? [] : [[name, kept] as const];
  });
  return given.length > 0 ? Object.fromEntries(given) : undefined;
}

async function decide(
  email: string,
  { deadlineMs, signal, countBy, ...options }: DecideOptions,
  { asking, told, ...parts }: Parts,
): Promise<Decision> {
  const entry = entryOf(email);
  if (entry === undefined) return MALFORMED;
  const asked = {
    ...options,
    email: entry,
    language: languageOf(options.language),
    count_by: countByOf(countBy),
  };
  try {
    asked.facts = factsOf(options.facts);
    const once = (deadline: Deadline): Promise<unknown> => {
      const body = JSON.stringify({ ...asked, deadline_ms: serviceMs(deadline) });
      return asking({ path: "/api/decide", method: "POST", body, ...SMALL }, deadline);
    };
    return readDecision(await within(deadlineMs ?? parts.deadlineMs, signal, twice(once)));
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason;
    const fault = asFault(error);
    told(fault);
    const refused = refusedBy(fault);
    if (refused !== undefined) return refused;
    const decision = await awayOf(parts.away, entry);
    return { source: "away", decision, reason: "unknown", complete: false, fault };
  }
}

/** A function that fails lets the person in. */
async function awayOf(away: Parts["away"], email: string): Promise<Verdict> {
  if (typeof away !== "function") return away;
  try {
    const verdict = await away(email);
    return DECISIONS.includes(verdict) ? verdict : "accept";
  } catch {
    return "accept";
  }
}

type Told = (fault: GatepostError) => void;

const SMALL = { maxBytes: ANSWER_MAX_BYTES } satisfies Partial<Question>;

/** Without a slash at its end. */
function baseOf(url: string): string {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    throw new TypeError(`url: "${url}" is not a base URL such as "http://127.0.0.1:8080".`);
  return url.replace(/\/+$/, "");
}

function checkOptions(deadlineMs: number, away: Parts["away"]): void {
  if (!(deadlineMs > 0)) throw new TypeError(`deadlineMs: ${String(deadlineMs)} is not above 0.`);
  if (typeof away !== "function" && !DECISIONS.includes(away)) {
    throw new TypeError(`away: "${away}" is not one of ${DECISIONS.join(", ")}.`);
  }
}

async function within<T>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (deadline: Deadline) => Promise<T>,
): Promise<T> {
  const deadline = startDeadline(ms, signal);
  try {
    return await work(deadline);
  } finally {
    deadline.clear();
  }
}

/** Once more, at once, when the question may not have arrived. It costs a unit again if it did. */
const twice =
  <T>(once: (deadline: Deadline) => Promise<T>) =>
  async (deadline: Deadline): Promise<T> => {
    try {
      return await once(deadline);
    } catch (error) {
      if (!isPassing(asFault(error)) || deadline.left() < RESERVE_MS) throw error;
      return once(deadline);
    }
  };

/** What the service may take of the time that is left. */
function serviceMs(deadline: Deadline): number {
  const [least, most] = SERVICE_MS;
  return Math.min(most, Math.max(least, Math.floor(deadline.left() - RESERVE_MS)));
}

const asFault = (error: unknown): GatepostError =>
  error instanceof GatepostError
    ? error
    : new GatepostError("request", "The question could not be asked.", { cause: error });
