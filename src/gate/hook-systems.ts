import type { HookSystem } from "../core/policy/outcomes.ts";
import { trimEntry } from "../core/address/address.ts";
import { wantedLanguage } from "../core/policy/messages.ts";
import type { CallerFact } from "../core/policy/policy.ts";
import { isReachable } from "../core/name/ip-address.ts";
import { IP, type SourceKey, sourceKeys } from "./traffic-marks.ts";

import {
  type Authenticate,
  fusionAuthSignature,
  type HookRequest,
  neonSignature,
  sharedSecret,
  signFusionAuth,
  signStandard,
  signZitadel,
  standardWebhooks,
  zitadelSignature,
} from "./hook-signatures.ts";

export interface HookReply {
  readonly status: number;
  /** JSON; absent: no body. */
  readonly body?: string;
}

export interface HookedSignUp {
  readonly email: string;
  /** Why there is nothing to check. `unread`: the payload has no member where the system puts the address. */
  readonly unchecked?: { readonly why: string; readonly outcome: "accepted" | "unread" };
  readonly subject?: string;
  readonly facts: ReadonlyMap<string, CallerFact>;
  readonly sources: readonly SourceKey[];
  readonly language: string;
}

type Path = readonly string[];

/** "user.email" -> the path of that member. */
const namesOf = (path: string): Path => path.split(".");
const at = (...paths: readonly string[]): readonly Path[] => paths.map(namesOf);

interface SystemRow {
  readonly name: string;
  /** Everything is answered by then: half of what the system waits for, 1 s at most. */
  readonly deadlineMs: number;
  readonly authenticate: Authenticate;
  readonly emailAt: readonly Path[];
  readonly event?: { readonly at: Path; readonly isChecked: RegExp };
  readonly accept: HookReply;
  readonly reject: (message: string, payload: unknown) => HookReply;
  readonly secret: "whsec" | "plain";
  readonly example: (email: string) => object;
  readonly sign?: (body: string, secret: string, nowMs: number) => Record<string, string>;
}

const json = (status: number, value: object): HookReply => ({
  status,
  body: JSON.stringify(value),
});

