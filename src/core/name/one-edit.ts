export function isOneEdit(a: string, b: string): boolean {
  if (a.length > b.length) return isOneEdit(b, a);
  let start = 0;
  while (start < a.length && a.charCodeAt(start) === b.charCodeAt(start)) start += 1;
  if (a.length < b.length) return a.slice(start) === b.slice(start + 1);
  if (start === a.length) return false; // the same name
  if (a.slice(start + 1) === b.slice(start + 1)) return true;
  const swapped = a.charAt(start + 1) + a.charAt(start) === b.slice(start, start + 2);
  return swapped && a.slice(start + 2) === b.slice(start + 2);
}
