/**
 * Wordings that readers whose first language is not English stumble over. `CONTRIBUTING.md` says what to write instead.
 * A match is a line to look at, so the guard allows a small share of them.
 */
const STUMBLES: readonly RegExp[] = [
  /, for (?:it|they|the|a|an|no|not|what|each|its|there|one|he|we|this|that|most|any|some|all)\b/i,
  /\b(?:nobody|no one|whoever|somebody|whatever|one who|he who|those who|of whom|wherein|whence|thereof)\b/i,
  /\b(?:tale|journey|hearsay|blackened|desk|patience|breath|breathes|stranger|strangers)\b/i,
  /(?<!there )\b(?:is|are) no (?!more|longer)\w/i,
  /(?<!there )\b(?:is|are) none\b/i,
  /\b(?:is|are) (?:nothing|nowhere)\b/i,
  /\b(?:is|are|was|were|be|being) told\b/i,
  /\bhears?\b/i,
  /\bin words\b/i,
  /(?<!times )\b(?:so|as) (?:many|long|much|few)\b(?! (?:\w+ ){0,3}as\b)/i,
  /\bnow and then\b/i,
  /\b(?:bears|begun|mended|mends|mend|alike|thrice|lest|hence|thus|ere|shall)\b/i,
  /\b(?:of late|at hand|by itself alone|for ever|in force|the house|come along|comes along|goes on|go on with)\b/i,
  /\bbut for\b/i,
  /\b(?:nothing|none|nobody|anything|no \w+) but\b/i,
  /\b(?:it|they|which|that) alone\b/i,
  /\b(?:tells|told|says) of\b/i,
  /\bnot whole\b/i,
];

/** What a person reads in a source file: comment lines, and texts of three words or more. */
function readableLines(path: string, text: string): readonly string[] {
  if (path.endsWith(".md")) return proseLines(text);
  return text.split("\n").filter((line) => isComment(line) || isMessage(line));
}

const isComment = (line: string): boolean => /^\s*(?:\/\/|\/?\*)/.test(line);

const isMessage = (line: string): boolean =>
  /["'`][^"'`]*[A-Za-z]+ [A-Za-z,]+ [A-Za-z][^"'`]*["'`]/.test(line) && !/^\s*import /.test(line);

/** Lines of a Markdown page outside its code blocks; code within a line is not read either, see `readVoice`. */
function proseLines(text: string): readonly string[] {
  let isCode = false;
  return text.split("\n").filter((line) => {
    if (line.startsWith("```")) isCode = !isCode;
    return !isCode && /[a-z]/.test(line);
  });
}

export interface Reading {
  readonly lines: number;
  readonly stumbles: readonly string[];
}

/** The lines of `text` that people read, and those of them that match a stumbling pattern, as "path: line". */
export function readVoice(path: string, text: string): Reading {
  const lines = readableLines(path, text);
  const stumbles = lines.filter((line) => {
    const prose = path.endsWith(".md") ? line.replaceAll(/`[^`]*`/g, "x") : line;
    return STUMBLES.some((pattern) => pattern.test(prose));
  });
  return { lines: lines.length, stumbles: stumbles.map((line) => `${path}: ${line.trim()}`) };
}
