import { toUnicode } from "tr46";
import type { Datasets } from "../datasets.ts";
import { hasKnownEnding } from "../../name/domain.ts";
import { isOneEdit } from "../../name/one-edit.ts";
import { LARGE_PROVIDERS, LOOK_ALIKES, REAL_NEIGHBOURS } from "../../tables/data.ts";

/**
 * Shortest name, and shortest first label, for which a slip is reported: around "live.com" or "qq.com" every
 * second name has a real owner. Distance 1 at 8 characters found 77.6 % of 165 real slips with 3 wrong hits
 * in 176,744 names; distance 2 is not worth its price.
 */
const TARGET_MIN_LENGTH = 8;
const TARGET_MIN_LABEL = 5;

interface TypoTarget {
  readonly name: string;
  readonly mask: number;
}

const labelLength = (name: string): number => name.indexOf(".");

function letterMask(name: string): number {
  let mask = 0;
  for (let at = 0; at < name.length; at += 1) {
    const code = name.charCodeAt(at);
    mask |= 1 << (code >= 97 ? code - 97 : 26 + (code % 6));
  }
  return mask;
}

const TARGETS: ReadonlySet<string> = new Set(
  [...LARGE_PROVIDERS].filter(
    (name) => name.length >= TARGET_MIN_LENGTH && labelLength(name) >= TARGET_MIN_LABEL,
  ),
);

/** Targets by the length of the names that one edit makes of them: one shorter to one longer. */
const BY_LENGTH: readonly (readonly TypoTarget[])[] = bucketed([...TARGETS]);

/** Names under an ending that does not exist have no owner, so short names are targets too. */
const ALL_BY_LENGTH: readonly (readonly TypoTarget[])[] = bucketed([...LARGE_PROVIDERS]);

/** Gmail has one domain, so its label under any other registry's ending is a slip: "gmail.fr", "gmail.com.com". */
const OTHER_GMAIL = /^gmail\.(?:(?:ac|co|com|edu|go|gob|gov|ne|net|or|org)\.[a-z]{2,3}|[a-z]{2,})$/;
const GMAIL = "gmail.com";

function bucketed(names: readonly string[]): readonly (readonly TypoTarget[])[] {
  const buckets: TypoTarget[][] = [];
  for (const name of names) {
    for (let length = name.length - 1; length <= name.length + 1; length += 1) {
      while (buckets.length <= length) buckets.push([]);
      buckets[length]?.push({ name, mask: letterMask(name) });
    }
  }
  return buckets;
}

/** Whether at most two bits are set: one edit takes one letter away, or brings one, or both. */
const atMostTwoBits = (bits: number): boolean => {
  const one = bits & (bits - 1);
  return (one & (one - 1)) === 0;
};

/** One letter too many, missing, wrong or swapped (Damerau-Levenshtein distance 1), or letters of another keyboard. */
export function typoTarget(
  name: string,
  datasets: Pick<Datasets, "free" | "knownGood">,
): string | undefined {
  if (name.includes("xn--")) {
    const look = plainLook(name);
    const shown = TARGETS.has(look) ? look : withoutPairs(look);
    return TARGETS.has(shown) && !isReal(name, datasets) ? shown : undefined;
  }
  const read = withoutPairs(name);
  if (read !== name && TARGETS.has(read) && !isReal(name, datasets)) return read;
  if (name === "yaho.com") return "yahoo.com"; // lists of free providers hold it as a provider
  const target = slipAmong(BY_LENGTH, name, isSlip) ?? slipOfEnding(name);
  return target === undefined || isReal(name, datasets) ? undefined : target;
}

/** "rn" and "nn" are read as "m". */
const withoutPairs = (name: string): string => name.replace(/rn|nn/g, "m");

/** A slip in the ending, of a short name too: "aol.con", "hotmail.couk", "gmail.fr". */
function slipOfEnding(name: string): string | undefined {
  if (name !== GMAIL && OTHER_GMAIL.test(name)) return GMAIL;
  const target = slipAmong(ALL_BY_LENGTH, name, isOneEdit);
  return target === undefined || hasKnownEnding(name) ? undefined : target;
}

function slipAmong(
  byLength: readonly (readonly TypoTarget[])[],
  name: string,
  isSlipOf: (name: string, target: string) => boolean,
): string | undefined {
  const targets = byLength[name.length];
  if (targets === undefined) return undefined;
  const mask = letterMask(name);
  return targets.find((target) => atMostTwoBits(mask ^ target.mask) && isSlipOf(name, target.name))
    ?.name;
}

