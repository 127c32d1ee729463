/** `text` inside a LIKE pattern that says `escape '\\'`, standing for itself. */
export const literally = (text: string): string =>
  text.replaceAll(/[\\%_]/g, (sign) => `\\${sign}`);
