import { Command } from "commander";
import { dayOfDate, isoTime } from "../../../core/calendar.ts";
import { FAULT_WORDS } from "../../../core/validate/fault-words.ts";
import type { Rule } from "../../../lists/rules/rule.ts";
import { entryJson } from "../../../lists/rules/entry-json.ts";
import { endOfDay, ENTRIES_MAX } from "../../../lists/rules/entry-lines.ts";
import {
  type EntryDetails,
  NOTE_MAX,
  type RuleService,
  type SaveAnswer,
} from "../../../lists/rules/rules.ts";
import { misuse, refuse } from "../../terminal.ts";
import type { CommandFailure, Terminal } from "../../terminal.ts";
import { jsonLine, shown } from "../../text.ts";
import { type DatabaseUse, withOpened } from "../../with-opened.ts";
import type { JsonOption } from "../options.ts";

const ENTRY = "a domain, *.suffix, mx:host or address";

/** What commands on rules need of `ListsDeps`. */
export interface EntryDeps {
  readonly terminal: Terminal;
  readonly openLists: (database?: DatabaseUse) => Promise<{
    readonly operator: RuleService;
    readonly close: () => Promise<void>;
  }>;
  readonly author: string;
}

export interface DetailOptions {
  readonly note?: string;
  readonly expires?: string;
}

/** The options of every command that creates a rule. */
export const detailOptions = (command: Command): Command =>
  command
    .option("--note <text>", "why; only the operator sees it")
    .option("--expires <date>", "the rule's last day, YYYY-MM-DD (UTC)");

export function detailsFrom({ note = "", expires }: DetailOptions, author: string): EntryDetails {
  if (expires === undefined) return { note, author };
  const day = dayOfDate(expires);
  if (day === undefined) throw misuse(`--expires must be a date such as 2027-01-31`);
  return { note, author, expiresAtMs: endOfDay(day) };
}

/** Why a rule was not saved, as the command's failure. */
export function refusalOf(answer: Exclude<SaveAnswer, { kind: "saved" }>): CommandFailure {
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

export const allowCommand = (deps: EntryDeps): Command =>
  sayCommand(deps, "allow").description("allow an entry, even if a feed lists it");

export const denyCommand = (deps: EntryDeps): Command =>
  sayCommand(deps, "deny").description("deny an entry: it counts as disposable");

interface SayOptions extends DetailOptions {
  readonly json?: true;
}

function sayCommand(deps: EntryDeps, word: "allow" | "deny"): Command {
  const command = new Command(word).argument("<entry>", ENTRY).option("--json", "print the entry");
  return detailOptions(command).action(async (text: string, options: SayOptions) => {
    const details = detailsFrom(options, deps.author);
    const answer = await withOpened(
      () => deps.openLists("may_create"),
      ({ operator }) => operator.save(text, word, details),
    );
    if (answer.kind !== "saved") throw refusalOf(answer);
    const { entry } = answer;
    deps.terminal.out(options.json === true ? jsonLine(entryJson(entry)) : entryText(entry));
  });
}

export function forgetCommand(deps: EntryDeps): Command {
  return new Command("forget")
    .description("delete every rule for an entry; exit 1 if there is none")
    .argument("<entry>", ENTRY)
    .option("--json", 'print {"forgotten"}')
    .action(async (text: string, { json }: JsonOption) => {
      const forgotten = await withOpened(
        () => deps.openLists(),
        ({ operator }) => operator.forget(text),
      );
      if (forgotten === undefined) throw misuse(`${shown(text)}: not ${ENTRY}`);
      const { count } = forgotten;
      if (json === true) deps.terminal.out(jsonLine({ forgotten: count }));
      if (count === 0) throw refuse(`no rule for ${shown(text)}`);
      if (json !== true) deps.terminal.out("forgotten\n");
    });
}
