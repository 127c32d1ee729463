import { readDocument } from "../../guards/docs-tables.ts";

/** The fenced blocks of one language in a page, or below one heading of it. */
export function pageBlocks(page: string, fence: string, heading?: string): readonly string[] {
  const [, text = ""] =
    heading === undefined ? ["", ""] : readDocument(page).split(`\n${heading}\n`);
  const [section = ""] = text.split(/^## /m, 1);
  const from = heading === undefined ? readDocument(page) : section;
  const found = from.matchAll(new RegExp(`\`\`\`${fence}\n([\\s\\S]*?)\`\`\``, "g"));
  return [...found].map((match) => match[1] ?? "");
}

export const guideBlocks = (guide: string, fence: string): readonly string[] =>
  pageBlocks(`docs/guides/${guide}.md`, fence);
