import type { Gatepost } from "./client.ts";
import { formOf, guardForm, type GuardOptions, STOP_STATUS, type Stop } from "./guard.ts";

/** better-auth knows its refusals by this name, in whatever copy of the package they were made. */
class APIError extends Error {
  override readonly name = "APIError";
  readonly status = "UNPROCESSABLE_ENTITY";
  readonly statusCode = STOP_STATUS;
  readonly headers = {};
  readonly body: { readonly code: string; readonly message: string } & Omit<Stop, "error">;

  constructor({ error, ...stop }: Stop) {
    super(error);
    this.body = { ...stop, message: error, code: `GATEPOST_${stop.reason.toUpperCase()}` };
  }
}

interface User {
  readonly email?: unknown;
}

/** The request that makes or changes the user, as far as it is known. */
interface Context {
  readonly path?: string;
  readonly headers?: { get(name: string): string | null };
  readonly body?: unknown;
  readonly context?: {
    readonly internalAdapter?: { findUserByEmail(email: string): Promise<unknown> };
  };
}

type Before = (user: User, context?: Context | null) => Promise<void>;

export interface BetterAuthPlugin {
  readonly id: "gatepost";
  readonly hooks: {
    readonly before: {
      matcher(context: Context): boolean;
      handler(context: Context): Promise<void>;
    }[];
  };
  readonly init: () => {
    readonly options: {
      readonly databaseHooks: {
        readonly user: Readonly<Record<"create" | "update", { readonly before: Before }>>;
      };
    };
  };
}

export interface PluginOptions extends Omit<
  GuardOptions<Context | null | undefined>,
  "field" | "confirmedField"
> {
  /** `accept` unless set, because not every way of signing up can ask a question back. */
  readonly challenge?: "accept" | "reject";
}

/** Here a message goes out before a user is made or changed. */
const SENDS_FIRST = [
  "/sign-in/magic-link",
  "/email-otp/send-verification-otp",
  "/change-email",
  "/email-otp/request-email-change",
];

const WITHOUT_ADDRESS = ["/sign-in/anonymous", "/siwe/verify", "/phone-number/verify"];

/**
 * Whether better-auth made the address up: for anonymous, wallet and telephone accounts, and for services that tell none. What a
 * person typed is never taken for made up.
 */
function isMadeUp(email: unknown, context: Context | null | undefined): boolean {
  const field = formOf(context?.body);
  const typed = [field("email"), field("newEmail")].map((each) => String(each).toLowerCase());
  const address = String(email).toLowerCase();
  if (typed.includes(address)) return false;
  return WITHOUT_ADDRESS.includes(context?.path ?? "") || address.endsWith(".placeholder.invalid");
}

/**
 * A plugin of better-auth: decides before a user is made, by password, link or another service, or gets another address, and
 * before a link or code goes to somebody who has no account.
 */
export function gatepostPlugin(
  gatepost: Pick<Gatepost, "decide">,
  { challenge = "accept", ...options }: PluginOptions = {},
): BetterAuthPlugin {
  const before: Before = async ({ email }, context) => {
    if (isMadeUp(email, context)) return;
    const form = { email, confirmed: challenge === "accept" };
    const language = context?.headers?.get("accept-language");
    const { stop } = await guardForm(gatepost, formOf(form), options, context, language);
    if (stop !== undefined) throw new APIError(stop);
  };
  const beforeMessage = async (context: Context): Promise<void> => {
    const field = formOf(context.body);
    const email = field("newEmail") ?? field("email");
    if (typeof email !== "string") return; // better-auth refuses it
    const user = await context.context?.internalAdapter?.findUserByEmail(email.toLowerCase());
    if (!user) await before({ email }, context);
  };
  return {
    id: "gatepost",
    hooks: {
      before: [{ matcher: ({ path = "" }) => SENDS_FIRST.includes(path), handler: beforeMessage }],
    },
    init: () => ({
      options: { databaseHooks: { user: { create: { before }, update: { before } } } },
    }),
  };
}
