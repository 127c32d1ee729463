/** The value of a JSON text; undefined where it is none. Errors of the parser would quote the text, which may hold an address. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
