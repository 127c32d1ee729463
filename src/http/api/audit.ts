import { Readable } from "node:stream";
import type { Accounts } from "../../accounts/accounts-store.ts";
import { AUDIT_PLACE, type AuditLog } from "../../accounts/audit.ts";
import { adminsOnly, badParameter, notFound } from "../../base/refusals.ts";
import { orNull, Type } from "../../core/json-schema.ts";
import { shownAudit } from "../account/present.ts";
import type { AuditEntry } from "../account/present.ts";
import { json, KEY_NEEDED, type Operation } from "../operation.ts";
import type { Route } from "../route.ts";
import { accountRoute, pageFields, readPage } from "./account-route.ts";
import { csvPages } from "./results.ts";

const PAGE_MAX = 100;
const CSV_ROWS = 1_000;

/** /api/audit and /api/audit/csv: what was changed by whom, for keys of administrators. */
export const auditRoute = (log: Pick<AuditLog, "page">, accounts: Pick<Accounts, "find">): Route =>
  accountRoute(AUDIT, async ({ path: [form, ...more], params }, accountId) => {
    if (more.length > 0 || (form !== undefined && form !== "csv")) throw notFound();
    if ((await accounts.find(accountId))?.isAdmin !== true) throw adminsOnly();
    if (form === "csv") {
      const chunks = csvPages(COLUMNS, async (after) => {
        const { rows, next } = await log.page({ after, limit: CSV_ROWS });
        const entries = rows.map(shownAudit);
        return { rows: entries.map((entry) => COLUMNS.map((name) => entry[name])), next };
      });
      return Readable.from(chunks);
    }
    const sought = readPage((name) => params.words(name) || undefined, AUDIT_PLACE, PAGE_MAX);
    const { rows, next } = await log.page(sought);
    return { entries: rows.map(shownAudit), next };
  });

const COLUMNS = [
  "at",
  "action",
  "actor",
  "subject",
  "detail",
  "client_address",
] as const satisfies readonly (keyof AuditEntry)[];

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
    query: pageFields("Entries", PAGE_MAX),
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
