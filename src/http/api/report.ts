import { DAY_MS } from "../../core/calendar.ts";
import type { Clock } from "../../ports/process/clock.ts";
import { REPORT_FIELDS } from "../../ports/evidence/reports.ts";
import type { Caller } from "../../service/admission/caller.ts";
import {
  apiKeyRequired,
  missingParameter,
  reasonTooLong,
  tooManyReports,
  unknownReportField,
} from "../../service/refusals.ts";
import {
  REASON_MAX,
  REPORT_DAYS,
  REPORTS_A_DAY,
  type ReportAnswer,
  type ReportService,
} from "../../service/evidence/reports.ts";
import { Type } from "../../core/json-schema.ts";
import { apiError, COMMON_ERRORS } from "../openapi/openapi.ts";
import type { PathItem } from "../answer/operation.ts";
import type { Params } from "../request/params.ts";
import { JSON_TYPE, type Route } from "../answer/route.ts";

export interface ReportRouteDeps {
  readonly reports: Pick<ReportService, "report">;
  readonly clock: Pick<Clock, "nowMs">;
}

/** POST /api/report: a client says that a verdict is wrong; needs a key, twenty a day. */
export function reportRoute({ reports, clock }: ReportRouteDeps): Route {
  return {
    family: "report",
    methods: ["POST"],
    body: "params",
    parameters: new Set(["entry", "wrong", "reason"]),
    charges: "nothing",
    documentation: DOCUMENTATION,
    async handle({ params, entrance }) {
      const answer = await reports.report(accountOf(entrance.caller), {
        entry: required(params, "entry"),
        wrong: required(params, "wrong").trim(),
        reason: params.words("reason") ?? "",
      });
      const id = keptId(answer, clock.nowMs());
      return { type: JSON_TYPE, body: JSON.stringify({ id, kept_days: REPORT_DAYS }) };
    },
  };
}

function accountOf({ keyId, owner }: Caller): string {
  if (keyId === undefined || owner.kind !== "account") throw apiKeyRequired();
  return owner.accountId;
}

function required(params: Params, name: string): string {
  const text = params.entry(name, "either") ?? "";
  if (text.trim() === "") throw missingParameter(name);
  return text;
}

function keptId(answer: ReportAnswer, nowMs: number): string {
  switch (answer.kind) {
    case "kept":
      return answer.id;
    case "bad_field":
      throw unknownReportField(REPORT_FIELDS);
    case "bad_reason":
      throw reasonTooLong(REASON_MAX);
    case "too_many":
      throw tooManyReports(REPORTS_A_DAY, DAY_MS - (nowMs % DAY_MS));
  }
}

const Body = Type.Object({
  entry: Type.String({
    description: "The address or domain. Its local part is never kept.",
    minLength: 1,
  }),
  wrong: Type.Unsafe<string>({
    type: "string",
    enum: REPORT_FIELDS,
    description: "What is wrong about the verdict.",
  }),
  reason: Type.Optional(Type.String({ maxLength: REASON_MAX })),
});

const EXAMPLE = { entry: "ada@example.org", wrong: "disposable", reason: "Our company's domain." };

const DOCUMENTATION: Readonly<Record<string, PathItem>> = {
  "/api/report": {
    post: {
      operationId: "reportVerdict",
      summary: "Report a wrong verdict",
      description: `Needs a key; at most ${String(REPORTS_A_DAY)} a day. The operator reads it.`,
      tags: ["checks"],
      security: [{ apiKey: [] }, { bearer: [] }],
      requestBody: {
        required: true,
        content: {
          "application/json": { schema: Body, example: EXAMPLE },
          "application/x-www-form-urlencoded": { schema: Body, example: EXAMPLE },
          "multipart/form-data": { schema: Body, example: EXAMPLE },
        },
      },
      responses: {
        200: {
          description: "Kept for the operator.",
          content: {
            "application/json": {
              schema: Type.Object({ id: Type.String(), kept_days: Type.Integer() }),
              example: { id: "0f3c6f0e8f4b4d0a9a57c1f2b3d4e5f6", kept_days: REPORT_DAYS },
            },
          },
        },
        ...COMMON_ERRORS,
        400: apiError("A parameter is missing.", missingParameter("entry")),
        401: apiError("No key, or one that is invalid or revoked.", apiKeyRequired()),
        422: apiError("An unknown field, or too long a reason.", unknownReportField(REPORT_FIELDS)),
        429: apiError(
          `${String(REPORTS_A_DAY)} reports were made today, or the rate is spent.`,
          tooManyReports(REPORTS_A_DAY, 3_600_000),
        ),
      },
    },
  },
};
