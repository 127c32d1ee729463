import { strict as assert } from "node:assert";
import { test } from "node:test";
import { ResultSchema } from "./schemas.ts";

test("the fields of a result stand in the contract's order", () => {
  assert.deepEqual(
    Object.keys(ResultSchema.properties).join(" "),
    "format domain disposable dns confidence whitelist signals did_you_mean domain_info mx_info role free alias " +
      "spam_trap email_auth domain_age inbox_provider deliverability_score requires_upgrade " +
      "upgrade_url upgrade_message unsupported_features temporarily_unavailable_features",
  );
});