export const SYSTEMS: Readonly<Record<HookSystem, SystemRow>> = {
  supabase: {
    name: "Supabase Auth",
    deadlineMs: 1_000,
    authenticate: standardWebhooks,
    emailAt: at("user.email"),
    event: { at: namesOf("metadata.name"), isChecked: /^before-user-created$/ },
    accept: json(200, {}),
    // Another status than 200 would lose the message; an empty one would create the user.
    reject: (message) => json(200, { error: { http_code: 400, message } }),
    secret: "whsec",
    example: (email) => ({
      metadata: {
        uuid: "8b34dcdd-9df1-4c10-850a-b3277c653040",
        name: "before-user-created",
        ip_address: "192.0.2.1",
      },
      user: {
        id: "ff7fc9ae-3b1b-4642-9241-64adb9848a03",
        email,
        phone: "",
        app_metadata: { provider: "email", providers: ["email"] },
        user_metadata: {},
        is_anonymous: false,
      },
    }),
    sign: signStandard,
  },
  kratos: {
    name: "Ory Kratos",
    deadlineMs: 1_000,
    authenticate: sharedSecret,
    emailAt: at("email", "traits.email", "identity.traits.email", "ctx.identity.traits.email"),
    accept: { status: 204 },
    // Two messages: the two-step registration hides the field, and shows only what stands at the form.
    reject: (text, payload) => {
      const messages = [{ id: 1_234, text, type: "error" }];
      const field = { instance_ptr: traitPointer(payload), messages };
      return json(400, { messages: [field, { instance_ptr: "#/", messages }] });
    },
    secret: "plain",
    example: (email) => ({
      email,
      flow_id: "3d1b2c0a-6b0e-4c0b-9f0e-0a2b6d1c9e11",
      flow_type: "browser",
    }),
    sign: (_, secret) => ({ authorization: `Bearer ${secret}` }),
  },
  zitadel: {
    name: "ZITADEL",
    deadlineMs: 1_000,
    authenticate: zitadelSignature,
    emailAt: at("request.human.email.email", "request.email.email", "request.email"),
    accept: { status: 200 },
    reject: (message) => json(200, { forwardedStatusCode: 400, forwardedErrorMessage: message }),
    secret: "plain",
    example: (email) => ({
      fullMethod: "/zitadel.user.v2.UserService/CreateUser",
      instanceID: "344648897353744526",
      request: {
        organizationId: "344648897353810062",
        human: {
          profile: { givenName: "Minnie", familyName: "Mouse", preferredLanguage: "en" },
          email: { email },
        },
      },
    }),
    sign: signZitadel,
  },
  fusionauth: {
    name: "FusionAuth",
    deadlineMs: 500,
    authenticate: fusionAuthSignature,
    emailAt: at("event.user.email"),
    event: {
      at: namesOf("event.type"),
      isChecked: /^user\.(create|registration\.create|email\.update)$/,
    },
    accept: { status: 200 },
    reject: (error) => json(422, { error }),
    secret: "plain",
    example: (email) => ({
      event: {
        createInstant: 1_629_912_352_952,
        id: "6c854b61-8e16-45db-b9ac-9465255b0fae",
        type: "user.create",
        user: { active: true, email, id: "7b6c267c-4a31-47a4-8c19-11aa40dbd304", verified: true },
      },
    }),
    sign: signFusionAuth,
  },
  neon: {
    name: "Neon Auth",
    deadlineMs: 1_000,
    authenticate: neonSignature,
    emailAt: at("user.email"),
    event: { at: namesOf("event_type"), isChecked: /^user\.before_create$/ },
    accept: json(200, { allowed: true }),
    reject: (message) =>
      json(200, { allowed: false, error_message: message, error_code: "EMAIL_REJECTED" }),
    secret: "plain",
    example: (email) => ({ event_type: "user.before_create", user: { email } }),
  },
  standard: {
    name: "Standard Webhooks",
    deadlineMs: 1_000,
    authenticate: standardWebhooks,
    emailAt: at("email", "user.email", "data.email", "data.user.email"),
    accept: json(200, { decision: "accept", reason: "unknown", complete: false }),
    reject: (message) => json(200, { decision: "reject", message }), // the decision itself is sent instead
    secret: "whsec",
    example: (email) => ({ email }),
    sign: signStandard,
  },
};

/** The system that most likely sent a call, where nobody can say whose hook it is. */
export function likelySystem({ headers }: HookRequest, payload: object): HookSystem {
  if (headers["zitadel-signature"] !== undefined) return "zitadel";
  if (headers["x-neon-signature"] !== undefined) return "neon";
  if (valueAt(payload, ["event", "user"]) !== undefined) return "fusionauth";
  const isStandard = (headers["webhook-id"] ?? headers["svix-id"]) !== undefined;
  if (!isStandard) return "kratos";
  return valueAt(payload, ["metadata", "name"]) === undefined ? "standard" : "supabase";
}

/** Kratos adds a text field for a pointer that its form does not have, so a trait of another name must be told. */
function traitPointer(payload: unknown): string {
  const told = textAt(payload, INSTANCE_AT);
  return /^#\/traits(\/[\w-]{1,64}){1,4}$/.test(told) ? told : "#/traits/email";
}

const INSTANCE_AT = at("instance_ptr");
const PROVIDER_AT = at("provider", "user.app_metadata.provider", "event_data.auth_provider");
const ANONYMOUS_AT = at("anonymous", "is_anonymous", "user.is_anonymous", "user.isAnonymous");
const SUBJECT_AT = at(
  "subject",
  "user.id",
  "event.user.id",
  "request.userId",
  "identity_id",
  "identity.id",
  "ctx.identity.id",
  "data.user.id",
  "data.id",
);
/** Kratos has no id yet when it asks. */
const SUBJECT = /^(?!0{8}-0{4}-)[\w.:|-]{1,128}$/;

const ADDRESS_AT = at(
  "ip",
  "ip_address",
  "metadata.ip_address",
  "event.info.ipAddress",
  "event_data.ip_address",
);

/** None of a private network: a proxy that says nothing of its visitors would stand for all of them. */
function sourcesIn(payload: unknown): readonly SourceKey[] {
  const address = textAt(payload, ADDRESS_AT).trim();
  return isReachable(address) ? (sourceKeys(IP, address) ?? []) : [];
}

