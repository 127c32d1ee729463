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

type Before = (user: User) => Promise<void>;

export interface BetterAuthPlugin {
  readonly id: "gatepost";
  readonly init: () => {
    readonly options: {
      readonly databaseHooks: {
        readonly user: Readonly<Record<"create" | "update", { readonly before: Before }>>;
      };
    };
  };
}

export interface PluginOptions extends Omit<GuardOptions, "field" | "confirmedField"> {
  /** `accept` unless set, because not every way of signing up can ask a question back. */
  readonly challenge?: "accept" | "reject";
}

/** A plugin of better-auth: decides before a user is made, by password, link or another service, or gets another address. */
export function gatepostPlugin(
  gatepost: Pick<Gatepost, "decide">,
  { challenge = "accept", ...options }: PluginOptions = {},
): BetterAuthPlugin {
  const before: Before = async ({ email }) => {
    const form = { email, confirmed: challenge === "accept" };
    const { stop } = await guardForm(gatepost, formOf(form), options);
    if (stop !== undefined) throw new APIError(stop);
  };
  return {
    id: "gatepost",
    init: () => ({
      options: { databaseHooks: { user: { create: { before }, update: { before } } } },
    }),
  };
}
