import { decodePercent } from "./target.ts";

/**
 * The one entry of a raw form value. Form encoders write a blank as "+", and many clients send addresses unencoded:
 * up to the last at sign ("@" or "%40") "+" is a plus sign, after it a blank; in a domain it is always a blank.
 * "%2B" is always a plus sign and "%20" always a blank. A value of `either` kind without an at sign is a domain.
 */
export function singleText(raw: string, kind: "address" | "domain" | "either"): string {
  if (!raw.includes("+")) return decodePercent(raw);
  const at = Math.max(raw.lastIndexOf("@"), raw.lastIndexOf("%40"));
  if (at < 0 && kind === "address") return decodePercent(raw);
  const start = kind === "domain" ? 0 : Math.max(at, 0);
  return decodePercent(raw.slice(0, start) + raw.slice(start).replaceAll("+", " "));
}
