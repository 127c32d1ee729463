import type { Verdict } from "../facts.ts";
import { inParam, type Shape, single } from "../shape.ts";

/** code, result, reason, send_transactional */
const WORDS: Readonly<Record<Verdict, readonly [string, string, string, string]>> = {
  syntax: ["1", "Invalid", "Syntax", "0"],
  disposable: ["3", "Invalid", "Disposable", "0"],
  no_mail: ["6", "Invalid", "Bounce", "0"],
  trap: ["2", "Invalid", "Spam-trap", "0"],
  role: ["8", "Risky", "Role", "1"],
  unknown: ["7", "Unknown", "Unknown", "1"],
  good: ["5", "Safe to Send", "Deliverable", "1"],
  takes: ["7", "Unknown", "Unknown", "1"],
};

const STATUSES = { key: 401, quota: 402, rate: 429, missing: 400 };

const ERRORS: Readonly<Record<string, string>> = {
  key: "Wrong API",
  quota: "Credits Low",
  rate: "Maximum concurrent calls reached",
};

/** api.debounce.io: every value is text. */
export const debounce: Shape = {
  service: "debounce",
  keys: [inParam("api")],
  parameters: ["email", "api"],
  cors: true,
  endpoints: [
    single({ paths: ["v1"], name: "email" }, async (facts, { unitsLeft }) => {
      const { verdict, result, entry, meant } = facts;
      const [code, word, reason, transactional] = WORDS[verdict];
      return {
        debounce: {
          email: entry,
          code,
          role: String(result.role),
          free_email: String(result.free),
          result: word,
          reason,
          send_transactional: transactional,
          did_you_mean: meant ?? "",
        },
        success: "1",
        balance: String(await unitsLeft()),
      };
    }),
  ],
  refused: ({ kind, status, message }) => ({
    status: kind in STATUSES ? STATUSES[kind as keyof typeof STATUSES] : status,
    body: { debounce: { error: ERRORS[kind] ?? message, code: "0" }, success: "0" },
  }),
};
