import type { RowClass } from "./row-class.ts";

export const CLASS_WORDS: Readonly<Record<RowClass, string>> = {
  good: "Good",
  fixed: "Fixed, not checked",
  misspelt: "Misspelt",
  disposable: "Disposable",
  no_mail: "No mail server",
  unsure: "Could not tell",
  format: "Bad format",
  unchecked: "Not checked",
  duplicate: "Repeated",
  blank: "Empty",
  unread: "Not read",
};