/** Reads a text that is no domain name: "gmail..com", "gmailcom", "web.d". It is at most one letter and its dots away. */
export function malformedTarget(text: string): string | undefined {
  if (text.length > PROVIDER_MAX_LENGTH) return undefined;
  const name = text
    .toLowerCase()
    .replace(/\.{2,}/g, ".")
    .replace(/^\.|\.$/g, "");
  if (LARGE_PROVIDERS.has(name)) return name;
  return WITHOUT_DOTS.get(name) ?? slipAmong(ALL_BY_LENGTH, name, isOneEdit);
}

/** Completes "gmail" to the provider's domain under ".com", or to its only one. */
export function mainDomain(label: string): string | undefined {
  const name = label.toLowerCase();
  if (name.length < TARGET_MIN_LABEL || name.includes(".")) return undefined;
  if (LARGE_PROVIDERS.has(`${name}.com`)) return `${name}.com`;
  const all = [...LARGE_PROVIDERS].filter((provider) => provider.startsWith(`${name}.`));
  return all.length === 1 ? all[0] : undefined;
}

/** The longest provider has 16 characters; a malformed text of more than this is not near one. */
const PROVIDER_MAX_LENGTH = 30;

const WITHOUT_DOTS: ReadonlyMap<string, string> = new Map(
  [...LARGE_PROVIDERS].map((name) => [name.replaceAll(".", ""), name]),
);

/** Finds "zo1827gmail.com", and "ann.lee.web.de" but not "mail.web.de". Short names are found behind a dot alone. */
export function providerAtEnd(name: string): string | undefined {
  if (LARGE_PROVIDERS.has(name)) return undefined;
  for (let dot = name.indexOf("."); dot >= 0; dot = name.indexOf(".", dot + 1)) {
    const rest = name.slice(dot + 1);
    if (LARGE_PROVIDERS.has(rest)) return HOST_LABEL.test(name.slice(0, dot)) ? undefined : rest;
  }
  return LONGEST_FIRST.find((target) => name.endsWith(target));
}

const LONGEST_FIRST = [...TARGETS].sort((a, b) => b.length - a.length);

const HOST_LABEL =
  /(?:^|[.-])(?:www|mail|webmail|mx|smtp|imap|pop|ns|ftp|api|login|accounts?|autodiscover|autoconfig|help|support|news)\d*(?:[.-]|$)/;

function isReal(name: string, { free, knownGood }: Pick<Datasets, "free" | "knownGood">): boolean {
  return (
    LARGE_PROVIDERS.has(name) || REAL_NEIGHBOURS.has(name) || free.has(name) || knownGood.has(name)
  );
}

function isSlip(name: string, target: string): boolean {
  if (!isOneEdit(name, target)) return false;
  const label = name.slice(0, labelLength(name));
  const wanted = target.slice(0, labelLength(target));
  // "yahoo.fi" beside "yahoo.fr": a branch under another national ending, not a slip.
  if (label === wanted) return target.lastIndexOf(".") < target.length - 3;
  if (label.endsWith("cloud")) return false; // "mcloud.com" and its like are services of their own
  return wanted.length > TARGET_MIN_LABEL || BEST_KNOWN.has(wanted) || isShuffled(label, wanted);
}

/** Every second neighbour of labels that short is a word or a company: "telit.com" beside "telia.com". */
const BEST_KNOWN: ReadonlySet<string> = new Set(["gmail", "yahoo"]);

const isShuffled = (label: string, wanted: string): boolean =>
  label.length >= wanted.length && lettersOf(label) === lettersOf(wanted);

const lettersOf = (label: string): string => [...new Set(label)].sort().join("");

/** Latin letters that are no look-alikes by Unicode, and that people take for them all the same. */
const TWINS: Readonly<Record<string, string>> = {
  d: "ԁ",
  h: "һ",
  i: "ıι",
  l: "ł",
  o: "ø",
  q: "ԛ",
  w: "ԝ",
};

const PLAIN_LETTERS: ReadonlyMap<string, string> = new Map(
  [...LOOK_ALIKES, ...Object.entries(TWINS)].flatMap(([plain, twins]) =>
    Array.from(twins, (twin) => [twin, plain] as const),
  ),
);

const uLabels = (name: string): string => (name.includes("xn--") ? toUnicode(name).domain : name);

/** How a name in A-labels looks to a reader: without accents, and other scripts' letters as their twins. */
export function plainLook(name: string): string {
  const bare = uLabels(name).normalize("NFKD").replace(/\p{M}/gu, "");
  return Array.from(bare, (letter) => PLAIN_LETTERS.get(letter) ?? letter).join("");
}
