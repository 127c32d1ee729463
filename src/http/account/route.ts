import type { AccountService } from "../../accounts/accounts.ts";
import type { Account } from "../../accounts/accounts-store.ts";
import type { Admission, Admitted } from "../../accounts/admission/admission.ts";
import type { Tiers } from "../../accounts/admission/tiers.ts";
import type { UsageRecorder } from "../../accounts/admission/usage-recorder.ts";
import type { UsageReader } from "../../accounts/allowance.ts";
import type { AuditLog, Note } from "../../accounts/audit.ts";
import type { Credits } from "../../accounts/credits.ts";
import type { KeyService } from "../../accounts/keys.ts";
import type { ResetLinks } from "../../accounts/reset-links.ts";
import type { SecondFactors } from "../../accounts/sign-in/second-factor.ts";
import type { SetUp } from "../../accounts/sign-in/set-up.ts";
import type { SignIn } from "../../accounts/sign-in/sign-in.ts";
import type { SignedIn, SignIns, Visitor } from "../../accounts/sign-in/sign-ins.ts";
import type { SignUp, SignUpSwitch } from "../../accounts/sign-in/sign-up.ts";
import type { Clock } from "../../base/clock.ts";
import type { Health } from "../../base/health.ts";
import { badField, Refusal, wrongCurrentPassword } from "../../base/refusals.ts";
import type { Shares } from "../../base/shares.ts";
import type { AccountLists } from "../../bulk/lists/lists.ts";
import type { AccountCheck } from "../../check/explain.ts";
import type { FrontPage } from "../../check/check-shapes.ts";
import type { Awaitable } from "../../core/mail/lookup.ts";
import type { AccountSwitches } from "../../gate/account-switches.ts";
import type { DecisionLog } from "../../gate/decision-log.ts";
import type { Feedback } from "../../gate/feedback.ts";
import type { ForgetAgainDeps } from "../../gate/forget-person.ts";
import type { HookHandler } from "../../gate/hook-handler.ts";
import type { HookService } from "../../gate/hooks.ts";
import type { ReportOutcomes } from "../../gate/outcomes.ts";
import type { PolicyService } from "../../gate/policies.ts";
import type { TestPolicy } from "../../gate/rulings.ts";
import type { WatchList } from "../../watch/watch-list.ts";
import type { Tokens } from "../../gate/tokens.ts";
import type { AccountHash } from "../../gate/traffic-marks.ts";
import type { FeedRefresh } from "../../lists/feed-refresher.ts";
import type { RuleService } from "../../lists/rules/rules.ts";
import type { SignInRow } from "../../store/schema.ts";
import type { WebhookSetup } from "../../webhooks/configure.ts";
import type { Dispatcher } from "../../webhooks/dispatcher.ts";
import type { Deliveries } from "../../webhooks/webhooks-store.ts";
import type { UploadedFile } from "../api/upload.ts";

export interface DnsTest {
  readonly resolvers: readonly {
    readonly server: string;
    /** Half of its answers came within; null: it does not answer. */
    readonly median_ms: number | null;
    /** It answers over TCP; null: it answers nothing. */
    readonly tcp: boolean | null;
    /** It finds names that exist and invents none; null: not tested. */
    readonly truthful: boolean | null;
    readonly says: string;
  }[];
}

export interface SystemState {
  readonly version: string;
  readonly node: string;
  readonly started_at: string;
  /** When the embedded database was last backed up; null when no back-up is known. */
  readonly last_backup?: string | null;
  /** Octets where the embedded database is; null with PostgreSQL. */
  readonly disk: { readonly free: number; readonly size: number } | null;
  /** Lists and their entries; null while the database does not answer. */
  readonly queue: { readonly lists: number; readonly waiting: number } | null;
  readonly facts: readonly { readonly name: string; readonly value: string }[];
}

