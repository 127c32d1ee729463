import type { Gatepost } from "./client.ts";
import { formOf, guardForm, type GuardOptions, STOP_STATUS } from "./guard.ts";
import type { Decision } from "./results.ts";

interface Request {
  readonly ip?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, unknown>>;
}

interface Reply {
  code(status: number): { send(body: unknown): unknown };
}

const DECISIONS = new WeakMap<object, Decision>();

/** A `preHandler` of Fastify: answers 422 with `{ error, ... }`; `decisionOf(request)` has the decision behind it. */
export function guardSignUp(
  gatepost: Pick<Gatepost, "decide">,
  options: GuardOptions<Request> = {},
) {
  return async (request: Request, reply: Reply): Promise<unknown> => {
    const language = request.headers?.["accept-language"];
    const form = formOf(request.body);
    const { decision, stop } = await guardForm(gatepost, form, options, request, language);
    if (decision !== undefined) DECISIONS.set(request, decision);
    return stop === undefined ? undefined : reply.code(STOP_STATUS).send(stop);
  };
}

export const decisionOf = (request: object): Decision | undefined => DECISIONS.get(request);
