import type { Gatepost } from "./client.ts";
import { formOf, guardForm, type GuardOptions, STOP_STATUS } from "./guard.ts";
import type { Decision } from "./results.ts";

interface Request {
  body?: unknown;
  readonly ip?: string | undefined;
  readonly headers?: Readonly<Record<string, unknown>>;
  /** Set for what follows. */
  gatepost?: Decision;
}

interface Response {
  status(code: number): { json(body: unknown): unknown };
}

/** Express middleware, behind the one that reads bodies: answers 422 with `{ error, ... }`, or sets `request.gatepost`. */
export function guardSignUp(
  gatepost: Pick<Gatepost, "decide">,
  options: GuardOptions<Request> = {},
) {
  return async (request: Request, response: Response, next: () => void): Promise<void> => {
    const language = request.headers?.["accept-language"];
    const form = formOf(request.body);
    const { decision, stop } = await guardForm(gatepost, form, options, request, language);
    if (stop !== undefined) return void response.status(STOP_STATUS).json(stop);
    if (decision !== undefined) request.gatepost = decision;
    next();
  };
}
