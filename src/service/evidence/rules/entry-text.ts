/** Whether a text is one line that drives no terminal. */
export const isOneLine = (text: string): boolean => !/[\p{Cc}\p{Cf}\p{Cs}]/u.test(text);

/** Free text without the local parts of addresses in it, which are kept nowhere in clear. */
export const withoutLocalParts = (text: string): string =>
  text.replace(/[^\s"'<>()[\],:;@]+@/g, "***@");
