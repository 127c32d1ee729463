/**
 * Words that make a name disposable wherever they stand in a label. Chosen and priced on 200,900 legitimate
 * names: 5 hits, 4 of them disposable after all (2026-11). Own counts on the bundled packages: docs/detection.md.
 */
const NAMES_OF_SERVICES = [
  "10min",
  "guerrillamail",
  "maildrop",
  "mailinator",
  "mailtemp",
  "throwaway",
  "wegwerfadresse",
  "wegwerf-adresse",
  "yopmail",
];

/** Ambiguous alone, telling in front of a mail word: "tempmail", "trash-box". */
const THROW_AWAY_WORDS = [
  "burner",
  "dispos",
  "disposable",
  "dispose",
  "fake",
  "junk",
  "minute",
  "minutes",
  "spam",
  "temp",
  "temporary",
  "throw",
  "tmp",
  "trash",
];
const MAIL_WORDS = ["box", "e-mail", "email", "inbox", "mail"];

/** German for "throw away": strong in front of a mail word only, because waste firms and cameras are called so too. */
const WEGWERF = ["wegwerf", "wegwerf-"].flatMap((first) =>
  MAIL_WORDS.map((second) => first + second),
);

const PAIRS = THROW_AWAY_WORDS.flatMap((first) =>
  MAIL_WORDS.flatMap((second) => [first + second, `${first}-${second}`]),
);

/** No word twice, though "dispos" + "email" is "dispose" + "mail". */
export const STRONG_WORDS: readonly string[] = [
  ...new Set([...NAMES_OF_SERVICES, ...PAIRS, ...WEGWERF]),
];

/** Strong words that stand in honest names as parts of other words. */
export interface AccidentRow {
  readonly words: readonly string[];
  /** What stands before the word then: "last" + "minutemail". */
  readonly notAfter: readonly string[];
  /** What follows it: "mailtemp" + "late". */
  readonly notBefore: readonly string[];
}

const pairsOf = (...firsts: readonly string[]): readonly string[] =>
  PAIRS.filter((pair) => firsts.some((first) => pair.startsWith(first)));

/** Of 766 names on the bundled lists that hold a strong word these rows excuse one, "btc0010mine.tk" (2026-11). */
export const ACCIDENTS: readonly AccidentRow[] = [
  // Templates of mail, a trade of its own.
  { words: ["mailtemp"], notAfter: [], notBefore: ["late"] },
  // 110 minutes, minds, miners, mines, mining, ministers, minor things.
  {
    words: ["10min"],
    notAfter: Array.from("0123456789"),
    notBefore: ["d", "er", "es", "ing", "is", "or"],
  },
  // Contemporary things.
  { words: pairsOf("temp"), notAfter: ["con"], notBefore: [] },
  { words: pairsOf("minute"), notAfter: ["last", "last-"], notBefore: ["er", "ing"] },
  // Campaigns against unwanted letters.
  { words: pairsOf("junk", "spam"), notAfter: ["stop", "stop-"], notBefore: [] },
];

/**
 * Registrable domains that a strong word hits by accident: classified ads, mail filters, a school, a name of Fastmail's.
 * Nothing at or under them counts.
 */
export const NOT_DISPOSABLE_BY_NAME: ReadonlySet<string> = new Set([
  "10minuteschool.com",
  "junkemailfilter.com",
  "junkmail.co.za",
  "nospammail.net",
  "trashbox.ru",
]);

/**
 * Strong only where they stand by themselves between hyphens, digits and dots: 343 listed names and none of 200,874
 * legitimate ones (2026-11-22).
 */
export const STRONG_ALONE: readonly string[] = ["disposable"];

/**
 * Words that disposable providers and others use: evidence only where they stand by themselves between
 * hyphens, digits and dots. Left out because they hit equally many honest names: mail, email, inbox, box, free,
 * hide, post, instant, fast, quick, drop.
 */
export const WEAK_WORDS: readonly string[] = [
  "antispam",
  "burner",
  "discard",
  "fake",
  "junk",
  "minute",
  "minutes",
  "nospam",
  "spam",
  "temp",
  "temporary",
  "tmp",
  "trash",
];
