/** Of the header; a client holds one version, or a few. */
const HELD_MAX_CHARACTERS = 1_000;

/** RFC 9110 section 13.1.2, If-None-Match: weak comparison, because a proxy may have marked the tag as weak. */
export function isHeld(held: string | undefined, etag: string): boolean {
  if (held === undefined) return false;
  const strong = (tag: string): string => tag.trim().replace(/^W\//, "");
  const tags = held.slice(0, HELD_MAX_CHARACTERS).split(",").map(strong);
  return tags.includes("*") || tags.includes(strong(etag));
}
