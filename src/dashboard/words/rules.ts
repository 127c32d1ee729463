import type { ListWord } from "../../core/evidence/rule.ts";
import { t } from "../app/i18n.ts";
import { count, counted } from "../app/numbers.ts";
import type { Mark } from "./verdict.ts";
import type { Outcome, Source } from "../api/shapes.ts";

/** What an entry says of its subject. */
export const KINDS: Readonly<Record<ListWord, { readonly mark: Mark; readonly words: string }>> = {
  allow: { mark: "yes", words: "Allowed" },
  deny: { mark: "no", words: "Denied" },
  account: { mark: "no", words: "Throw-away account" },
  recycled: { mark: "unsure", words: "Recycled trap" },
  pristine: { mark: "unsure", words: "Pristine trap" },
  listed: { mark: "unsure", words: "Listed trap" },
  off: { mark: "unsure", words: "Switched off" },
};

/** In the order of the choices. The core's own list would bring its parsers with it, half a megabyte. */
export const KIND_NAMES = Object.keys(KINDS) as readonly ListWord[];

const HASHED = /^address:[0-9a-f]{32}@(.*)$/;

/** An entry for people: addresses are kept as a hash that says nothing to anybody. */
export function entryWords(entry: string): string {
  const domain = HASHED.exec(entry)?.[1];
  if (domain !== undefined) return t("an address at {domain}", { domain });
  if (entry.startsWith("feed:")) return t("list {name}", { name: entry.slice("feed:".length) });
  return entry.startsWith("mx:")
    ? t("mail server {name}", { name: entry.slice("mx:".length) })
    : entry;
}

/** The same for a text with entries in it. */
export const withoutHashes = (text: string): string =>
  text.replaceAll(/address:[0-9a-f]{32}@[^\s,]+/g, entryWords);

const REFUSALS: Readonly<Record<string, string>> = {
  not_fetched: "It could not be fetched",
  bad_status: "Its server answered with an error",
  too_large: "The file was larger than 16 MB",
  not_a_list: "The file was not a list of names",
  below_floor: "It held fewer names than it ever had",
  size_swing: "Its size changed too much at once",
  lacks_known: "A name that every such list holds was missing",
  holds_provider: "It named a large mail provider",
  many_removed: "Many names were gone at once; the next fetch has to say so again",
  not_kept: "The data directory could not take it",
};

/** Why an answer was not taken, and what that means; a reason this page does not know stays as it is. */
export function refusalWords(why: string, detail: string | null): string {
  const words = t(Object.hasOwn(REFUSALS, why) ? (REFUSALS[why] ?? why) : why);
  return `${words}${detail === null || detail === "" ? "" : ` (${detail})`}.`;
}

/** Refusals that the operator may overrule; what else is wrong with a file stays wrong. */
export const mayBeTaken = (refused: string | null): boolean =>
  refused === "size_swing" || refused === "many_removed";

export const stays = ({ names }: Pick<Source, "names">): string =>
  names === 0 ? t("Nothing of it is in use.") : t("The copy before it stays in use.");

/** What a fetch of all sources came to, in a sentence. */
export function outcomeWords(outcomes: readonly Outcome[]): string {
  const of = (kind: Outcome["kind"]): number =>
    outcomes.filter((outcome) => outcome.kind === kind).length;
  const parts = [
    [of("accepted"), "{n} new"],
    [of("unchanged"), "{n} unchanged"],
    [of("refused"), "{n} not taken"],
  ] as const;
  const said = parts
    .filter(([number]) => number > 0)
    .map(([number, words]) => t(words, { n: count(number) }));
  const sources = counted(outcomes.length, "{n} list", "{n} lists");
  return t("{sources} asked: {said}.", { sources, said: said.join(", ") });
}
