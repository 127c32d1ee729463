import { type Described, oneOf, orNull, Type } from "../../core/json-schema.ts";
import { DECISIONS } from "../../core/policy/policy.ts";
import { ResultSchema } from "../schemas.ts";
import { text } from "./shapes.ts";

/** What the routes of the sign-up gate answer: see `shapes.ts`. */

export * from "../../gate/gate-shapes.ts";

export const PolicyTests = Type.Object({
  results: Type.Array(
    Type.Object({
      entry: text,
      decision: oneOf(DECISIONS, "What the policy says."),
      reason: text,
      rule: orNull(Type.Integer({ minimum: 0 }), "Counts from 0; null: `else` decided."),
      message: Type.Optional(text),
      did_you_mean: Type.Optional(text),
      complete: Type.Boolean(),
      untested: Type.Optional(
        Type.Array(text, {
          description:
            "Facts of traffic and feedback in rules before this one: a test counts none.",
        }),
      ),
      result: ResultSchema,
    }),
  ),
});
export type PolicyTest = Described<typeof PolicyTests>["results"][number];
