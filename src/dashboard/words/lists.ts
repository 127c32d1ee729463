import { CLASS_WORDS } from "../../core/batch/class-words.ts";
import type { ListRowJson, ReadList } from "../../http/account/shapes.ts";
import type { PartWords } from "./policy.ts";

export type ShownClass = ListRowJson["class"];

const MARKS: Readonly<Record<ShownClass, readonly [PartWords["mark"], colour: string]>> = {
  good: ["yes", "yes-fill"],
  fixed: ["unsure", "accent"],
  misspelt: ["unsure", "unsure"],
  disposable: ["no", "no-fill"],
  no_mail: ["no", "no-2"],
  unsure: ["quiet", "quiet"],
  format: ["no", "accent-2"],
  unchecked: ["quiet", "line"],
  duplicate: ["quiet", "grey-1"],
  blank: ["quiet", "grey-2"],
  unread: ["unsure", "grey-3"],
};

export const CLASSES = Object.fromEntries(
  Object.entries(MARKS).map(([name, [mark, colour]]) => [
    name,
    { mark, colour, words: CLASS_WORDS[name as ShownClass] },
  ]),
) as Readonly<Record<ShownClass, PartWords>>;

export const classesIn = ({ counts }: ReadList): readonly ShownClass[] =>
  (Object.keys(CLASSES) as ShownClass[]).filter((name) => counts[name] > 0);
