import { toASCII } from "tr46";
import { LABEL_MAX_OCTETS } from "../limits.ts";
import { fromPunycode, toPunycode } from "./punycode.ts";

const NON_ASCII = /[^\0-\x7f]/;

const UTS46 = {
  checkBidi: true,
  checkHyphens: true,
  checkJoiners: true,
  ignoreInvalidPunycode: false,
  transitionalProcessing: false,
  useSTD3ASCIIRules: true,
  verifyDNSLength: false, // lengths are counted by `parseDomain`, in one place
} as const;

/** For "r3---x" names in ASCII, which do exist. `parseDomain` refuses outer hyphens. */
const ANY_HYPHENS = { ...UTS46, checkHyphens: false } as const;

/**
 * Unicode to A-labels by UTS-46, non-transitional; undefined when the name has no such form. A U-label has inner
 * hyphens only, and not two in its third and fourth places (RFC 5891 section 4.2.3.1).
 */
export function aLabels(text: string): string | undefined {
  const lower = text.toLowerCase();
  if (!NON_ASCII.test(text) && !lower.includes("xn--")) return lower;
  const simple = simpleName(text);
  if (simple !== undefined) return simple;
  if (!HYPHENS.test(lower.replaceAll("xn--", ""))) return toASCII(text, UTS46) ?? undefined;
  const name = toASCII(text, ANY_HYPHENS) ?? undefined;
  return name?.split(".").every(isALabelOrPlain) === true ? name : undefined;
}

/** Hyphens that `checkHyphens` might refuse: beside a dot or another hyphen, first or last, or what maps to one. */
const HYPHENS =
  /--|^-|-$|-[.\u3002\uff0e\uff61]|[.\u3002\uff0e\uff61]-|[\ufe63\uff0d\u00ad]|\p{Cf}/u;

const isALabelOrPlain = (label: string): boolean =>
  !label.startsWith("xn--") || toASCII(label, UTS46) !== null;

/**
 * The A-labels of a name of simple characters and ASCII; undefined for any other. UTS-46 has nothing to do for such
 * a name but to encode it, and takes 20 times as long for that: a list of 50,000 such names would take seconds.
 */
function simpleName(text: string): string | undefined {
  const labels: string[] = [];
  for (const label of text.split(".")) {
    const made = NON_ASCII.test(label) ? simpleLabel(label) : plainLabel(label);
    if (made === undefined) return undefined;
    labels.push(made);
  }
  return labels.join(".");
}

function plainLabel(label: string): string | undefined {
  const lower = label.toLowerCase();
  if (!/^[a-z0-9-]*$/.test(lower)) return undefined;
  return lower.startsWith("xn--") ? simpleALabel(lower) : lower;
}

/** An A-label of simple characters as it is, when it is what they encode to. */
function simpleALabel(label: string): string | undefined {
  const codes = label.length > LABEL_MAX_OCTETS ? undefined : fromPunycode(label.slice(4));
  const isWhole = codes?.some((code) => code >= 128) === true && codes.every(isSimpleCode);
  return isWhole && `xn--${toPunycode(codes)}` === label ? label : undefined;
}

const isSimpleCode = (code: number): boolean => (code < 128 ? isLowerAscii(code) : isSimple(code));

/** A longer one has no A-label of 63 octets, and costs the square of its length to encode. */
function simpleLabel(label: string): string | undefined {
  const codes: number[] = [];
  for (const character of label) {
    const code = character.codePointAt(0) ?? 0;
    if (!isSimpleCode(code)) return undefined;
    codes.push(code);
  }
  return codes.length > LABEL_MAX_OCTETS ? undefined : `xn--${toPunycode(codes)}`;
}

const isLowerAscii = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 48 && code <= 57);

const UNKNOWN = 0;
const SIMPLE = 1;
const OTHER = 2;

/** By code point; there are no letters beyond. */
const CODES_MAX = 0x40000;
let kinds: Uint8Array | undefined;

/**
 * Whether UTS-46 takes the character as it is wherever it stands in a label: it is valid and not mapped, it joins
 * nothing before it, and it is written from left to right.
 */
function isSimple(code: number): boolean {
  if (code >= CODES_MAX) return false;
  kinds ??= new Uint8Array(CODES_MAX);
  if (kinds[code] === UNKNOWN) kinds[code] = findSimple(code) ? SIMPLE : OTHER;
  return kinds[code] === SIMPLE;
}

function findSimple(code: number): boolean {
  const character = String.fromCodePoint(code);
  if (JOINING.test(character) || !LEFT_TO_RIGHT.test(character)) return false;
  return toASCII(character, UTS46) === `xn--${toPunycode([code])}`;
}

/** Marks, joiners and the later parts of Hangul syllables: normalisation may join them to what stands before. */
const JOINING = /[\p{M}\p{Cf}\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]/u;

/** Letters of scripts that are written so, whose bidi class is L. */
const LEFT_TO_RIGHT =
  /^(?=\p{L})[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Thai}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Tamil}]$/u;
