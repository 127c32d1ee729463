import { readDocument } from "../../guards/docs-tables.ts";

/** The fenced blocks of one language in a page of docs/guides. */
export function guideBlocks(guide: string, fence: string): readonly string[] {
  const text = readDocument(`docs/guides/${guide}.md`);
  const found = text.matchAll(new RegExp(`\`\`\`${fence}\n([\\s\\S]*?)\`\`\``, "g"));
  return [...found].map((match) => match[1] ?? "");
}
