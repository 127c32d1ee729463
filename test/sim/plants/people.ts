import { plantsIn, type Plant } from "./plant.ts";

/** Keys, sign-ins, credits, quotas, rules, caches and counters that processes share. */
export const PEOPLE_PLANTS: readonly Plant[] = [
  ...plantsIn(
    "accounts/sign-in/sign-ins",
    [
      "a sign-out ends nothing",
      `.where("id", "=", id)\n                .executeTakeFirst();`,
      `.where("id", "=", "")\n                .executeTakeFirst();`,
    ],
    ["a cookie is anybody's", `.where("token_hash", "=", tokenHash)`, ""],
  ),
  ...plantsIn("accounts/sign-in/sign-ins", [
    "a sign-in ends at once",
    "expiresAtMs: nowMs + IDLE_MS,\n        clientAddress",
    "expiresAtMs: nowMs,\n        clientAddress",
  ]),
  ...plantsIn(
    "accounts/keys",
    [
      "a new key is revoked already",
      "revoked_at_ms: null,\n        origins",
      "revoked_at_ms: 1,\n        origins",
    ],
    [
      "a revocation changes nothing",
      `build.fn.coalesce("revoked_at_ms", build.val(nowMs))`,
      `build.ref("revoked_at_ms")`,
    ],
    [
      "an account sees the keys of all",
      `.where("account_id", "=", accountId)\n                .orderBy("created_at_ms")`,
      `.orderBy("created_at_ms")`,
    ],
    [
      "a key finds the oldest account",
      `.where("api_keys.key_hash", "=", "")`,
      `.where("api_keys.key_hash", "<>", "")`,
    ],
  ),
  ...plantsIn("http/account/own/key-routes", [
    "an account may revoke the keys of others",
    "if (key?.accountId !== request.account.id)",
    "if (key === undefined)",
  ]),
  ...plantsIn(
    "accounts/admission/counting-admission",
    [
      "a revoked key is a stranger's",
      `? this.#asStranger(clientAddress, "intruder")`,
      `? this.#asStranger(clientAddress, "stranger")`,
    ],
    ["a spent plan ignores credits", `hasCredits ? "plan_then_credits" : "plan"`, `"plan"`],
    [
      "a spent plan is paid by nobody",
      "throw quotaExceeded(period, terms.nowMs);",
      "return this.#paidByPlan(ownerKey(terms.owner), 1, 0);",
    ],
  ),
  ...plantsIn(
    "accounts/credits",
    ["a balance may be negative", `.where(after, ">=", 0)`, ""],
    ["the ledger has another amount", "{ ...move, sequence", "{ ...move, amount: 1, sequence"],
  ),
  ...plantsIn(
    "accounts/admission/charges",
    ["credits pay half the price", "amount: -amount,", "amount: -Math.ceil(amount / 2),"],
    [
      "a held charge is not counted in the ledger",
      `paidBy === "plan" ? { units: amount }`,
      `paidBy === "plan" ? { units: 0 }`,
    ],
  ),
  ...plantsIn("lists/rules/rule", [
    "a change of rules is not counted",
    `build("changes", "+", 1)`,
    `build("changes", "+", 0)`,
  ]),
  ...plantsIn(
    "check/check-one",
    ["kept checks outlive new rules", "version: deps.datasetsVersion()", "version: 0"],
    ["a kept check is of any address", "${features} ${text}`", "${features}`"],
    [
      "a check is kept for days",
      "Math.min(validation.expiresAtMs, deps.clock.nowMs() + KEPT_AT_MOST_MS)",
      "deps.clock.nowMs() + 200 * KEPT_AT_MOST_MS",
    ],
  ),
  ...plantsIn(
    "base/shares",
    [
      "a share is never given back",
      "if (!tenant.holds.delete(held))",
      "if (tenant.holds.delete(held) || true)",
    ],
    ["who waits for a share waits for ever", "next.item.begin();", "void next;"],
  ),
  ...plantsIn("base/write-behind", [
    "what a failed write held is forgotten",
    "this.#refill(this.#writing, this.#waiting);",
    "this.#refill(this.#waiting);",
  ]),
];
