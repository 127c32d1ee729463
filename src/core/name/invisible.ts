/**
 * Characters that nobody sees: Unicode's default-ignorable and format characters (zero-width, soft hyphen, variation
 * selectors, fillers), the blank Braille pattern, and code points without a character.
 */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cn}\u2800]/u;

/** Whether `text` holds a character that two look-alike entries can differ by. */
export const hasInvisible = (text: string): boolean => INVISIBLE.test(text);
