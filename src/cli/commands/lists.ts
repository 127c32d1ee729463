import { type Command, Option, type OptionValues } from "@commander-js/extra-typings";
import { LIST_REFUSALS, type ListRefusal } from "../../core/evidence/list-refusal.ts";
import { feedSubject, LIST_WORDS } from "../../core/evidence/rule.ts";
import { dayOfDate, isoTimeOrNull } from "../../core/calendar.ts";
import type { FeedRefresh } from "../../lists/feed-refresher.ts";
import type { FeedStatus, RefreshOutcome } from "../../lists/feed-status.ts";
import { entryJson, statusJson } from "../../lists/rules/entry-json.ts";
import {
  type EntryDetails,
  type RuleService,
  endOfDay,
  listLines,
} from "../../lists/rules/rules.ts";
import { group, rowsFor } from "../command.ts";
import { CommandFailure, EXIT, misuse, refuse, shown, table } from "../terminal.ts";

/** Lists as the commands use them, while a server may be running on the same store. */
export interface CliLists {
  readonly operator: RuleService;
  readonly refresh: FeedRefresh;
  /** The name of the system user who runs the command. */
  readonly author: string;
}

const row = rowsFor<CliLists>();

const FEED = ["<feed>", "as gatepost lists status names it"] as const;
const ENTRY = "a domain, *.suffix, mx:host or address";

const withDetails = <Args extends unknown[], Options extends OptionValues>(
  to: Command<Args, Options>,
) =>
  to
    .option("--note <text>", "why; only the operator sees it")
    .option("--expires <date>", "the rule's last day, YYYY-MM-DD (UTC)", readLastDay);

interface GivenDetails {
  readonly note?: string | undefined;
  readonly expires?: number | undefined;
}

function readLastDay(text: string): number {
  const day = dayOfDate(text);
  if (day === undefined) throw misuse(`--expires must be a date such as 2027-01-31`);
  return endOfDay(day);
}

const detailsOf = ({ note = "", expires }: GivenDetails, { author }: CliLists): EntryDetails => ({
  note,
  author,
  ...(expires !== undefined && { expiresAtMs: expires }),
});

const say = (word: "allow" | "deny", about: string, examples: readonly string[]) =>
  row(word, {
    about,
    takes: (to) => withDetails(to.argument("<entry>", ENTRY)),
    json: "print the entry",
    examples,
    createsDatabase: true,
    async run(given, lists) {
      const rule = await lists.operator.save(given.args[0], word, detailsOf(given, lists));
      return { json: entryJson(rule), text: listLines([rule]) };
    },
  });

const allow = say("allow", "allow an entry, even if a feed lists it", [
  "gatepost lists allow example.com --note 'a customer'",
]);

const deny = say("deny", "deny an entry: it counts as disposable", [
  "gatepost lists deny '*.example.com' --expires 2027-01-31",
]);

const forget = row("forget", {
  about: "delete every rule for an entry; exit 1 if there is none",
  takes: (to) => withDetails(to.argument("<entry>", ENTRY)),
  json: 'print {"forgotten"}',
  examples: ["gatepost lists forget example.com"],
  async run({ args: [entry] }, { operator }) {
    const forgotten = await operator.forget(entry);
    if (forgotten === undefined) throw misuse(`${shown(entry)}: not ${ENTRY}`);
    const json = { forgotten: forgotten.count };
    if (forgotten.count > 0) return { json, text: "forgotten\n" };
    return { json, text: "", failure: refuse(`no rule for ${shown(entry)}`) };
  },
});

const statusCells = (status: FeedStatus): readonly string[] => [
  status.id,
  status.curated ? "curated" : "uncurated",
  status.isOff === true ? "off" : "on",
  String(status.names),
  status.from,
  isoTimeOrNull(status.fetchedAtMs) ?? "-",
  isoTimeOrNull(status.askedAtMs) ?? "never",
  refusedBy(status.refusal?.why, status.refusal?.detail),
];

function refusedBy(why: ListRefusal | undefined, detail: string | undefined): string {
  if (why === undefined) return "";
  return detail === undefined ? LIST_REFUSALS[why] : `${LIST_REFUSALS[why]} (${detail})`;
}

