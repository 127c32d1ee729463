/** Whether a text is one line that drives no terminal. */
export const isOneLine = (text: string): boolean => !/[\p{Cc}\p{Cf}\p{Cs}]/u.test(text);
