import type { Gatepost } from "./client.ts";
import { guardForm, type GuardOptions, type Stop } from "./guard.ts";

/**
 * A server action of Next.js, `(form)` or `(state, form)`, that gives `{ error, ... }` for an address that is stopped and
 * runs `action` for all others.
 */
export function guardAction<Given extends readonly unknown[], Result>(
  gatepost: Pick<Gatepost, "decide">,
  action: (...given: Given) => Result | Promise<Result>,
  options: GuardOptions<undefined> = {},
): (...given: Given) => Promise<Result | Stop> {
  return async (...given) => {
    const form = given.find((each): each is FormData => each instanceof FormData);
    const { stop } = await guardForm(gatepost, (field) => form?.get(field), options, undefined);
    return stop ?? action(...given);
  };
}
