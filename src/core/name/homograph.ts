import { PLAIN_LETTERS } from "../tables/homographs.ts";
import { toUnicode } from "tr46";

/** A name in A-labels as a person reads it: "bücher.example". */
const uLabels = (name: string): string => (name.includes("xn--") ? toUnicode(name).domain : name);

/** How a name in A-labels looks to a reader: without accents, and other scripts' letters as their twins. */
export function plainLook(name: string): string {
  const bare = uLabels(name).normalize("NFKD").replace(/\p{M}/gu, "");
  return Array.from(bare, (letter) => PLAIN_LETTERS.get(letter) ?? letter).join("");
}
