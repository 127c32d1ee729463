import { plantsIn, type Plant } from "./plant.ts";

/** Batches, workers and webhooks. */
export const BULK_PLANTS: readonly Plant[] = [
  ...plantsIn(
    "bulk/chunk-queue",
    [
      "a chunk is not counted off its job",
      `eb("open_chunks", "-", 1)`,
      `eb("open_chunks", "-", 0)`,
    ],
    [
      "processed entries are counted twice",
      `eb("processed", "+", results.length)`,
      `eb("processed", "+", 2 * results.length)`,
    ],
    ["valid entries are not counted", `eb("valid", "+", tally.valid)`, `eb("valid", "+", 0)`],
    ["a finished job keeps its slot", "is_running: 0,", "is_running: 1,"],
    [
      "a finished job is announced by nobody",
      "case when state = 'stopping' then 1 else 0 end",
      "case when state = 'stopping' then 1 else 1 end",
    ],
    [
      "a result outlives its session by an hour",
      "at.nowMs + SESSION_LIFE_MS",
      "at.nowMs + 60 * SESSION_LIFE_MS",
    ],
    ["a finished session ends at once", "at.nowMs + SESSION_LIFE_MS", "at.nowMs + 1"],
  ),
  ...plantsIn("bulk/chunk-queue", [
    "a lease that ended is never given again",
    `.where("available_at_ms", "<=", nowMs)`,
    `.where("lease_worker", "is", null)`,
  ]),
  ...plantsIn(
    "bulk/jobs",
    [
      "a completed batch is taken again and again",
      ".set({ announced: 1 })\n        .where",
      ".set({ announced: 0 })\n        .where",
    ],
    [
      "a cancelled job keeps its slot",
      ".set({ is_running: 0, expires_at_ms: nowMs + SESSION_LIFE_MS })",
      ".set({ expires_at_ms: nowMs + SESSION_LIFE_MS })",
    ],
  ),
  ...plantsIn(
    "bulk/idempotency",
    [
      "the answer behind an idempotency key is forgotten",
      "if (known !== undefined) {",
      "if (known === null) {",
    ],
    ["an idempotency key is read without its owner", `.where("retry_keys.owner", "=", owner)`, ""],
  ),
  ...plantsIn(
    "main/bulk",
    [
      "locks of a killed process stay",
      "await idempotencyKeys.releaseAll();",
      "void idempotencyKeys;",
    ],
    ["jobs of before a restart wait for the next one", "if (isHeld)", "if (isHeld === undefined)"],
  ),
  ...plantsIn(
    "webhooks/webhooks-store",
    [
      "a webhook is sent by each look",
      `.set({ state: "sending", attempted_at_ms: nowMs })`,
      ".set({ attempted_at_ms: nowMs })",
    ],
    [
      "a webhook that was begun is begun again",
      `.select("id").where("state", "=", "queued")`,
      `.select("id").where("state", "=", "done")`,
    ],
  ),
  ...plantsIn(
    "bulk/read-session",
    [
      "everybody may read a session",
      "if (ownerKey(caller.owner) === session.owner)",
      "if (session.owner !== undefined)",
    ],
    [
      "an owner cannot read its session",
      "if (ownerKey(caller.owner) === session.owner)",
      "if (session.owner === undefined)",
    ],
  ),
  ...plantsIn("main/bulk", [
    "an entry of a batch has 500 ms",
    "const ENTRY_BUDGET_MS = 10_000;",
    "const ENTRY_BUDGET_MS = 500;",
  ]),
  ...plantsIn(
    "bulk/keep-house",
    ["stuck and untold jobs are never looked for", "await announce();", ""],
    [
      "a job that is done announces nothing itself, and nothing looks",
      "KEEP_HOUSE_EVERY_MS = 5_000",
      "KEEP_HOUSE_EVERY_MS = 500_000_000",
    ],
  ),
  ...plantsIn("bulk/worker/worker", ["a worker claims but once", "this.#mayBeMore = true;", ""]),
  ...plantsIn(
    "bulk/worker/process-chunk",
    [
      "invalid entries are listed",
      `results[index]?.fate === "valid"`,
      "results[index] !== undefined",
    ],
    [
      "a list is sorted",
      `results[index]?.fate === "valid")`,
      `results[index]?.fate === "valid").sort()`,
    ],
  ),
  ...plantsIn("webhooks/announce", [
    "a webhook goes to every owner",
    "if (endpoint === undefined || !wants(endpoint))",
    "if (endpoint === undefined || wants(endpoint))",
  ]),
  ...plantsIn(
    "bulk/submit",
    [
      "the answer of a request is not kept",
      "request.retry === undefined || token === undefined",
      "token !== null",
    ],
    [
      "a batch pays for its duplicates",
      "deps.admission.terms(entrance, split.unique)",
      "deps.admission.terms(entrance, split.total)",
    ],
  ),
  ...plantsIn(
    "bulk/sessions",
    ["a small batch is announced by nobody", "announced: 0,", "announced: 1,"],
    ["a small batch ends at once", "batch.nowMs + SESSION_LIFE_MS", "batch.nowMs"],
    ["a deleted session is found", `|| row.state === "gone"`, ""],
    [
      "a small batch counts all entries as valid",
      "valid: sum(({ tally }) => tally.valid)",
      "valid: batch.unique",
    ],
  ),
  ...plantsIn("bulk/jobs", [
    "an accepted job never runs",
    'state: "pending",\n        is_running: 1,',
    'state: "pending",\n        is_running: 0,',
  ]),
  ...plantsIn("bulk/idempotency", [
    "a key is given to another request",
    "if (known.body_hash !== claim.bodyHash)",
    "if (known.body_hash === '')",
  ]),
  ...plantsIn("bulk/sessions", [
    "sessions are never deleted",
    `await sql.deleteFrom("jobs").where("session", "=", session).execute();`,
    "",
  ]),
  ...plantsIn(
    "webhooks/dispatcher",
    [
      "a webhook is signed without its body",
      "sign(secret, body)",
      "sign(secret, new Uint8Array())",
    ],
    [
      "a sent webhook stays under way",
      `await deliveries.complete(delivery.id, "done", { ...attempted, durationMs });`,
      "void durationMs;",
    ],
  ),
  ...plantsIn("webhooks/announce", [
    "a webhook says other numbers",
    "const summary = { total, unique, invalid_format, invalid_dns, disposable, valid, session };",
    "const summary = { total, unique, invalid_format, invalid_dns, disposable, valid: total, session };",
  ]),
  ...plantsIn("webhooks/webhooks-store", [
    "a webhook goes to the first endpoint",
    `.where("account_id", "=", accountId)\n                .executeTakeFirst();\n            if (row === undefined)`,
    `.executeTakeFirst();\n            if (row === undefined)`,
  ]),
  ...plantsIn("bulk/worker/process-chunk", [
    "the first answer of a chunk is doubled",
    "await checkAll(entries,",
    "await checkAll([entries.at(-1), ...entries.slice(1)],",
  ]),
];
