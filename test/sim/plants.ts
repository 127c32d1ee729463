/** A fault that is planted in the compiled program, one at a time, to see whether the simulation finds it. */
export interface Plant {
  readonly name: string;
  /** Below `src`, without its suffix. */
  readonly file: string;
  /** Occurs in the file; the first occurrence becomes `to`. */
  readonly from: string;
  readonly to: string;
}

const plant = (name: string, file: string, from: string, to: string): Plant => ({
  name,
  file,
  from,
  to,
});

const JOBS = "adapters/sql/bulk/jobs";
const CHUNKS = "adapters/sql/bulk/chunk-queue";
const RETRIES = "adapters/sql/bulk/idempotency-keys";
const REFUNDS = "adapters/sql/admission/refunds";
const QUOTAS = "adapters/memory/quota-counter";
const KEYS = "adapters/sql/account/keys";
const CLAIMS = "adapters/sql/webhooks/webhook-claims";
const SESSIONS = "service/bulk/read-session";

export const PLANTS: readonly Plant[] = [
  plant("a fence token is not compared", CHUNKS, `.where("lease_token", "=", token)`, ""),
  plant("a late chunk is counted all the same", CHUNKS, "tx.abandon();", ""),
  plant(
    "a chunk is not counted off its job",
    CHUNKS,
    `eb("open_chunks", "-", 1)`,
    `eb("open_chunks", "-", 0)`,
  ),
  plant(
    "processed entries are counted twice",
    CHUNKS,
    `eb("processed", "+", results.length)`,
    `eb("processed", "+", 2 * results.length)`,
  ),
  plant(
    "valid entries are not counted",
    CHUNKS,
    `eb("valid", "+", tally.valid)`,
    `eb("valid", "+", 0)`,
  ),
  plant("a finished job keeps its slot", CHUNKS, "is_running: 0,", "is_running: 1,"),
  plant("a finished job is announced by nobody", CHUNKS, "announced: 0,", "announced: 1,"),
  plant(
    "a lease that ended is never given again",
    CHUNKS,
    `.where("available_at_ms", "<=", nowMs)`,
    `.where("lease_worker", "is", null)`,
  ),
  plant(
    "a result outlives its session by an hour",
    CHUNKS,
    "at.nowMs + SESSION_LIFE_MS",
    "at.nowMs + 60 * SESSION_LIFE_MS",
  ),
  plant("a finished session ends at once", CHUNKS, "at.nowMs + SESSION_LIFE_MS", "at.nowMs + 1"),
  plant(
    "a completed batch is taken again and again",
    JOBS,
    `.set({ announced: 1 })\n        .where`,
    `.set({ announced: 0 })\n        .where`,
  ),
  plant(
    "a refund of a cancelled job is forgotten",
    JOBS,
    "await charges.refundIn(tx, job.charge_id, open, nowMs);",
    "",
  ),
  plant(
    "a cancelled job keeps its slot",
    JOBS,
    ".set({ is_running: 0, expires_at_ms: nowMs + SESSION_LIFE_MS })",
    ".set({ expires_at_ms: nowMs + SESSION_LIFE_MS })",
  ),
  plant(
    "a refund gives back twice the units",
    REFUNDS,
    "await countIn(tx, charge, { units: -amount });",
    "await countIn(tx, charge, { units: -2 * amount });",
  ),
  plant(
    "a repeated refund gives back again",
    REFUNDS,
    "const amount = target - charge.refunded;",
    "const amount = target;",
  ),
  plant(
    "the answer behind an idempotency key is forgotten",
    RETRIES,
    "if (known !== undefined) {",
    "if (known === null) {",
  ),
  plant(
    "a lock lasts for ever",
    RETRIES,
    "Number(row.locked_until_ms) > nowMs",
    "Number(row.locked_until_ms) > 0",
  ),
  plant(
    "an idempotency key is read without its owner",
    RETRIES,
    `.where("retry_keys.owner", "=", owner)`,
    "",
  ),
  plant(
    "locks of a killed process stay",
    "main/parts/open-bulk",
    "await idempotencyKeys.releaseAll();",
    "void idempotencyKeys;",
  ),
  plant(
    "single checks are not written to the ledger",
    QUOTAS,
    "this.#unsaved.add(owner, units, count.day);",
    "",
  ),
  plant(
    "single checks are written twice",
    QUOTAS,
    "this.#unsaved.add(owner, units, count.day);",
    "this.#unsaved.add(owner, 2 * units, count.day);",
  ),
  plant(
    "a quota is not compared",
    QUOTAS,
    "if (spent !== undefined)\n            return spent;",
    "",
  ),
  plant("a restart forgets what was used", QUOTAS, "dayUnits: used.inDay +", "dayUnits:"),
  plant("a hold counts nothing", QUOTAS, "inDay += hold.units;", ""),
  plant("a revoked key is found", KEYS, `.where("api_keys.revoked_at_ms", "is", null)`, ""),
  plant(
    "a known key is believed for an hour",
    "service/admission/known-keys",
    "const BELIEVED_MS = 4_000;",
    "const BELIEVED_MS = 3_600_000;",
  ),
  plant(
    "rules are read once",
    "adapters/lists/refresh/live-rules",
    "if (changes === seen && nowMs < nextExpiryMs)",
    "if (seen !== -1)",
  ),
  plant(
    "a webhook is sent by each look",
    CLAIMS,
    `.set({ state: "sending", attempted_at_ms: nowMs })`,
    `.set({ attempted_at_ms: nowMs })`,
  ),
  plant(
    "a webhook that was begun is begun again",
    CLAIMS,
    `.select("id").where("state", "=", "queued")`,
    `.select("id").where("state", "=", "done")`,
  ),
  plant(
    "everybody may read a session",
    SESSIONS,
    "if (ownerKey(caller.owner) === session.owner)",
    "if (session.owner !== undefined)",
  ),
  plant(
    "an owner cannot read its session",
    SESSIONS,
    "if (ownerKey(caller.owner) === session.owner)",
    "if (session.owner === undefined)",
  ),
  plant("budgets run through a freeze", "ports/process/awake-clock", "this.#gapsMs += lateMs;", ""),
  plant(
    "a single check has 300 ms",
    "service/check/bounded-lookup",
    "CORE_BUDGET_MS = 5_000",
    "CORE_BUDGET_MS = 300",
  ),
  plant(
    "a single check waits for ever",
    "service/check/bounded-lookup",
    "CORE_BUDGET_MS = 5_000",
    "CORE_BUDGET_MS = 5_000_000",
  ),
  plant(
    "an entry of a batch has 500 ms",
    "main/parts/bulk-checker",
    "const ENTRY_BUDGET_MS = 10_000;",
    "const ENTRY_BUDGET_MS = 500;",
  ),
  plant(
    "stuck and untold jobs are never looked for",
    "service/bulk/keep-house",
    "await announce();",
    "",
  ),
  plant(
    "jobs of before a restart wait for the next one",
    "main/parts/open-bulk",
    "if (isHeld)",
    "if (isHeld === undefined)",
  ),
  plant(
    "a job that is done announces nothing itself, and nothing looks",
    "service/bulk/keep-house",
    "KEEP_HOUSE_EVERY_MS = 5_000",
    "KEEP_HOUSE_EVERY_MS = 500_000_000",
  ),
  plant(
    "a repeat loop ends with its first fault",
    "ports/process/every",
    "if (!isFailing)\n                failed(fault);",
    "throw fault;",
  ),
  plant("a worker claims but once", "service/bulk/claiming", "this.#mayBeMore = true;", ""),
  plant(
    "invalid entries are listed",
    "service/bulk/entry-check",
    `results[index]?.fate === "valid"`,
    `results[index] !== undefined`,
  ),
  plant(
    "a list is sorted",
    "service/bulk/entry-check",
    `results[index]?.fate === "valid")`,
    `results[index]?.fate === "valid").sort()`,
  ),
  plant(
    "a webhook goes to every owner",
    "service/webhooks/announce",
    "if (endpoint === undefined || !wants(endpoint))",
    "if (endpoint === undefined || wants(endpoint))",
  ),
];
