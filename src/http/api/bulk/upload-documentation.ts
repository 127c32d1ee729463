import { badUpload, notMultipart, uploadTooLarge } from "../../../base/refusals.ts";
import { Type } from "../../../core/json-schema.ts";
import { apiError, queryParameter } from "../../openapi/openapi.ts";
import type { PathItem } from "../../answer/operation.ts";
import { bulkFields, bulkResponses, IDEMPOTENCY_KEY } from "./bulk-documentation.ts";

const COLUMN =
  "Name, or number from 1, of the column with the entries; absent: found by its name, else by content.";

const SHEET =
  "Name, or number from 1, of the sheet of a workbook; absent: the one with the most entries.";

const form = Type.Object({
  file: Type.Unsafe<unknown>({
    type: "string",
    format: "binary",
    description:
      "Text, CSV, JSON lines or .xlsx, in UTF-8, UTF-16 or Windows-1252; at most 20,000,000 octets and 1,000,000 entries.",
  }),
  column: Type.Optional(Type.String({ description: COLUMN })),
  sheet: Type.Optional(Type.String({ description: SHEET })),
  json: bulkFields.json,
});

export const uploadDocumentation: Readonly<Record<string, PathItem>> = {
  "/api/bulk/upload": {
    post: {
      operationId: "uploadEntries",
      summary: "Check the entries of a CSV, text, JSON lines or .xlsx file",
      description:
        "The other columns of a CSV are kept in the session: `/api/view/{session}/csv` gives the file back with " +
        "the results beside each row.",
      tags: ["bulk"],
      parameters: [
        IDEMPOTENCY_KEY,
        queryParameter("column", COLUMN),
        queryParameter("sheet", SHEET),
        queryParameter("json", "1"),
      ],
      requestBody: { required: true, content: { "multipart/form-data": { schema: form } } },
      responses: {
        ...bulkResponses,
        400: apiError(
          "No file, no such column, or a file that cannot be read; the message says where.",
          badUpload("No column holds addresses or domains; name it with column."),
        ),
        413: apiError(
          "The file is over 20,000,000 octets.",
          uploadTooLarge(20_000_000, 23_456_789),
        ),
        415: apiError("Another media type.", notMultipart()),
      },
    },
  },
};
