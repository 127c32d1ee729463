import { Command, Option } from "commander";
import { LIST_WORDS, type ListWord, feedSubject } from "../../../core/evidence/rule.ts";
import type { FeedRefresh } from "../../../lists/feed-refresher.ts";
import type { FeedStatus, RefreshOutcome } from "../../../lists/feed-status.ts";
import { entryJson, statusJson } from "../../../lists/rules/entry-json.ts";
import {
  ENTRIES_MAX,
  type EntryDetails,
  type ImportAnswer,
  NOTE_MAX,
  type RuleService,
  type SaveAnswer,
  type WrongLine,
  endOfDay,
  listLines,
} from "../../../lists/rules/rules.ts";
import {
  CommandFailure,
  type DatabaseUse,
  EXIT,
  type Terminal,
  jsonLine,
  misuse,
  print,
  refuse,
  shown,
  table,
  withOpened,
} from "../../terminal.ts";
import type { JsonOption } from "../options.ts";
import type { Proposals } from "../../../gate/proposals.ts";
import { feedbackCommand } from "./feedback.ts";
import { dayOfDate, isoTime, isoTimeOrNull } from "../../../core/calendar.ts";
import { FAULT_WORDS } from "../../../core/name/domain.ts";
import type { Rule } from "../../../lists/rules/entry-json.ts";

const ENTRY = "a domain, *.suffix, mx:host or address";

interface DetailOptions extends JsonOption {
  readonly note?: string;
  readonly expires?: string;
}

const withLists = <T>(
  { openLists }: ListsCommandDeps,
  work: (lists: CliLists) => Promise<T>,
  database?: DatabaseUse,
): Promise<T> => withOpened(() => openLists(database), work);

/** The options of every command that creates a rule. */
const detailOptions = (command: Command): Command =>
  command
    .option("--note <text>", "why; only the operator sees it")
    .option("--expires <date>", "the rule's last day, YYYY-MM-DD (UTC)");

function detailsFrom({ note = "", expires }: DetailOptions, author: string): EntryDetails {
  if (expires === undefined) return { note, author };
  const day = dayOfDate(expires);
  if (day === undefined) throw misuse(`--expires must be a date such as 2027-01-31`);
  return { note, author, expiresAtMs: endOfDay(day) };
}

function refusalOf(answer: Exclude<SaveAnswer, { kind: "saved" }>): CommandFailure {
  switch (answer.kind) {
    case "bad_entry":
      return misuse(`not ${ENTRY}: ${FAULT_WORDS[answer.fault]}`);
    case "bad_word":
      return misuse(
        "a trap must be an address or a domain, an account an address, and only a feed is off",
      );
    case "unknown_feed":
      return misuse(`no such feed; the feeds are ${answer.known.join(", ")}`);
    case "bad_note":
      return misuse(`--note must be one line of up to ${String(NOTE_MAX)} characters`);
    case "bad_expiry":
      return misuse("--expires is in the past");
    case "full":
      return refuse(`the maximum of ${String(ENTRIES_MAX)} rules is reached: forget some first`);
  }
}

function entryText({ word, subject, expiresAtMs }: Rule): string {
  const until = expiresAtMs === undefined ? "" : ` until ${isoTime(expiresAtMs)}`;
  return `${word} ${subject}${until}\n`;
}

const SAYS = {
  allow: "allow an entry, even if a feed lists it",
  deny: "deny an entry: it counts as disposable",
} as const;

function sayCommand(deps: ListsCommandDeps, word: keyof typeof SAYS): Command {
  const command = new Command(word)
    .description(SAYS[word])
    .argument("<entry>", ENTRY)
    .option("--json", "print the entry");
  return detailOptions(command).action(async (text: string, options: DetailOptions) => {
    const details = detailsFrom(options, deps.author);
    const answer = await withLists(
      deps,
      ({ operator }) => operator.save(text, word, details),
      "may_create",
    );
    if (answer.kind !== "saved") throw refusalOf(answer);
    const { entry } = answer;
    print(deps.terminal, options.json, entryJson(entry), entryText(entry));
  });
}

function forgetCommand(deps: ListsCommandDeps): Command {
  return new Command("forget")
    .description("delete every rule for an entry; exit 1 if there is none")
    .argument("<entry>", ENTRY)
    .option("--json", 'print {"forgotten"}')
    .action(async (text: string, { json }: JsonOption) => {
      const forgotten = await withLists(deps, ({ operator }) => operator.forget(text));
      if (forgotten === undefined) throw misuse(`${shown(text)}: not ${ENTRY}`);
      const { count } = forgotten;
      if (json === true) deps.terminal.out(jsonLine({ forgotten: count }));
      if (count === 0) throw refuse(`no rule for ${shown(text)}`);
      if (json !== true) deps.terminal.out("forgotten\n");
    });
}

const statusRow = (status: FeedStatus): readonly string[] => [
  status.id,
  status.curated ? "curated" : "other",
  status.isOff === true ? "off" : "on",
  String(status.names),
  status.from,
  isoTimeOrNull(status.fetchedAtMs) ?? "-",
  isoTimeOrNull(status.askedAtMs) ?? "never",
  refusedBy(status.refusal?.why, status.refusal?.detail),
];

const refusedBy = (why: string | undefined, detail: string | undefined): string =>
  why === undefined ? "" : detail === undefined ? why : `${why} (${detail})`;

