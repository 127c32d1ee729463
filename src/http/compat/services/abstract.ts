import type { Verdict } from "../facts.ts";
import { inParam, type Shape, single, textOf, type Why } from "../shape.ts";

/** deliverability, quality_score */
const WORDS: Readonly<Record<Verdict, readonly [string, string]>> = {
  syntax: ["UNDELIVERABLE", "0.01"],
  disposable: ["UNKNOWN", "0.10"],
  no_mail: ["UNDELIVERABLE", "0.01"],
  trap: ["UNKNOWN", "0.10"],
  role: ["UNKNOWN", "0.40"],
  unknown: ["UNKNOWN", "0.50"],
  good: ["DELIVERABLE", "0.90"],
  takes: ["UNKNOWN", "0.50"],
};

const TEXTS = new Map([
  [true, "TRUE"],
  [false, "FALSE"],
]);

const shown = (value: boolean | null): object => ({
  value,
  text: value === null ? "UNKNOWN" : TEXTS.get(value),
});

const CODES: Partial<Record<Why["kind"], readonly [status: number, code: string]>> = {
  key: [401, "unauthorized"],
  quota: [422, "quota_reached"],
  rate: [429, "too_many_requests"],
  missing: [400, "validation_error"],
};

/** emailvalidation.abstractapi.com; what no probe was made for is UNKNOWN. */
export const abstract: Shape = {
  service: "abstract",
  keys: [inParam("api_key")],
  parameters: ["api_key", "email", "auto_correct"],
  endpoints: [
    single({ paths: ["v1"], name: "email" }, (facts, { params }) => {
      const { verdict, result, entry, mail, meant } = facts;
      const [deliverability, score] = WORDS[verdict];
      // Of a malformed address the other checks are false.
      const isUntested = result.format ? null : false;
      return {
        email: entry,
        autocorrect: textOf(params, "auto_correct") === "false" ? "" : (meant ?? ""),
        deliverability,
        quality_score: score,
        is_valid_format: shown(result.format),
        is_free_email: shown(result.free),
        is_disposable_email: shown(result.disposable),
        is_role_email: shown(result.role),
        is_catchall_email: shown(isUntested),
        is_mx_found: shown(mail),
        is_smtp_valid: shown(isUntested),
      };
    }),
  ],
  refused({ kind, status, message }) {
    const [shownStatus, code] = CODES[kind] ?? [
      status,
      kind === "fault" ? "internal" : "bad_request",
    ];
    const text = kind === "key" ? "Invalid API key provided." : message;
    return { status: shownStatus, body: { error: { message: text, code, details: null } } };
  },
};