export interface DashboardServices {
  readonly accounts: AccountService;
  readonly accountLists: AccountLists;
  readonly admission: Pick<Admission, "enter" | "enterAs" | "charge">;
  readonly auditLog: AuditLog;
  readonly check: AccountCheck;
  readonly clock: Clock;
  readonly credits: Credits;
  readonly dnsTest: () => Promise<DnsTest>;
  readonly factors: SecondFactors;
  readonly forgetting: ForgetAgainDeps;
  readonly frontPage: () => Promise<FrontPage>;
  readonly gate: DashboardGate;
  readonly health: Pick<Health, "state">;
  readonly info: { readonly publicUrl: () => string; readonly version: string };
  readonly keys: KeyService;
  /** The public lists that hold an entry now. */
  readonly listsWith: (entry: string) => readonly string[];
  readonly operator: RuleService;
  readonly refresh: FeedRefresh;
  readonly requests: Pick<UsageRecorder, "record">;
  readonly resetLinks: ResetLinks;
  readonly sessions: SignIns;
  readonly setUp: SetUp;
  readonly shares: Shares;
  readonly signIn: SignIn;
  readonly signUp: SignUp;
  readonly signUps: SignUpSwitch;
  readonly switches: AccountSwitches;
  readonly system: () => Promise<SystemState>;
  readonly tiers: Tiers;
  readonly usage: UsageReader;
  readonly watch: Pick<WatchList, "count" | "changes" | "clear">;
  readonly webhooks: {
    readonly setup: WebhookSetup;
    readonly dispatcher: Pick<Dispatcher, "ping">;
    readonly deliveries: Pick<Deliveries, "list">;
  };
}

interface DashboardGate {
  readonly decisionLog: Pick<DecisionLog, "page" | "groups" | "mailboxes" | "sourceOf">;
  readonly feedback: Feedback;
  readonly hash: AccountHash;
  readonly hooks: Pick<HookHandler, "answer">;
  readonly hookService: HookService;
  readonly policies: PolicyService;
  readonly reportOutcomes: ReportOutcomes;
  readonly testPolicy: TestPolicy;
  readonly tokens: Pick<Tokens, "renewSecret">;
}

export interface AccountRequest<Body = unknown> {
  readonly visitor: Visitor;
  readonly body: Body;
  readonly file?: UploadedFile;
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly id: string;
  /** Whom a trusted proxy names, where that is nobody's session. */
  readonly claimed?: string | undefined;
  /** Whose session it is; a disabled account, too. */
  readonly known?: SignedIn | undefined;
  readonly account?: Account;
}

export interface SignedInRequest<Body = unknown> extends AccountRequest<Body> {
  readonly account: Account;
  readonly session: SignInRow;
  /** Writes down what this account changes, here or in another account. */
  readonly note: Note;
}

interface ReplyParts {
  /** A new session's token, or "" to take the cookie away. */
  readonly cookie?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text?: { readonly type: string; readonly chunks: AsyncIterable<string | Uint8Array> };
}

/** An answer other than JSON; 204 without `text`. */
export class AccountReply {
  readonly parts: ReplyParts;

  constructor(parts: ReplyParts) {
    this.parts = parts;
  }
}

/** Reads a member of a JSON body, undefined where it is absent. Throws the `Refusal` of a wrong value. */
export type Reader<T> = (value: unknown, name: string) => T;
type Readers = Readonly<Record<string, Reader<unknown>>>;
type BodyOf<F extends Readers> = {
  readonly [Name in keyof F]: F[Name] extends Reader<infer T> ? T : never;
};