const status = row("status", {
  about: "list every feed: names in use, origin, and why its last answer was refused",
  json: "print an array",
  examples: ["gatepost lists status"],
  async run(_given, { refresh: feeds }) {
    const all = await feeds.status();
    const headings = ["LIST", "KIND", "USE", "NAMES", "FROM", "FETCHED", "ASKED", "REFUSED"];
    return { json: all.map(statusJson), text: table(headings, all.map(statusCells)) };
  },
});

const off = row("off", {
  about: "switch a feed off: it gives no evidence until it is switched on",
  takes: (to) => withDetails(to.argument(...FEED)),
  json: 'print {"feed","off"}',
  examples: ["gatepost lists off castle --note 'too many of our customers'"],
  createsDatabase: true,
  async run({ args: [feed], ...given }, lists) {
    const details = detailsOf(given, lists);
    await lists.operator.save(feedSubject(feed), "off", details);
    return { json: { feed, off: true }, text: `${shown(feed)} is off\n` };
  },
});

const on = row("on", {
  about: "switch a feed on again; exit 1 if it is not off",
  takes: (to) => to.argument(...FEED),
  json: 'print {"feed","off"}',
  examples: ["gatepost lists on castle"],
  async run({ args: [feed] }, { operator }) {
    const forgotten = await operator.forget(feedSubject(feed));
    if (forgotten === undefined || forgotten.count === 0) throw refuse(`${shown(feed)} is not off`);
    return { json: { feed, off: false }, text: `${shown(feed)} is on\n` };
  },
});

const refresh = row("refresh", {
  about: "fetch every feed now; exit 1 if an answer is refused",
  takes: (to) =>
    to.option(
      "--accept <list...>",
      "accept these feeds this once, although their size changed too much",
    ),
  json: "print an array",
  examples: ["gatepost lists refresh"],
  createsDatabase: true,
  async run({ accept = [] }, { refresh: feeds }) {
    const known = await feeds.status();
    const odd = accept.find((id) => known.every((list) => list.id !== id));
    if (odd !== undefined) {
      throw misuse(`--accept: no feed ${shown(odd)}; gatepost lists status names them`);
    }
    const all = await feeds.refresh(accept);
    const cells = ({ id, kind, why, detail }: RefreshOutcome) => [id, kind, refusedBy(why, detail)];
    const isRefused = all.some(({ kind }) => kind === "refused");
    return {
      json: all,
      text: table(["LIST", "RESULT", "WHY"], all.map(cells)),
      failure: isRefused ? new CommandFailure(EXIT.no) : undefined,
    };
  },
});

const kindOption = () => new Option("--kind <kind>", "what the rules are").choices(LIST_WORDS);

const exportRules = row("export", {
  about: "print all active rules as lines that import reads; addresses as their hash",
  takes: (to) => to.addOption(kindOption()),
  json: "print an array, with notes, authors and dates",
  examples: ["gatepost lists export > rules.txt"],
  async run({ kind }, { operator }) {
    const all = await operator.entries();
    const wanted = all.filter(({ word }) => kind === undefined || word === kind);
    return { json: wanted.map(entryJson), text: listLines(wanted) };
  },
});

const importRules = row("import", {
  about: "import all rules of a file, or none if a line is invalid",
  takes: (to) =>
    withDetails(
      to
        .argument(
          "<file>",
          'one rule a line, as export prints them; "#" starts a comment, "-" reads standard input',
        )
        .addOption(kindOption()),
    ),
  json: 'print {"imported"}',
  examples: ["gatepost lists import deny.txt --kind deny"],
  createsDatabase: true,
  async run({ args: [file], kind, ...given }, lists, { readText }) {
    const details = detailsOf(given, lists);
    const { count } = await lists.operator.importLines(await readText(file), kind, details);
    return { json: { imported: count }, text: `${String(count)} rules imported\n` };
  },
});

/** `gatepost lists ...`; a running server follows within 5 s. */
export const listsCommand = group("lists", "feeds of detection data, and the operator's rules", [
  status,
  refresh,
  off,
  on,
  allow,
  deny,
  forget,
  exportRules,
  importRules,
]);
