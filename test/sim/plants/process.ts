import { plantsIn, type Plant } from "./plant.ts";

/** Quotas in memory, refunds, budgets and loops of one process. */
export const PROCESS_PLANTS: readonly Plant[] = [
  ...plantsIn(
    "accounts/admission/charges",
    [
      "a refund gives back twice the units",
      "await countIn(tx, charge, { units: -amount });",
      "await countIn(tx, charge, { units: -2 * amount });",
    ],
    ["a refund is not noted in its charge", ".set({ refunded: target })", ".set({ refunded: 0 })"],
  ),
  ...plantsIn(
    "accounts/admission/memory-quota-counter",
    [
      "single checks are not written to the ledger",
      "this.#unsaved.add(owner, units, count.day);",
      "",
    ],
    [
      "single checks are written twice",
      "this.#unsaved.add(owner, units, count.day);",
      "this.#unsaved.add(owner, 2 * units, count.day);",
    ],
    ["a quota is not compared", "if (spent !== undefined)\n            return spent;", ""],
    ["a restart forgets what was used", "dayUnits: used.inDay +", "dayUnits:"],
    ["a hold counts nothing", "inDay += hold.units;", ""],
  ),
  ...plantsIn("accounts/keys", [
    "a revoked key is found",
    `.where("api_keys.revoked_at_ms", "is", null)`,
    "",
  ]),
  ...plantsIn("accounts/admission/identify", [
    "a known key is believed for an hour",
    "const BELIEVED_MS = 4_000;",
    "const BELIEVED_MS = 3_600_000;",
  ]),
  ...plantsIn("lists/rules/live-rules", [
    "rules are read once",
    "if (changes === seen && nowMs < nextExpiryMs)",
    "if (seen !== -1)",
  ]),
  ...plantsIn("base/awake-clock", ["budgets run through a freeze", "this.#gapsMs += lateMs;", ""]),
  ...plantsIn(
    "check/bounded-lookup",
    ["a single check has 300 ms", "CORE_BUDGET_MS = 5_000", "CORE_BUDGET_MS = 300"],
    ["a single check waits for ever", "CORE_BUDGET_MS = 5_000", "CORE_BUDGET_MS = 5_000_000"],
  ),
  ...plantsIn("main/store", [
    "a stop does not write what waits",
    "quotas.flush().catch(",
    "Promise.resolve().catch(",
  ]),
  ...plantsIn("main/gate", [
    "a stop forgets decisions",
    "recorder.flush().catch(",
    "Promise.resolve().catch(",
  ]),
  ...plantsIn("base/every", [
    "a repeat loop ends with its first fault",
    "if (!isFailing)\n                failed(fault);",
    "throw fault;",
  ]),
];
