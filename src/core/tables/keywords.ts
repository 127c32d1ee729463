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
  "wegwerf",
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

const PAIRS = THROW_AWAY_WORDS.flatMap((first) =>
  MAIL_WORDS.flatMap((second) => [first + second, `${first}-${second}`]),
);

/** No word twice, though "dispos" + "email" is "dispose" + "mail". */
export const STRONG_WORDS: readonly string[] = [...new Set([...NAMES_OF_SERVICES, ...PAIRS])];

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
 * Words that disposable providers and others use: evidence only where they stand by themselves between
 * hyphens, digits and dots. Left out, for they hit as many honest names: mail, email, inbox, box, free,
 * hide, post, instant, fast, quick, drop.
 */
export const WEAK_WORDS: readonly string[] = [
  "antispam",
  "burner",
  "discard",
  "disposable",
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
