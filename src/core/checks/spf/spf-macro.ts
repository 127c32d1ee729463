import { DOMAIN_MAX_OCTETS } from "../../name/domain.ts";

/** SPF macro strings (RFC 7208 section 7). */

export type MacroPiece =
  | { readonly kind: "text"; readonly text: string }
  | {
      readonly kind: "macro";
      readonly letter: string;
      /** How many labels from the right are kept; 0: all of them. */
      readonly keep: number;
      readonly reversed: boolean;
      readonly delimiters: string;
    };

/** At most 127 labels and seven delimiters. `c`, `r` and `t` are for explanations (section 7.2), which are not used. */
const MACRO = /%\{([slodiphv])(\d{0,3})(r?)([.\-+,/_=]{0,7})\}/iy;

/** Visible ASCII but "%" (RFC 7208 section 7.1, macro-literal). */
const LITERAL = /[!-$&-~]+/y;

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["%%", "%"],
  ["%_", " "],
  ["%-", "%20"],
]);

export function parseMacros(text: string): readonly MacroPiece[] | undefined {
  const pieces: MacroPiece[] = [];
  for (let at = 0; at < text.length;) {
    const [piece, length] = pieceAt(text, at);
    if (piece === undefined) return undefined;
    pieces.push(piece);
    at += length;
  }
  return pieces;
}

type ReadPiece = readonly [piece: MacroPiece | undefined, length: number];

const NOTHING_READ: ReadPiece = [undefined, 0];

function pieceAt(text: string, at: number): ReadPiece {
  if (text.charAt(at) !== "%") return literalAt(text, at);
  const escape = ESCAPES.get(text.slice(at, at + 2));
  return escape === undefined ? macroAt(text, at) : [{ kind: "text", text: escape }, 2];
}

function literalAt(text: string, at: number): ReadPiece {
  LITERAL.lastIndex = at;
  const literal = LITERAL.exec(text)?.[0];
  return literal === undefined ? NOTHING_READ : [{ kind: "text", text: literal }, literal.length];
}

function macroAt(text: string, at: number): ReadPiece {
  MACRO.lastIndex = at;
  const match = MACRO.exec(text);
  if (match === null) return NOTHING_READ;
  const [whole, letter = "", digits = "", reverse, delimiters] = match;
  // "%{d0}" asks for no label at all, which RFC 7208 section 7.1 forbids.
  if (digits !== "" && Number(digits) === 0) return NOTHING_READ;
  const macro: MacroPiece = {
    kind: "macro",
    letter: letter.toLowerCase(),
    keep: Number(digits),
    reversed: reverse !== "",
    delimiters: delimiters || ".",
  };
  return [macro, whole.length];
}

export interface MacroWorld {
  readonly domain: string;
  readonly senderDomain: string;
}

/** Lower case, no trailing dot. Undefined when it hangs on a message (its sender's local part, its client's address). */
export function expandTarget(target: string, world: MacroWorld): string | undefined {
  let name = "";
  for (const piece of parseMacros(target) ?? []) {
    const text = piece.kind === "text" ? piece.text : expand(piece, world);
    if (text === undefined) return undefined;
    name += text;
  }
  return shorten(name.toLowerCase().replace(/\.$/, ""));
}

function expand(
  macro: MacroPiece & { readonly kind: "macro" },
  { domain, senderDomain }: MacroWorld,
): string | undefined {
  const value = macro.letter === "d" ? domain : macro.letter === "o" ? senderDomain : undefined;
  if (value === undefined) return undefined;
  const labels = splitAt(value, macro.delimiters);
  if (macro.reversed) labels.reverse();
  return labels.slice(macro.keep === 0 ? 0 : -macro.keep).join(".");
}

function splitAt(value: string, delimiters: string): string[] {
  const labels = [""];
  for (const character of value) {
    if (delimiters.includes(character)) labels.push("");
    else labels[labels.length - 1] += character;
  }
  return labels;
}

/** A target that expands to more than a name may have loses labels on its left (RFC 7208 section 7.3). */
function shorten(name: string): string {
  if (name.length <= DOMAIN_MAX_OCTETS) return name;
  const dot = name.indexOf(".", name.length - DOMAIN_MAX_OCTETS - 1);
  return dot < 0 ? "" : name.slice(dot + 1);
}
