import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { Described } from "../core/json-schema.ts";
import type { FullResult } from "../core/validate/result.ts";
import { ResultSchema } from "./schemas.ts";

/** What the service adds to a result when something asked for is not in the plan, or did not finish. */
interface DenialFields {
  readonly requires_upgrade?: readonly string[];
  readonly upgrade_url?: string;
  readonly upgrade_message?: string;
  readonly unsupported_features?: readonly string[];
  readonly temporarily_unavailable_features?: readonly string[];
}

type Writable<T> = T extends readonly (infer Item)[]
  ? Writable<Item>[]
  : T extends object
    ? { -readonly [Key in keyof T]: Writable<T[Key]> }
    : T;

/** Compiles only when the two are the same type, member for member. */
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

const resultAgrees: Same<
  Writable<FullResult & DenialFields>,
  Writable<Described<typeof ResultSchema>>
> = true;

test("the documented result and the core's are one type, and both stand in the contract's order", () => {
  assert.ok(resultAgrees);
  assert.deepEqual(
    Object.keys(ResultSchema.properties).join(" "),
    "format domain disposable dns confidence whitelist signals did_you_mean domain_info mx_info role free alias " +
      "spam_trap email_auth domain_age inbox_provider deliverability_score requires_upgrade " +
      "upgrade_url upgrade_message unsupported_features temporarily_unavailable_features",
  );
});
