import { RESOLUTIONS } from "../../../ports/evidence/reports.ts";
import type { Audit } from "../../../service/account/audit.ts";
import { auditedReports } from "../../../service/account/audited.ts";
import { entryJson, reportJson } from "../../../service/evidence/rules/entry-json.ts";
import { NOTE_MAX } from "../../../service/evidence/rules/rules.ts";
import { badField, notFound } from "../../../service/refusals.ts";
import type { ReportService } from "../../../service/evidence/reports.ts";
import { Type } from "../../../core/json-schema.ts";
import { textField } from "../fields.ts";
import { detailsField, entryRefusal } from "./rule-fields.ts";
import { noteOf } from "../note.ts";
import { type AccountRoute, answering } from "../route.ts";
import { OpenReports, Resolved } from "./admin-shapes.ts";

export interface ReportsDeps {
  readonly reports: ReportService;
  readonly audit: Audit;
}

const SHOWN_MAX = 200;
const NEWEST_MAX = 4;

/** What clients say is wrong; who they are is not shown. */
export const adminReportRoutes = ({ reports, audit }: ReportsDeps): readonly AccountRoute[] => [
  answering(OpenReports, {
    method: "GET",
    path: "admin/lists/reports",
    for: "admin",
    summary: "Open reports, oldest first, and the newest",
    async handle() {
      const open = await reports.open();
      return {
        reports: open.slice(0, SHOWN_MAX).map(reportJson),
        newest: open.slice(-NEWEST_MAX).reverse().map(reportJson),
        total: open.length,
      };
    },
  }),
  answering(Resolved, {
    method: "POST",
    path: "admin/lists/reports/:id",
    for: "admin",
    summary: "Make an allow or deny entry of what was reported, or dismiss the report",
    body: Type.Object({
      resolution: Type.Enum(RESOLUTIONS),
      note: Type.String({ maxLength: NOTE_MAX }),
      expires: Type.Optional(Type.String()),
    }),
    async handle(request) {
      const { body, account, id } = request;
      const name = textField(body, "resolution", 20);
      const resolution = RESOLUTIONS.find((known) => known === name);
      if (resolution === undefined) {
        throw badField(`A report is resolved by one of: ${RESOLUTIONS.join(", ")}.`);
      }
      const noted = auditedReports(reports, noteOf(request, audit));
      const answer = await noted.resolve(id, resolution, detailsField(body, account));
      if (answer.kind === "no_report") throw notFound();
      if (answer.kind !== "resolved") throw entryRefusal(answer);
      const { entry } = answer;
      return { resolution, entry: entry === undefined ? null : entryJson(entry) };
    },
  }),
];
