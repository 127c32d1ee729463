import { PLAIN_LETTERS } from "../tables/homographs.ts";
import { uLabels } from "./u-labels.ts";

/** How a name in A-labels looks to a reader: without accents, and other scripts' letters as their twins. */
export function plainLook(name: string): string {
  const bare = uLabels(name).normalize("NFKD").replace(/\p{M}/gu, "");
  return Array.from(bare, (letter) => PLAIN_LETTERS.get(letter) ?? letter).join("");
}
