import { editDistanceOne } from "../core/policy/conditions.ts";

/** Unknown parameters that are named in one answer. */
const NAMED = 3;

/** What may stand in a header, and is no secret: keys are longer. */
const NAME = /^[a-z][a-z0-9_-]{0,31}$/i;

export const JSON_HINT = "The body looks like JSON; send it with Content-Type: application/json.";

/** Names the parameters that the route does not know, and what may have been meant. */
export function unknownHint(
  names: readonly string[],
  known: ReadonlySet<string>,
): string | undefined {
  const unknown = new Set(names.filter((name) => !known.has(name) && NAME.test(name)));
  if (unknown.size === 0) return undefined;
  return [...unknown]
    .slice(0, NAMED)
    .map((name) => `Unknown parameter ${name}${didYouMean(name, known)}.`)
    .join(" ");
}

function didYouMean(name: string, known: ReadonlySet<string>): string {
  const plain = plainName(name);
  const near = [...known].find((one) => {
    const other = plainName(one);
    const isPart = plain.length > 2 && (other.startsWith(plain) || plain.startsWith(other));
    return isPart || editDistanceOne(plain, other);
  });
  return near === undefined ? "" : `; did you mean ${near}`;
}

const plainName = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, "");

/** Whether a text is two addresses or more, between commas, semicolons or blanks. What quotes anything is one. */
export function isSeveral(text: string): boolean {
  if (text.indexOf("@") === text.lastIndexOf("@") || text.includes('"')) return false;
  const pieces = text.split(/[\s,;]+/).filter((piece) => piece !== "");
  return pieces.length > 1 && pieces.every((piece) => /^[^@<>()]+@[^@<>()]+$/.test(piece));
}