const LANGUAGE_AT = at(
  "language",
  "locale",
  "accept_language",
  "data.language",
  "user.language",
  "user.locale",
  "user.user_metadata.language",
  "user.user_metadata.locale",
  "request.human.profile.preferredLanguage",
  "request.profile.preferredLanguage",
  "event.user.preferredLanguages",
  "request_headers.Accept-Language",
  "ctx.request_headers.Accept-Language",
);

/** The system invents an address for these accounts, or has none. */
const WITHOUT_MAILBOX = /^(anonymous|phone|phone-number|siwe|web3)$/;

/** An address that is there but is no text is refused like any malformed one. */
const NO_TEXT = "(no text)";

type Unchecked = NonNullable<HookedSignUp["unchecked"]>;

const accepted = (why: string): Unchecked => ({ why, outcome: "accepted" });
const OTHER_EVENT = accepted("The event brings no new address.");
const NO_MAILBOX = accepted("The account has no mailbox of its own.");
const NO_ADDRESS = accepted("The payload has no address.");
const UNREAD: Unchecked = {
  why: "The payload is not one of this system: it has no member for the address.",
  outcome: "unread",
};

function isOtherEvent(payload: unknown, event: SystemRow["event"]): boolean {
  const named = event && valueAt(payload, event.at);
  return typeof named === "string" && event?.isChecked.test(named) === false;
}

const isMachine = (payload: unknown): boolean =>
  typeof valueAt(payload, ["request", "machine"]) === "object";

export function readSignUp(payload: unknown, { emailAt, event }: SystemRow): HookedSignUp {
  const { email, isThere } = emailIn(payload, emailAt);
  // Neon calls a sign-up by address and password "credential".
  const provider = textAt(payload, PROVIDER_AT)
    .slice(0, 128)
    .replace(/^credential$/, "email");
  const anonymous = ANONYMOUS_AT.map((path) => valueAt(payload, path)).find(
    (value) => typeof value === "boolean",
  );
  const language = wantedLanguage(textAt(payload, LANGUAGE_AT));
  const facts = new Map<string, CallerFact>();
  if (provider !== "") facts.set("provider", provider);
  if (typeof anonymous === "boolean") facts.set("anonymous", anonymous);
  if (language !== "") facts.set("language", language);
  const hasNoMailbox = anonymous === true || isMachine(payload) || WITHOUT_MAILBOX.test(provider);
  const unchecked = isOtherEvent(payload, event)
    ? OTHER_EVENT
    : hasNoMailbox
      ? NO_MAILBOX
      : email === ""
        ? isThere
          ? NO_ADDRESS
          : UNREAD
        : undefined;
  const subject = textAt(payload, SUBJECT_AT);
  return {
    email,
    facts,
    sources: sourcesIn(payload),
    language: language === "" ? "en" : language,
    ...(unchecked !== undefined && { unchecked }),
    ...(SUBJECT.test(subject) && { subject }),
  };
}

/** The first text that is not blank. What is no text, and holds no other place of an address, is refused as malformed. */
function emailIn(payload: unknown, emailAt: readonly Path[]) {
  const isHolder = (path: Path): boolean =>
    emailAt.some((one) => one.length > path.length && path.every((name, at) => one[at] === name));
  let [email, isThere] = ["", false];
  for (const path of emailAt) {
    const value = valueAt(payload, path);
    if (value === undefined) continue;
    isThere = true;
    if (typeof value === "string" && !isBlank(value)) return { email: value, isThere };
    if (!isBlank(value) && !(typeof value === "object" && isHolder(path))) email = NO_TEXT;
  }
  return { email, isThere };
}

const isBlank = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === "string" && trimEntry(value) === "");

/** The first text at one of the paths that is not blank; "" when there is none. */
function textAt(payload: unknown, paths: readonly Path[]): string {
  for (const path of paths) {
    const value = valueAt(payload, path);
    const first: unknown = Array.isArray(value) ? value[0] : value;
    if (typeof first === "string" && !isBlank(first)) return first;
  }
  return "";
}

function valueAt(payload: unknown, path: Path): unknown {
  let value = payload;
  for (const name of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name))
      return undefined;
    value = Reflect.get(value, name);
  }
  return value;
}
