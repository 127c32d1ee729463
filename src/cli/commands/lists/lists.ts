import { Command, Option } from "commander";
import { LIST_WORDS, type ListWord } from "../../../core/evidence/rule.ts";
import type { FeedRefresh, RefreshOutcome } from "../../../lists/feed-refresh.ts";
import type { BackTest, BackTestAnswer, RunBackTest } from "../../../lists/rules/back-test.ts";
import { backTestJson, entryJson } from "../../../lists/rules/entry-json.ts";
import { listLines, type WrongLine } from "../../../lists/rules/entry-lines.ts";
import type { ImportAnswer, RuleService } from "../../../lists/rules/rules.ts";
import { CommandFailure, EXIT, misuse, type Terminal } from "../../terminal.ts";
import { jsonLine, shown, table } from "../../text.ts";
import { type DatabaseUse, withOpened } from "../../with-opened.ts";
import {
  allowCommand,
  denyCommand,
  detailOptions,
  type DetailOptions,
  detailsFrom,
  forgetCommand,
  refusalOf,
} from "./list-entries.ts";
import { offCommand, onCommand, refusedBy, statusCommand } from "./list-feeds.ts";
import type { JsonOption } from "../options.ts";

/** Lists as the commands use them, while a server may be running on the same store. */
export interface CliLists {
  readonly operator: RuleService;
  readonly backTest: RunBackTest;
  readonly refresh: FeedRefresh;
  readonly close: () => Promise<void>;
}

export interface ListsDeps {
  readonly terminal: Terminal;
  /** Opened when a command needs it, and closed by the command. */
  readonly openLists: (database?: DatabaseUse) => Promise<CliLists>;
  /** A file's text, "-" for standard input; at most some 64 MB. Rejects with a sentence. */
  readonly readFile: (path: string) => Promise<string>;
  /** The name of the system user who runs the command. */
  readonly author: string;
}

/** `gatepost lists ...`; a running server follows within 5 s. */
export function listsCommand(deps: ListsDeps): Command {
  return new Command("lists")
    .description("feeds of detection data, and the operator's rules")
    .addCommand(statusCommand(deps))
    .addCommand(refreshCommand(deps))
    .addCommand(offCommand(deps))
    .addCommand(onCommand(deps))
    .addCommand(allowCommand(deps))
    .addCommand(denyCommand(deps))
    .addCommand(forgetCommand(deps))
    .addCommand(testCommand(deps))
    .addCommand(exportCommand(deps))
    .addCommand(importCommand(deps));
}

interface RefreshOptions extends JsonOption {
  readonly accept?: readonly string[];
}

function refreshCommand(deps: ListsDeps): Command {
  return new Command("refresh")
    .description("fetch every feed now; exit 1 if an answer is refused")
    .option(
      "--accept <list...>",
      "accept these feeds this once, although their size changed too much",
    )
    .option("--json", "print an array")
    .action(async ({ json, accept = [] }: RefreshOptions) => {
      const all = await withOpened(
        () => deps.openLists("may_create"),
        async ({ refresh }) => {
          const known = await refresh.status();
          const odd = accept.find((id) => known.every((list) => list.id !== id));
          if (odd !== undefined)
            throw misuse(`--accept: no feed ${shown(odd)}; gatepost lists status names them`);
          return await refresh.refresh(accept);
        },
      );
      const row = ({ id, kind, why, detail }: RefreshOutcome): readonly string[] => [
        id,
        kind,
        refusedBy(why, detail),
      ];
      if (json === true) deps.terminal.out(jsonLine(all));
      else deps.terminal.out(table(["LIST", "RESULT", "WHY"], all.map(row)));
      if (all.some(({ kind }) => kind === "refused")) throw new CommandFailure(EXIT.no);
    });
}

const WHY_WRONG: Readonly<Record<WrongLine["why"], string>> = {
  bad_entry: "not a domain, *.suffix, mx:host or address",
  bad_date: "until must be a date such as 2027-01-31",
  bad_word: "a trap must be an address or domain, an account an address, and only a feed is off",
  no_word: "the kind is missing: give --kind",
};

