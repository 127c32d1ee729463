/** RFC 9110 section 13.1.2, If-None-Match: weak comparison, because a proxy may have marked the tag as weak. */
export function isHeld(held: string | undefined, etag: string): boolean {
  if (held === undefined) return false;
  const strong = (tag: string): string => tag.trim().replace(/^W\//, "");
  const tags = held.split(",").map(strong);
  return tags.includes("*") || tags.includes(strong(etag));
}
