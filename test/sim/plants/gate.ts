import { plantsIn, type Plant } from "./plant.ts";

/** Decisions, policies, tokens and keys for pages. */
export const GATE_PLANTS: readonly Plant[] = [
  ...plantsIn(
    "gate/in-force",
    ["a policy is believed for an hour", "BELIEVED_MS = 4_000", "BELIEVED_MS = 3_600_000"],
    [
      "a shadow decides",
      "const decides = live === undefined",
      "const decides = shadow !== undefined ? readyOf(shadow) : live === undefined",
    ],
    [
      "policies of all accounts are one",
      "const key = `${accountId} ${name}`;",
      "const key = name;",
    ],
    [
      "an own policy is not used",
      "live === undefined ? builtIn(name)",
      "live !== null ? builtIn(name)",
    ],
  ),
  ...plantsIn(
    "gate/policy-store",
    [
      "a promoted policy is not live",
      "{ live_version: shadow, shadow_version: null }",
      "{ shadow_version: null }",
    ],
    [
      "a version is saved with the next one's number",
      "version: number,\n        document",
      "version: number + 1,\n        document",
    ],
    [
      "every version is saved as live",
      `made.as === "live" ? "live_version" : "shadow_version"`,
      `made.as !== "" ? "live_version" : "shadow_version"`,
    ],
  ),
  ...plantsIn(
    "gate/decide-one",
    [
      "kept decisions are of all accounts",
      `owner.kind === "account" ? owner.accountId : "";`,
      `"";`,
    ],
    [
      "a decision is kept for days",
      "Math.min(validation.expiresAtMs, deps.clock.nowMs() + KEPT_AT_MOST_MS)",
      "deps.clock.nowMs() + 200 * KEPT_AT_MOST_MS",
    ],
    ["a decision waits for slow names", "budgetMs: asksDns ? left() : 0,", "budgetMs: 5_000,"],
    ["a decision is not counted", "deps.record(caller", "void (caller"],
    [
      "a decision without a known policy is the built-in one's",
      "if (policies === undefined)\n            throw noSuchPolicy();",
      "if (policies === undefined) return { body: '{}', paidBy: 'plan', decision: 'accept', reason: 'ok' };",
    ],
  ),
  ...plantsIn(
    "gate/tokens",
    ["a token lives for a day", "TOKEN_SECONDS = 600", "TOKEN_SECONDS = 86_400"],
    ["a token is about a domain", "update(trimEntry(content.address))", "update(content.domain)"],
    ["all tokens have one id", "jti: ids.hex32()", `jti: "1"`],
    ["every token says accept", "dec: content.decision", `dec: "accept"`],
  ),
  ...plantsIn(
    "gate/outcome-recorder",
    ["a decision is counted twice", "reason, count: 1 })", "reason, count: 2 })"],
    ["decisions are written an hour late", "FLUSH_AFTER_MS = 1_000", "FLUSH_AFTER_MS = 3_600_000"],
  ),
  ...plantsIn("gate/outcomes-store", [
    "a decision that was made before is not counted",
    `build("count", "+", made.count)`,
    `build("count", "+", 0)`,
  ]),
  ...plantsIn(
    "gate/traffic",
    [
      "a mailbox has one id for all accounts",
      `createHmac("sha256", key).update(accountId)`,
      `createHmac("sha256", key)`,
    ],
    ["all mailboxes of a domain have one id", "update(text)", "update(text.replace(/^.*@/, ''))"],
  ),
  ...plantsIn(
    "gate/decide-one",
    [
      "a page reads results",
      "const isPublic = caller.isPublishable === true;",
      "const isPublic = false;",
    ],
    [
      "a stranger gets a mailbox id",
      `accountId !== undefined && entry.kind === "address"`,
      `entry.kind === "address"`,
    ],
  ),
  ...plantsIn("http/api/decide/decide", [
    "origins are not compared",
    "!origins.includes(origin)",
    "false",
  ]),
  ...plantsIn("http/guard", [
    "a key for pages opens every route",
    "caller.isPublishable === true && route.forPublishableKeys !== true",
    "false",
  ]),
  ...plantsIn("core/policy/conditions", [
    "a name without an answer has no mail",
    `has("dns_indeterminate") ? "unknown" : result.dns`,
    "result.dns",
  ]),
];
