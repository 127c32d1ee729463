import { Readable } from "node:stream";
import type { Accounts } from "../../accounts/accounts-store.ts";
import { type AuditLog, isAuditPlace } from "../../accounts/audit.ts";
import { adminsOnly, badParameter, notFound } from "../../base/refusals.ts";
import { csvLine } from "../../core/batch/result-cells.ts";
import { orNull, Type } from "../../core/json-schema.ts";
import { shownAudit } from "../account/present.ts";
import type { AuditEntry } from "../account/shapes.ts";
import { json, KEY_NEEDED, type Operation, parametersOf } from "../operation.ts";
import { JSON_TYPE, type Route } from "../route.ts";
import { accountOf } from "./feedback.ts";

const PAGE_MAX = 100;
const CSV_ROWS = 1_000;
const CSV_TYPE = "text/csv; charset=utf-8";

/** /api/audit and /api/audit/csv: what was changed by whom, for keys of administrators; one of the rate, no unit. */
export const auditRoute = (
  log: Pick<AuditLog, "page">,
  accounts: Pick<Accounts, "find">,
): Route => ({
  family: "audit",
  methods: ["GET"],
  body: "params",
  parameters: parametersOf(...AUDIT),
  charges: "nothing",
  async handle(request) {
    const [form, ...more] = request.path;
    if (more.length > 0 || (form !== undefined && form !== "csv")) throw notFound();
    const account = await accounts.find(accountOf(request));
    if (account?.isAdmin !== true) throw adminsOnly();
    if (form === "csv") return { type: CSV_TYPE, body: Readable.from(csvOf(log)) };
    const { params } = request;
    const [after, limit = String(PAGE_MAX)] = [params.words("after"), params.words("limit")];
    if (after !== undefined && !isAuditPlace(after)) {
      throw badParameter("after", "the next of a page before");
    }
    if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > PAGE_MAX) {
      throw badParameter("limit", `a whole number from 1 to ${String(PAGE_MAX)}`);
    }
    const { rows, next } = await log.page({ after, limit: Number(limit) });
    return { type: JSON_TYPE, body: JSON.stringify({ entries: rows.map(shownAudit), next }) };
  },
});

const COLUMNS = [
  "at",
  "action",
  "actor",
  "subject",
  "detail",
  "client_address",
] as const satisfies readonly (keyof AuditEntry)[];

async function* csvOf(log: Pick<AuditLog, "page">): AsyncGenerator<string> {
  yield csvLine(COLUMNS, ",");
  for (let after: string | undefined | null; after !== null;) {
    const page = await log.page({ after, limit: CSV_ROWS });
    const lines = page.rows.map(shownAudit).map((entry) => COLUMNS.map((name) => entry[name]));
    yield lines.map((cells) => csvLine(cells, ",")).join("");
    after = page.next;
  }
}

const text = (description: string) => Type.String({ description });

const EXAMPLE: AuditEntry = {
  id: "0123456789abcdef0123456789abcdef",
  at: "2026-11-28T09:00:00.000Z",
  action: "key.created",
  actor: "The operator (root)",
  subject: "jo@shop.example",
  detail: "sign-up",
  client_address: "the command line",
};

const about =
  "Needs a secret key of an administrator; counts against the rate and costs no unit. The last 400 days. ";
const refusals = {
  ...KEY_NEEDED,
  403: ["The key's account is no administrator's.", adminsOnly()],
} as const;

export const AUDIT: readonly Operation[] = [
  {
    id: "listAudit",
    at: "GET /api/audit",
    summary: "Read who changed what",
    about: `${about}Newest first.`,
    tag: "system",
    key: "needed",
    query: {
      after: { schema: Type.Optional(text("`next` of the page before.")) },
      limit: {
        schema: Type.Optional(
          Type.String({ description: "Entries of a page, 1 to 100.", example: "100" }),
        ),
      },
    },
    answers: json(
      "One page.",
      Type.Object({
        entries: Type.Array(
          Type.Object({
            id: Type.String(),
            at: Type.String({ format: "date-time" }),
            action: text("What was done: `key.created`."),
            actor: text("Who did it: an account's address, or who else."),
            subject: text("The account that it was done to."),
            detail: Type.String(),
            client_address: text("From where."),
          }),
        ),
        next: orNull(Type.String()),
      }),
      { entries: [EXAMPLE], next: null },
    ),
    refusals: { ...refusals, 400: ["A parameter is wrong.", badParameter("limit", "1 to 100")] },
  },
  {
    id: "listAuditCsv",
    at: "GET /api/audit/csv",
    summary: "Read who changed what as CSV",
    about: `${about}All of it.`,
    tag: "system",
    key: "needed",
    answers: {
      "text/csv": {
        about: "A line of names, and one for each entry.",
        schema: Type.String(),
        example: `${COLUMNS.join(",")}\r\n`,
      },
    },
    refusals,
  },
];
