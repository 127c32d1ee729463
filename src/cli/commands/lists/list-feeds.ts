import { Command } from "commander";
import { isoTimeOrNull } from "../../../core/calendar.ts";
import { feedSubject } from "../../../core/evidence/rule.ts";
import type { FeedRefresh, FeedStatus } from "../../../lists/feed-refresh.ts";
import { statusJson } from "../../../lists/rules/entry-json.ts";
import { misuse, refuse, type Terminal } from "../../terminal.ts";
import { jsonLine, shown, table } from "../../text.ts";
import { type DatabaseUse, withOpened } from "../../with-opened.ts";
import {
  detailOptions,
  type DetailOptions,
  detailsFrom,
  type EntryDeps,
  refusalOf,
} from "./list-entries.ts";
import type { JsonOption } from "../options.ts";

/** What commands on feeds need of `ListsDeps`. */
interface FeedDeps {
  readonly terminal: Terminal;
  readonly openLists: (database?: DatabaseUse) => Promise<{
    readonly refresh: FeedRefresh;
    readonly close: () => Promise<void>;
  }>;
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

export const refusedBy = (why: string | undefined, detail: string | undefined): string =>
  why === undefined ? "" : detail === undefined ? why : `${why} (${detail})`;

export function statusCommand(deps: FeedDeps): Command {
  return new Command("status")
    .description("list every feed: names in use, origin, and why its last answer was refused")
    .option("--json", "print an array")
    .action(({ json }: JsonOption) => printStatus(json === true, deps));
}

async function printStatus(json: boolean, { terminal, openLists }: FeedDeps): Promise<void> {
  const all = await withOpened(
    () => openLists(),
    ({ refresh }) => refresh.status(),
  );
  const headings = ["LIST", "KIND", "USE", "NAMES", "FROM", "FETCHED", "ASKED", "REFUSED"];
  if (json) terminal.out(jsonLine(all.map(statusJson)));
  else terminal.out(table(headings, all.map(statusRow)));
}

/** Switches one feed off in every process; its names count no more. */
export function offCommand(deps: EntryDeps): Command {
  const command = new Command("off")
    .description("switch a feed off: it gives no evidence until it is switched on")
    .argument("<feed>", "as gatepost lists status names it")
    .option("--json", 'print {"feed","off"}');
  return detailOptions(command).action(
    async (feed: string, options: DetailOptions & JsonOption) => {
      const details = detailsFrom(options, deps.author);
      const answer = await withOpened(
        () => deps.openLists("may_create"),
        ({ operator }) => operator.save(feedSubject(feed), "off", details),
      );
      if (answer.kind === "bad_entry") throw misuse(`${shown(feed)} is not a feed`);
      if (answer.kind !== "saved") throw refusalOf(answer);
      const { json } = options;
      deps.terminal.out(json === true ? jsonLine({ feed, off: true }) : `${shown(feed)} is off\n`);
    },
  );
}

/** Takes `off` back. */
export function onCommand(deps: EntryDeps): Command {
  return new Command("on")
    .description("switch a feed on again; exit 1 if it is not off")
    .argument("<feed>", "as gatepost lists status names it")
    .option("--json", 'print {"feed","off"}')
    .action(async (feed: string, { json }: JsonOption) => {
      const forgotten = await withOpened(
        () => deps.openLists(),
        ({ operator }) => operator.forget(feedSubject(feed)),
      );
      if (forgotten === undefined || forgotten.count === 0) {
        throw refuse(`${shown(feed)} is not off`);
      }
      deps.terminal.out(json === true ? jsonLine({ feed, off: false }) : `${shown(feed)} is on\n`);
    });
}
