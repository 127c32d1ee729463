import { decodePercent } from "./target.ts";

/**
 * The text of a bulk list out of its raw form value. Clients write "+" for a plus sign and for a blank
 * alike, so each one is read where it stands in its token:
 *
 * - before a raw "@" it is a plus sign: nothing was encoded here;
 * - before a "%40", after the at sign, and in a token without one, it is a blank: an encoder was at work,
 *   or no address can hold it.
 *
 * "%2B" is always a plus sign and "%20" always a blank. A token ends at a comma or white space, raw or
 * encoded, and at a "+" that is a blank. Linear: every character is looked at twice at most.
 */
export function bulkText(raw: string): string {
  return decodePercent(raw.includes("+") ? blankPluses(raw) : raw);
}

function blankPluses(raw: string): string {
  const pieces: string[] = [];
  let at = 0;
  while (at < raw.length) {
    const local = scan(raw, at, "pluses stay");
    const upTo = raw.slice(at, local.end);
    pieces.push(local.stop === "raw at" ? upTo : upTo.replaceAll("+", " "));
    at = local.end;
    if (local.stop !== "raw at" && local.stop !== "encoded at") continue;
    const domain = scan(raw, at, "pluses end");
    pieces.push(raw.slice(at, domain.end).replaceAll("+", " "));
    at = domain.end;
  }
  return pieces.join("");
}

interface Stop {
  readonly stop: "raw at" | "encoded at" | "end of token";
  /** Just behind what was scanned, the at sign or the separator included. */
  readonly end: number;
}

/** `pluses stay`: to the first at sign. `pluses end`: over further at signs to the end of the domain. */
function scan(raw: string, from: number, mode: "pluses stay" | "pluses end"): Stop {
  for (let at = from; at < raw.length; at += 1) {
    const code = raw.charCodeAt(at);
    if (code > 64) continue;
    const found = code === PERCENT ? encoded(raw, at) : plain(code);
    if (found === "separator")
      return { stop: "end of token", end: at + (code === PERCENT ? 3 : 1) };
    if (mode === "pluses end") {
      if (code === PLUS) return { stop: "end of token", end: at + 1 };
    } else if (found === "at sign") {
      return code === PERCENT
        ? { stop: "encoded at", end: at + 3 }
        : { stop: "raw at", end: at + 1 };
    }
  }
  return { stop: "end of token", end: raw.length };
}

const PERCENT = 37;
const PLUS = 43;
const COMMA = 44;
const AT = 64;

type Mark = "separator" | "at sign" | undefined;

function plain(code: number): Mark {
  if (code === AT) return "at sign";
  return code === COMMA || isBlank(code) ? "separator" : undefined;
}

/** Blank, tab, CR, LF: what separates entries of a list. */
const isBlank = (code: number): boolean => code === 32 || code === 9 || code === 10 || code === 13;

function encoded(raw: string, at: number): Mark {
  const high = raw.charCodeAt(at + 1);
  const low = raw.charAt(at + 2).toLowerCase();
  if (high === DIGIT_4 && low === "0") return "at sign";
  if (high === DIGIT_2 && (low === "0" || low === "c")) return "separator";
  return high === DIGIT_0 && (low === "9" || low === "a" || low === "d") ? "separator" : undefined;
}

const DIGIT_0 = 48;
const DIGIT_2 = 50;
const DIGIT_4 = 52;
