import { Argument, Command } from "commander";
import { isoTime } from "../../../core/calendar.ts";
import { type Report, type Resolution, RESOLUTIONS } from "../../../ports/evidence/reports.ts";
import { entryJson, reportJson } from "../../../service/evidence/rules/entry-json.ts";
import type { ReportService, ResolveAnswer } from "../../../service/evidence/reports.ts";
import { refuse } from "../../terminal.ts";
import type { Terminal } from "../../terminal.ts";
import { jsonLine, shown, table } from "../../text.ts";
import { withOpened } from "../../with-opened.ts";
import {
  detailOptions,
  type DetailOptions,
  detailsFrom,
  entryText,
  refusalOf,
} from "./list-entries.ts";
import type { JsonOption } from "../options.ts";

/** What commands on reports need of `ListsDeps`. */
export interface ReportCommandDeps {
  readonly terminal: Terminal;
  readonly openLists: () => Promise<{
    readonly reports: ReportService;
    readonly close: () => Promise<void>;
  }>;
  readonly author: string;
}

const openReportJson = (report: Report): Readonly<Record<string, unknown>> => ({
  ...reportJson(report),
  account_id: report.accountId,
});

const REASON_SHOWN = 60;

const row = (report: Report): readonly string[] => [
  report.id,
  report.domain,
  report.subject === report.domain ? "domain" : "address",
  report.wrong,
  isoTime(report.createdAtMs),
  report.reason.slice(0, REASON_SHOWN),
];

export function reportsCommand(deps: ReportCommandDeps): Command {
  return new Command("reports")
    .description("list open reports of wrong verdicts, oldest first")
    .option("--json", "print an array")
    .action(async ({ json }: JsonOption) => {
      const open = await withOpened(deps.openLists, ({ reports }) => reports.open());
      const headings = ["ID", "DOMAIN", "ABOUT", "WRONG", "MADE", "REASON"];
      if (json === true) deps.terminal.out(jsonLine(open.map(openReportJson)));
      else deps.terminal.out(table(headings, open.map(row)));
    });
}

interface ResolveOptions extends DetailOptions {
  readonly json?: true;
}

export function resolveCommand(deps: ReportCommandDeps): Command {
  const command = new Command("resolve")
    .description("turn a report into an allow or deny rule, or dismiss it")
    .argument("<id>", "the id that `lists reports` shows")
    .addArgument(new Argument("<resolution>").choices(RESOLUTIONS))
    .option("--json", 'print {"resolution","entry"}');
  return detailOptions(command).action(
    async (id: string, resolution: Resolution, options: ResolveOptions) => {
      const details = detailsFrom(options, deps.author);
      const answer: ResolveAnswer = await withOpened(deps.openLists, ({ reports }) =>
        reports.resolve(id, resolution, details),
      );
      if (answer.kind === "no_report") throw refuse(`no open report ${shown(id)}`);
      if (answer.kind !== "resolved") throw refusalOf(answer);
      const { entry } = answer;
      const json = { resolution, entry: entry === undefined ? null : entryJson(entry) };
      if (options.json === true) deps.terminal.out(jsonLine(json));
      else deps.terminal.out(entry === undefined ? "dismissed\n" : entryText(entry));
    },
  );
}
