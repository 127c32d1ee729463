import { toUnicode } from "tr46";

/** A name in A-labels as a person reads it: "bücher.example". */
export const uLabels = (name: string): string =>
  name.includes("xn--") ? toUnicode(name).domain : name;
