import { plantsIn, type Plant, sharedPlantsIn } from "./plant.ts";

/** Keys, sign-ins, credits, quotas, rules, caches and counters that processes share. */
export const PEOPLE_PLANTS: readonly Plant[] = [
  ...plantsIn(
    "adapters/sql/account/sign-ins",
    [
      "a sign-out ends nothing",
      `.where("id", "=", id)\n                .executeTakeFirst();`,
      `.where("id", "=", "")\n                .executeTakeFirst();`,
    ],
    ["a cookie is anybody's", `.where("token_hash", "=", tokenHash)`, ""],
  ),
  ...plantsIn("service/account/sign-in/sign-ins", [
    "a sign-in ends at once",
    "expiresAtMs: nowMs + IDLE_MS,\n        clientAddress",
    "expiresAtMs: nowMs,\n        clientAddress",
  ]),
  ...plantsIn(
    "adapters/sql/account/keys",
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
    "service/admission/counting-admission",
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
  ...sharedPlantsIn("service/admission/counting-admission", [
    "a unit counted ahead is not given back",
    `unclaimed?.kind === "taken" ?`,
    `unclaimed?.kind === "never" ?`,
  ]),
  ...plantsIn(
    "adapters/sql/admission/credit-moves",
    ["a balance may be negative", `.where(after, ">=", 0)`, ""],
    ["the ledger has another amount", "{ ...move, sequence", "{ ...move, amount: 1, sequence"],
  ),
  ...plantsIn(
    "adapters/sql/admission/charges",
    ["credits pay half the price", "amount: -amount,", "amount: -Math.ceil(amount / 2),"],
    [
      "a held charge is not counted in the ledger",
      `paidBy === "plan" ? { units: amount }`,
      `paidBy === "plan" ? { units: 0 }`,
    ],
  ),
  ...sharedPlantsIn("adapters/sql/admission/charges", [
    "a written charge is dropped",
    "tx.afterCommit(() => counter.keep(taken));",
    "tx.afterCommit(() => counter.drop(taken));",
  ]),
  ...plantsIn("adapters/sql/evidence/rules", [
    "a change of rules is not counted",
    `build("changes", "+", 1)`,
    `build("changes", "+", 0)`,
  ]),
  ...plantsIn(
    "service/check/check-one",
    ["kept checks outlive new rules", "version: deps.datasetsVersion()", "version: 0"],
    ["a kept check is of any address", "${features} ${text}`", "${features}`"],
    [
      "a check is kept for days",
      "Math.min(validation.expiresAtMs, deps.clock.nowMs() + KEPT_AT_MOST_MS)",
      "deps.clock.nowMs() + 200 * KEPT_AT_MOST_MS",
    ],
  ),
  ...plantsIn(
    "ports/sharing/share",
    [
      "a share is never given back",
      "if (!tenant.holds.delete(held))",
      "if (tenant.holds.delete(held) || true)",
    ],
    ["who waits for a share waits for ever", "tenant.waiting.shift();", "return;"],
  ),
  ...sharedPlantsIn("ports/process/in-time", [
    "a limit of time is not kept",
    "callOff = clock.after(0, () => resolve(late));",
    "void late;",
  ]),
  ...plantsIn("adapters/memory/unsaved-units", [
    "units of a failed write are forgotten",
    "this.add(owner, units, day);\n            throw fault;",
    "void [owner, units, day];\n            throw fault;",
  ]),
  ...sharedPlantsIn(
    "adapters/redis/quota-counter",
    ["a dropped hold stays counted", "holdId, how]", `holdId, "keep"]`],
    ["a kept hold is dropped", "holdId, how]", `holdId, "drop"]`],
    ["units counted in Redis are not written", "this.#deps.journal.add(owner, units, day);", ""],
    ["units given back stay in the ledger", "journal.add(owner, -units, day);", ""],
    [
      "a lost answer of Redis is forgotten",
      "isUnsure(owner) {\n        this.#owed.add(owner);",
      "isUnsure(owner) {",
    ],
    [
      "a counter that is missing is never filled",
      "await this.#fill(order, String(reply[6]));",
      "await this.#wait(10);",
    ],
    [
      "units taken without Redis are never told to it",
      `isSpent = answer.kind === "spent";`,
      "isSpent = true;",
    ],
    [
      "a counter is filled without the ledger",
      "const { inDay, inMonth } = await ledger.unitsUsed(owner, day);",
      "const { inDay, inMonth } = { inDay: 0, inMonth: 0 };",
    ],
  ),
  ...sharedPlantsIn("adapters/redis/owed", [
    "a counter is voided before what was granted is written",
    "await this.#written();",
    "void 0;",
  ]),
  ...sharedPlantsIn("adapters/redis/reply-watch", [
    "a silent Redis is waited for",
    "this.#answered < due",
    "this.#answered < 0",
  ]),
  ...sharedPlantsIn("adapters/redis/connection", [
    "a Redis that was cut never counts as up again",
    "if (this.#isUp || this.#isJoining || this.#isClosed)",
    "if (this.#isUp || this.#isJoining || this.#isClosed || this.#prefix !== '')",
  ]),
  ...sharedPlantsIn(
    "adapters/sql/admission/usage-writer",
    ["a batch in doubt is written twice", "void this.#doubtful.set(number, deltas)", "void number"],
    [
      "a batch in doubt is taken off without a look",
      "this.#doubtful.get(written)",
      "[...this.#doubtful.values()][0]",
    ],
  ),
  ...sharedPlantsIn("adapters/sql/admission/usage-ledger", [
    "a unit that the ledger refuses is counted",
    "tx.abandon();",
    "",
  ]),
];
