/**
 * Invisible characters: Unicode's default-ignorable and format characters (zero-width, soft hyphen, variation
 * selectors, fillers), the blank Braille pattern, and code points without a character.
 */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cn}\u2800]/u;

/** Whether `text` has a character by which two entries can differ and look the same. */
export const hasInvisible = (text: string): boolean => INVISIBLE.test(text);

/** `text` without them. */
export const withoutInvisible = (text: string): string => text.replace(ALL_INVISIBLE, "");

const ALL_INVISIBLE = new RegExp(INVISIBLE, "gu");
