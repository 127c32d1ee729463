import { rowsOf } from "../tables/data.ts";
import * as TEXTS from "../tables/texts.ts";
import type { FormatProblem } from "../validate/malformed.ts";
import type { Messages, Outcome } from "./policy.ts";

export const LANGUAGES = ["en", "de", "fr", "es", "it", "pt", "nl", "pl"] as const;
/** Spoken otherwise in a part of the world; what has no row of its own is said as in the language. */
const REGIONS = ["pt-BR"] as const;
export type Language = (typeof LANGUAGES)[number] | (typeof REGIONS)[number];

type Words = ReadonlyMap<string, string>;

/** Each row without a tab names what the sentences below it are for, in all languages. None names a list. */
function wordsByUse(): ReadonlyMap<string, Words> {
  const all = new Map<string, Words>();
  let words = new Map<string, string>();
  for (const [name = "", sentence] of rowsOf(TEXTS.messages)) {
    if (sentence !== undefined) {
      words.set(name, sentence);
      continue;
    }
    words = new Map();
    for (const use of name.split(" ")) all.set(use, words);
  }
  return all;
}

const WORDS = wordsByUse();

/** The language of a BCP 47 tag: "de-AT" is "de", "pt-BR" itself; those we have no words in are English. */
export function languageOf(tag: string): Language {
  const [primary = "", ...more] = tag.slice(0, 35).toLowerCase().split(/[-_]/);
  const region = REGIONS.find((each) =>
    more.some((part) => each.toLowerCase() === `${primary}-${part}`),
  );
  return region ?? LANGUAGES.find((language) => language === primary) ?? "en";
}

/** One sentence for the person at the form; undefined for an accepted entry. */
export function messageFor(
  { decision, reason, messages }: Outcome,
  { language: tag, meant, problem }: Spoken,
): string | undefined {
  if (decision === "accept") return undefined;
  if (messages !== undefined) return ownMessage(messages, tag);
  const language = languageOf(tag);
  const words = (use: string): string | undefined => {
    const found = WORDS.get(use);
    return found?.get(language) ?? found?.get(language.slice(0, 2));
  };
  if (decision === "review") return words(`review.${reason}`) ?? words("decision.review");
  const suggestion = meant === undefined ? undefined : words("meant")?.replace("{0}", () => meant);
  if (reason === "typo" && suggestion !== undefined) return suggestion;
  if (reason !== "format") return words(`reason.${reason}`) ?? words(`decision.${decision}`);
  const fault = problem && words(`format.${problem.code}`);
  if (suggestion === undefined) return fault ?? words("reason.format");
  return fault === undefined ? suggestion : `${fault} ${suggestion}`;
}

export interface Spoken {
  readonly language: string;
  readonly meant: string | undefined;
  readonly problem?: FormatProblem | undefined;
}

/** In the language asked for, else in English, else the first. */
function ownMessage(messages: Messages, tag: string): string | undefined {
  const exact = tag.toLowerCase().replaceAll("_", "-");
  const [primary = ""] = exact.split("-");
  const [first] = messages.values();
  return messages.get(exact) ?? messages.get(primary) ?? messages.get("en") ?? first;
}
