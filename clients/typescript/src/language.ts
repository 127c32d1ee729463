const HEADER_MAX = 1_000;

/** The language that a person likes best: of a tag, or of a whole Accept-Language header (RFC 9110 section 12.5.4). */
export function languageOf(header: unknown): string | undefined {
  if (typeof header !== "string") return undefined;
  let best: string | undefined;
  let weight = 0;
  for (const part of header.slice(0, HEADER_MAX).split(",", 20)) {
    const [words = "", ...rest] = part.split(";").map((each) => each.trim());
    const tag = words.replaceAll("_", "-");
    const q = Number(rest.find((each) => /^q=/i.test(each))?.slice(2) ?? 1);
    if (q > weight && /^[a-z]{2,8}(?:-[a-z0-9]{1,8})*$/i.test(tag)) [best, weight] = [tag, q];
  }
  return best;
}
