/** Texts that DNS dictates (`spf_record`, `dmarc.record`, `rua`) are cut to this many UTF-16 code units. */
export const SHOWN_TEXT_MAX = 4_096;

/** `text` cut to `SHOWN_TEXT_MAX`, never inside a character. */
export function shownText(text: string): string {
  if (text.length <= SHOWN_TEXT_MAX) return text;
  const last = text.charCodeAt(SHOWN_TEXT_MAX - 1);
  const inside = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, inside ? SHOWN_TEXT_MAX - 1 : SHOWN_TEXT_MAX);
}
