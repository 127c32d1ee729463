/**
 * Drops white space at both ends: Unicode `White_Space`, U+FEFF and U+200B. Every door of the product uses it.
 * Linear, because a regular expression would try every inner run.
 */
export function trimEntry(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start += 1;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return start === 0 && end === text.length ? text : text.slice(start, end);
}

const isSpace = (code: number): boolean =>
  code <= 0x20 ? code === 0x20 || (code >= 9 && code <= 13) : code >= 0x85 && WIDE_SPACE.has(code);

const WIDE_SPACE: ReadonlySet<number> = new Set([
  0x85,
  0xa0,
  0x1680,
  0x2028,
  0x2029,
  0x202f,
  0x205f,
  0x3000,
  0xfeff,
  0x200b,
  ...Array.from({ length: 11 }, (_, at) => 0x2000 + at),
]);