function statusCommand(deps: ListsCommandDeps): Command {
  return new Command("status")
    .description("list every feed: names in use, origin, and why its last answer was refused")
    .option("--json", "print an array")
    .action(async ({ json }: JsonOption) => {
      const all = await withLists(deps, ({ refresh }) => refresh.status());
      const headings = ["LIST", "KIND", "USE", "NAMES", "FROM", "FETCHED", "ASKED", "REFUSED"];
      print(deps.terminal, json, all.map(statusJson), table(headings, all.map(statusRow)));
    });
}

function offCommand(deps: ListsCommandDeps): Command {
  const command = new Command("off")
    .description("switch a feed off: it gives no evidence until it is switched on")
    .argument("<feed>", "as gatepost lists status names it")
    .option("--json", 'print {"feed","off"}');
  return detailOptions(command).action(async (feed: string, options: DetailOptions) => {
    const details = detailsFrom(options, deps.author);
    const answer = await withLists(
      deps,
      ({ operator }) => operator.save(feedSubject(feed), "off", details),
      "may_create",
    );
    if (answer.kind === "bad_entry") throw misuse(`${shown(feed)} is not a feed`);
    if (answer.kind !== "saved") throw refusalOf(answer);
    const { json } = options;
    print(deps.terminal, json, { feed, off: true }, `${shown(feed)} is off\n`);
  });
}

function onCommand(deps: ListsCommandDeps): Command {
  return new Command("on")
    .description("switch a feed on again; exit 1 if it is not off")
    .argument("<feed>", "as gatepost lists status names it")
    .option("--json", 'print {"feed","off"}')
    .action(async (feed: string, { json }: JsonOption) => {
      const forgotten = await withLists(deps, ({ operator }) => operator.forget(feedSubject(feed)));
      if (forgotten === undefined || forgotten.count === 0) {
        throw refuse(`${shown(feed)} is not off`);
      }
      print(deps.terminal, json, { feed, off: false }, `${shown(feed)} is on\n`);
    });
}

/** Lists as the commands use them, while a server may be running on the same store. */
export interface CliLists {
  readonly operator: RuleService;
  readonly refresh: FeedRefresh;
  readonly proposals: Pick<Proposals, "all" | "answered">;
  readonly close: () => Promise<void>;
}

export interface ListsCommandDeps {
  readonly terminal: Terminal;
  readonly openLists: (database?: DatabaseUse) => Promise<CliLists>;
  /** A file's text, "-" for standard input; at most some 64 MB. Rejects with a sentence. */
  readonly readFile: (path: string) => Promise<string>;
  /** The name of the system user who runs the command. */
  readonly author: string;
}

/** `gatepost lists ...`; a running server follows within 5 s. */
export function listsCommand(deps: ListsCommandDeps): Command {
  return new Command("lists")
    .description("feeds of detection data, and the operator's rules")
    .addCommand(statusCommand(deps))
    .addCommand(refreshCommand(deps))
    .addCommand(offCommand(deps))
    .addCommand(onCommand(deps))
    .addCommand(sayCommand(deps, "allow"))
    .addCommand(sayCommand(deps, "deny"))
    .addCommand(forgetCommand(deps))
    .addCommand(feedbackCommand(deps))
    .addCommand(exportCommand(deps))
    .addCommand(importCommand(deps));
}

interface RefreshOptions extends JsonOption {
  readonly accept?: readonly string[];
}

function refreshCommand(deps: ListsCommandDeps): Command {
  return new Command("refresh")
    .description("fetch every feed now; exit 1 if an answer is refused")
    .option(
      "--accept <list...>",
      "accept these feeds this once, although their size changed too much",
    )
    .option("--json", "print an array")
    .action(async ({ json, accept = [] }: RefreshOptions) => {
      const refreshed = async ({ refresh }: CliLists): Promise<readonly RefreshOutcome[]> => {
        const known = await refresh.status();
        const odd = accept.find((id) => known.every((list) => list.id !== id));
        if (odd !== undefined)
          throw misuse(`--accept: no feed ${shown(odd)}; gatepost lists status names them`);
        return await refresh.refresh(accept);
      };
      const all = await withLists(deps, refreshed, "may_create");
      const row = ({ id, kind, why, detail }: RefreshOutcome): readonly string[] => [
        id,
        kind,
        refusedBy(why, detail),
      ];
      print(deps.terminal, json, all, table(["LIST", "RESULT", "WHY"], all.map(row)));
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

const kindOption = (): Option =>
  new Option("--kind <kind>", "what the rules are").choices(LIST_WORDS);

function exportCommand(deps: ListsCommandDeps): Command {
  return new Command("export")
    .description("print all active rules as lines that import reads; addresses as their hash")
    .addOption(kindOption())
    .option("--json", "print an array, with notes, authors and dates")
    .action(async ({ kind, json }: JsonOption & { readonly kind?: ListWord }) => {
      const all = await withLists(deps, ({ operator }) => operator.entries());
      const wanted = all.filter(({ word }) => kind === undefined || word === kind);
      print(deps.terminal, json, wanted.map(entryJson), listLines(wanted));
    });
}

interface ImportOptions extends DetailOptions {
  readonly kind?: ListWord;
}

function importCommand(deps: ListsCommandDeps): Command {
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
    const answer: ImportAnswer = await withLists(
      deps,
      ({ operator }) => operator.importLines(text, options.kind, details),
      "may_create",
    );
    if (answer.kind === "wrong_lines") throw wrongLines(answer.lines);
    if (answer.kind !== "imported") throw refusalOf(answer);
    const { count } = answer;
    print(deps.terminal, options.json, { imported: count }, `${String(count)} rules imported\n`);
  });
}