interface RouteTerms {
  readonly body?: Readers;
  /** A list of entries or rules may be up to the transport's limit; other bodies stay below 64 KiB. */
  readonly largeBody?: true;
  readonly upload?: true;
  /** The body has `current_password`, asked for again because a browser left open is not enough. */
  readonly confirmed?: true;
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

/** Becomes JSON, or a line of JSON for each item of an async iterable; undefined: 204. */
export type RouteAnswer = object | undefined | void;

export interface AccountRoute<Place = string, Answer = RouteAnswer> extends RouteTerms {
  readonly for: Audience;
  /** Method and path. */
  readonly place: Place;
  readonly method: "GET" | "POST" | "DELETE";
  /** Behind `/account/`; one parameter may be `:id`. */
  readonly path: string;
  readonly handle: (services: DashboardServices, request: AccountRequest) => Promise<Answer>;
}

const routeFor =
  <For extends Audience>(audience: For) =>
  <
    Place extends `${AccountRoute["method"]} ${string}`,
    F extends Readers,
    Answer extends RouteAnswer,
  >(
    place: Place,
    terms: RouteTerms & { readonly body?: F },
    handle: (
      services: DashboardServices,
      request: RequestsFor<BodyOf<F>>[For],
    ) => Awaitable<Answer>,
  ): AccountRoute<Place, Answer> => {
    const [method = "", path = ""] = place.split(" ");
    return {
      ...terms,
      place,
      method: method as AccountRoute["method"], // by the type of `place`
      path,
      for: audience,
      async handle(services, request) {
        const members = Object(request.body) as Readonly<Record<string, unknown>>;
        const valueOf = <V>(name: string, read: Reader<V>): V =>
          read(Object.hasOwn(members, name) ? members[name] : undefined, name);
        const fields = Object.entries(terms.body ?? {});
        const body = Object.fromEntries(fields.map(([name, read]) => [name, valueOf(name, read)]));
        if (terms.confirmed === true) {
          const password = valueOf("current_password", passwordField);
          const { id = "" } = request.account ?? {};
          if (!(await services.signIn.isPassword(id, password, request.visitor))) {
            throw wrongCurrentPassword();
          }
        }
        // The guard lets in nobody but the audience.
        return handle(services, { ...request, body } as RequestsFor<BodyOf<F>>[For]);
      },
    };
  };

export const everyone = routeFor("everyone");
export const account = routeFor("account");
export const admin = routeFor("admin");
export const leaving = routeFor("leaving");

export const bodyText =
  (maxCharacters: number): Reader<string> =>
  (value, name) => {
    if (typeof value !== "string") throw badField(`"${name}" must be text.`);
    if (value.length <= maxCharacters) return value;
    throw badField(`"${name}" must have at most ${String(maxCharacters)} characters.`);
  };

export const textsField =
  (maxItems: number): Reader<readonly string[]> =>
  (value, name) => {
    const isList = Array.isArray(value) && value.every((item) => typeof item === "string");
    if (!isList || value.length > maxItems) throw badField(`"${name}" must be a list of texts.`);
    return value;
  };

export const wholeField: Reader<number> = (value, name) => {
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  throw badField(`"${name}" must be a whole number.`);
};

/** It is read when it is needed: a policy with the plan of its account, a row's class once the list is found. */
export const anyField: Reader<unknown> = (value) => value;

export const flagField: Reader<boolean> = (value) => value === true;

/** One of `words`; `mistake` is a sentence for any other value. */
export const wordField =
  <const T extends string>(words: readonly T[], mistake: string): Reader<T> =>
  (value) => {
    const found = words.find((word) => word === value);
    if (found === undefined) throw badField(mistake);
    return found;
  };

export const optional =
  <T>(read: Reader<T>): Reader<T | undefined> =>
  (value, name) =>
    value === undefined ? undefined : read(value, name);

export const emailField = bodyText(320);
export const passwordField = bodyText(2_000);

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
  return new AccountReply({ headers, text: { type, chunks } });
}

type CountingServices = Pick<DashboardServices, "admission" | "requests">;
type CountedRequest = Pick<AccountRequest, "account" | "visitor">;

/**
 * Lets the account in as its key would be, and a visitor as an anonymous caller, and counts the request in its charts as
 * the API counts one, and as refused for any refusal below 500.
 */
export async function inRate<T>(
  services: CountingServices,
  request: CountedRequest,
  work: (admitted: Admitted) => Promise<T>,
): Promise<T> {
  const { admitted, ended } = await enter(services, request);
  try {
    if (admitted.refusal !== undefined) throw admitted.refusal;
    const answer = await work(admitted);
    ended();
    return answer;
  } catch (fault) {
    ended(fault);
    throw fault;
  }
}

/** The same for an answer that streams: it is counted when it ends, also when the client stops reading. */
export async function* countedLines<T>(
  services: CountingServices,
  request: CountedRequest,
  work: (admitted: Admitted) => AsyncIterable<T>,
): AsyncGenerator<T> {
  const { admitted, ended } = await enter(services, request);
  let fault: unknown;
  try {
    if (admitted.refusal !== undefined) throw admitted.refusal;
    yield* work(admitted);
  } catch (thrown) {
    fault = thrown;
    throw thrown;
  } finally {
    ended(fault);
  }
}

const NO_KEY = { apiKey: [], authorization: [] };

async function enter(
  { admission, requests }: CountingServices,
  { account: own, visitor: { clientAddress } }: CountedRequest,
) {
  const admitted = await (own === undefined
    ? admission.enter(NO_KEY, clientAddress)
    : admission.enterAs(own, clientAddress));
  const ended = (fault?: unknown): void => {
    const refusal = fault instanceof Refusal && fault.status < 500 ? fault.code : undefined;
    requests.record(admitted.caller, { refusal });
  };
  return { admitted, ended };
}
