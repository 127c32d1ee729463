import { bulkTooLarge, invalidJson } from "../../../base/refusals.ts";
import { VALUES_MAX } from "../form.ts";
import { refusable } from "./lists.ts";
import type { Body } from "../params.ts";
import { inSlices, turn } from "./slices.ts";

/** Our deepest body is an array of texts in an object. */
const DEPTH_MAX = 16;

/** Members, arrays and objects: a policy of 50 rules has about 1,000. Texts in an array do not count. */
const PARTS_MAX = 4_000;

/** Characters that are looked at between two turns of other requests: about 2 ms. */
const SLICE_CHARACTERS = 262_144;

/** Items beyond which an array is kept as the text of a list: each item of its own costs 40 octets of memory. */
const ITEMS_KEPT = 1_000;

const COMMA = 44;
const QUOTE = 34;
const BACKSLASH = 92;
const COLON = 58;
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [91, 93, 123, 125];

/**
 * Reads a JSON object. Arrays of `lists` are joined to the text of a list, and members of other names are dropped; with
 * no `lists` everything is kept. Refuses with 400 what is not an object, and
 * with 413 more than `VALUES_MAX` values, both unparsed: megabytes of brackets or items keep the parser busy for half
 * a second.
 */
export async function readJson(text: string, lists: ReadonlySet<string>): Promise<Body> {
  const fault = await inSlices(faultIn(text));
  if (fault === "values") throw bulkTooLarge();
  const value = fault === undefined ? valueOf(text) : undefined;
  await turn(); // parsing 250,000 values takes 30 ms
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalidJson();
  if (lists.size === 0) return { kind: "json", value };
  const kept = Object.fromEntries(Object.entries(value).filter(([name]) => lists.has(name)));
  return { kind: "json", value: kept, texts: joined(kept, lists) };
}

function* faultIn(text: string): Generator<undefined, "values" | "shape" | undefined> {
  let [depth, parts, values] = [0, 0, 1];
  let sliceEnd = SLICE_CHARACTERS;
  for (let at = 0; at < text.length; at += 1) {
    if (at >= sliceEnd) {
      yield;
      sliceEnd = at + SLICE_CHARACTERS;
    }
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfText(text, at);
    else if (code === COMMA) values += 1;
    const change = depthChange(code);
    depth += change;
    if (change > 0 || code === COLON) parts += 1;
    if (depth > DEPTH_MAX || parts > PARTS_MAX) return "shape";
    if (values > VALUES_MAX) return "values";
  }
  return undefined;
}

function depthChange(code: number): 1 | 0 | -1 {
  if (code === OPEN_BRACKET || code === OPEN_BRACE) return 1;
  return code === CLOSE_BRACKET || code === CLOSE_BRACE ? -1 : 0;
}

/** Where the JSON text that begins at `start` ends; the end of all when it is not closed. */
function endOfText(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    if (!isEscaped(text, end)) return end;
  }
  return text.length;
}

/** Whether an odd number of backslashes stands before `at`. */
function isEscaped(text: string, at: number): boolean {
  let start = at;
  while (text.charCodeAt(start - 1) === BACKSLASH) start -= 1;
  return (at - start) % 2 === 1;
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The lists in long arrays; of the arrays themselves only the first items are kept, or one that is not text. */
function joined(
  value: Record<string, unknown>,
  lists: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const name of lists) {
    const items: unknown = Object.hasOwn(value, name) ? value[name] : undefined;
    if (!Array.isArray(items) || items.length <= ITEMS_KEPT) continue;
    if (items.every((item) => typeof item === "string")) {
      texts.set(name, refusable(items.join("\n")));
      items.length = ITEMS_KEPT;
    } else {
      value[name] = [null]; // refused when it is read
    }
  }
  return texts;
}
