import { trimEntry } from "../../core/address/trim.ts";
import type { HookSystem } from "../../ports/policy/hooks.ts";
import {
  type Authenticate,
  fusionAuthSignature,
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

interface SystemRow {
  /** For people. */
  readonly name: string;
  /** Half of what the system waits for, 1 s at most. */
  readonly deadlineMs: number;
  readonly authenticate: Authenticate;
  /** Where the address may be, in the order tried. */
  readonly emailAt: readonly string[];
  readonly accept: HookReply;
  readonly reject: (message: string, email: string) => HookReply;
  readonly secret: "whsec" | "plain";
  /** A payload as the system sends it. */
  readonly example: (email: string) => object;
  /** Headers that prove the example; absent where only the system can sign. */
  readonly sign?: (body: string, secret: string, nowMs: number) => Record<string, string>;
}

const json = (status: number, value: object): HookReply => ({
  status,
  body: JSON.stringify(value),
});

/** What each system sends and understands: docs/hooks has the sources and the traps. */
export const SYSTEMS: Readonly<Record<HookSystem, SystemRow>> = {
  supabase: {
    name: "Supabase Auth",
    deadlineMs: 1_000,
    authenticate: standardWebhooks,
    emailAt: ["user.email"],
    accept: json(200, {}),
    // Another status than 200 would lose the message; an empty one would create the user.
    reject: (message) => json(200, { error: { http_code: 400, message } }),
    secret: "whsec",
    example: (email) => ({ metadata: { name: "before-user-created" }, user: { email } }),
    sign: signStandard,
  },
  kratos: {
    name: "Ory Kratos",
    deadlineMs: 1_000,
    authenticate: sharedSecret,
    emailAt: ["email", "traits.email", "identity.traits.email", "ctx.identity.traits.email"],
    accept: { status: 204 },
    reject: (text) =>
      json(400, {
        messages: [
          { instance_ptr: "#/traits/email", messages: [{ id: 1_234, text, type: "error" }] },
        ],
      }),
    secret: "plain",
    example: (email) => ({ email, flow_type: "browser" }),
    sign: (_, secret) => ({ authorization: `Bearer ${secret}` }),
  },
  zitadel: {
    name: "ZITADEL",
    deadlineMs: 1_000,
    authenticate: zitadelSignature,
    emailAt: ["request.human.email.email", "request.email.email"],
    accept: { status: 200 },
    reject: (message) => json(200, { forwardedStatusCode: 400, forwardedErrorMessage: message }),
    secret: "plain",
    example: (email) => ({
      fullMethod: "/zitadel.user.v2.UserService/CreateUser",
      request: { human: { email: { email } } },
    }),
    sign: signZitadel,
  },
  fusionauth: {
    name: "FusionAuth",
    deadlineMs: 500,
    authenticate: fusionAuthSignature,
    emailAt: ["event.user.email"],
    accept: { status: 200 },
    reject: (error) => json(422, { error }),
    secret: "plain",
    example: (email) => ({ event: { type: "user.create", user: { email } } }),
    sign: signFusionAuth,
  },
  neon: {
    name: "Neon Auth",
    deadlineMs: 1_000,
    authenticate: neonSignature,
    emailAt: ["user.email"],
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
    emailAt: ["email", "user.email", "data.email", "data.user.email"],
    accept: json(200, { decision: "accept", reason: "unknown", complete: false }),
    reject: (message) => json(200, { decision: "reject", message }), // the decision itself is sent instead
    secret: "whsec",
    example: (email) => ({ email }),
    sign: signStandard,
  },
};

/** The address of a payload; "" when there is none: sign-ups by phone have none. */
export function emailIn(payload: unknown, { emailAt }: Pick<SystemRow, "emailAt">): string {
  for (const path of emailAt) {
    let value: unknown = payload;
    for (const name of path.split(".")) {
      const isObject = typeof value === "object" && value !== null && Object.hasOwn(value, name);
      value = isObject ? Reflect.get(value as object, name) : undefined;
    }
    if (typeof value === "string" && trimEntry(value) !== "") return trimEntry(value);
  }
  return "";
}