/** Names every wrong line; no rule was changed. */
function wrongLines(lines: readonly WrongLine[]): CommandFailure {
  return misuse(lines.map(({ line, why }) => `line ${String(line)}: ${WHY_WRONG[why]}`).join("\n"));
}

function testCommand(deps: ListsDeps): Command {
  return new Command("test")
    .description("show what these rules would have changed in the last 30 days; exit 1 if anything")
    .argument(
      "<file>",
      'one rule a line, "allow a.example" or "deny a.example until 2027-01-31" (default: deny)',
    )
    .option("--json", "print an object")
    .action(async (file: string, { json }: JsonOption) => {
      const text = await deps.readFile(file);
      const answer: BackTestAnswer = await withOpened(
        () => deps.openLists(),
        ({ backTest }) => backTest(text),
      );
      if (answer.kind === "wrong_lines") throw wrongLines(answer.lines);
      if (json === true) deps.terminal.out(jsonLine(backTestJson(answer)));
      else deps.terminal.out(backTestText(answer));
      if (answer.changedDomains > 0) throw new CommandFailure(EXIT.no);
    });
}

function backTestText(test: BackTest): string {
  const counted = `${String(test.checks)} checks of ${String(test.domains)} domains`;
  const changed = `${String(test.changedChecks)} of ${String(test.changedDomains)} domains`;
  const head =
    `In ${String(test.days)} days, ${counted} were counted; ${changed} would change.\n` +
    `The mail hosts of ${String(test.domainsWithMail)} of the domains are known.\n`;
  const untestable = untestableText(test);
  if (test.changed.length === 0) return head + untestable;
  const rows = test.changed.map((each) => [each.domain, each.becomes, String(each.checks)]);
  return `${head}${untestable}${table(["DOMAIN", "BECOMES", "CHECKS"], rows)}`;
}

/** Names the lines that were not tested, and why. */
function untestableText({ untestable, untestableLines: lines }: BackTest): string {
  if (untestable === 0) return "";
  const more = untestable > lines.length ? " and more" : "";
  return `Not tested, because verdicts are counted by domain, not by address: line ${lines.join(", ")}${more}.\n`;
}

const kindOption = (): Option =>
  new Option("--kind <kind>", "what the rules are").choices(LIST_WORDS);

function exportCommand(deps: ListsDeps): Command {
  return new Command("export")
    .description("print all active rules as lines that import reads; addresses as their hash")
    .addOption(kindOption())
    .option("--json", "print an array, with notes, authors and dates")
    .action(async ({ kind, json }: JsonOption & { readonly kind?: ListWord }) => {
      const all = await withOpened(
        () => deps.openLists(),
        ({ operator }) => operator.entries(),
      );
      const wanted = all.filter(({ word }) => kind === undefined || word === kind);
      if (json === true) deps.terminal.out(jsonLine(wanted.map(entryJson)));
      else deps.terminal.out(listLines(wanted));
    });
}

interface ImportOptions extends DetailOptions, JsonOption {
  readonly kind?: ListWord;
}

function importCommand(deps: ListsDeps): Command {
  const command = new Command("import")
    .description("import all rules of a file, or none if a line is invalid")
    .argument(
      "<file>",
      'one rule a line, as export prints them; "#" starts a comment, "-" reads standard input',
    )
    .addOption(kindOption())
    .option("--json", 'print {"imported"}');
  return detailOptions(command).action(async (file: string, options: ImportOptions) => {
    const details = detailsFrom(options, deps.author);
    const text = await deps.readFile(file);
    const answer: ImportAnswer = await withOpened(
      () => deps.openLists("may_create"),
      ({ operator }) => operator.importLines(text, options.kind, details),
    );
    if (answer.kind === "wrong_lines") throw wrongLines(answer.lines);
    if (answer.kind !== "imported") throw refusalOf(answer);
    const { count } = answer;
    deps.terminal.out(
      options.json === true ? jsonLine({ imported: count }) : `${String(count)} rules imported\n`,
    );
  });
}
