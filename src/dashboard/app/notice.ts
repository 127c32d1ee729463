import { signal } from "@preact/signals";

/** One sentence above the page, with where it leads; closed by its reader or by the page that it leads to. */
export const notice = signal<{ readonly words: string; readonly href: string } | undefined>(
  undefined,
);
