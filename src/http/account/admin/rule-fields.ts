import { dayOfDate } from "../../../core/calendar.ts";
import { FAULT_WORDS } from "../../../core/validate/malformed.ts";
import { LIST_WORDS, type ListWord } from "../../../core/evidence/rule.ts";
import type { Account } from "../../../accounts/accounts-store.ts";
import { endOfDay, ENTRIES_MAX, type WrongLine } from "../../../lists/rules/entry-lines.ts";
import { type EntryDetails, NOTE_MAX, type SaveAnswer } from "../../../lists/rules/rules.ts";
import { badField, notNow, type Refusal } from "../../../base/refusals.ts";
import { textField } from "../fields.ts";
import type { AccountRequest } from "../route.ts";

/** The transport's limit stands before it. */
export const LINES_MAX_CHARACTERS = 6_000_000;

const DATE_CHARACTERS = 10;

/** Why, who and until when of a new entry. Throws a `Refusal`. */
export function detailsField(body: AccountRequest["body"], { id }: Account): EntryDetails {
  const note = textField(body, "note", NOTE_MAX).trim();
  if (body["expires"] === undefined || body["expires"] === null) return { note, author: id };
  const day = dayOfDate(textField(body, "expires", DATE_CHARACTERS));
  if (day === undefined) throw badField("The last day is a date such as 2027-01-31.");
  return { note, author: id, expiresAtMs: endOfDay(day) };
}

/** One of the words that an entry may say; undefined for none. */
export const wordOf = (text: string | undefined): ListWord | undefined =>
  LIST_WORDS.find((known) => known === text);

/** Why an entry was not taken. */
export function entryRefusal(answer: Exclude<SaveAnswer, { kind: "saved" }>): Refusal {
  switch (answer.kind) {
    case "bad_entry":
      return badField(`Not a domain, *.suffix, mx:host or address: ${FAULT_WORDS[answer.fault]}.`);
    case "bad_word":
      return badField(
        "A trap is an address or a domain, an account is an address, and only a feed is off.",
      );
    case "unknown_feed":
      return badField(`No such feed. The feeds are ${answer.known.join(", ")}.`);
    case "bad_note":
      return badField(`A note is one line of at most ${String(NOTE_MAX)} characters.`);
    case "bad_expiry":
      return badField("The last day lies in the past.");
    case "full":
      return notNow(`The lists hold at most ${String(ENTRIES_MAX)} entries.`);
  }
}

const WHY_WRONG: Readonly<Record<WrongLine["why"], string>> = {
  bad_entry: "is not a domain, *.suffix, mx:host or address",
  bad_date: "has an invalid date",
  bad_word:
    'has a trap that is a mail host, an account that is not an address, or "off" without a feed',
  no_word: "does not say allow or deny",
};

/** Names the wrong lines in one sentence; nothing was done. */
export function wrongLines(lines: readonly WrongLine[]): Refusal {
  const words = lines.map(({ line, why }) => `Line ${String(line)} ${WHY_WRONG[why]}.`);
  return badField(words.join(" "));
}
