import type { Credentials } from "./admission.ts";

/** What a request says about its key. */
export type Presented =
  | { readonly kind: "none" }
  /** To be looked up; nothing is known about it yet. */
  | { readonly kind: "key"; readonly key: string }
  /** Empty, or several that differ. */
  | { readonly kind: "invalid" };

const NONE: Presented = { kind: "none" };
const INVALID: Presented = { kind: "invalid" };

/** The scheme is a token of any case, blanks follow it (RFC 9110 section 11.4). */
const BEARER = /^bearer(?:[ \t]+|$)/i;

function agreed(values: readonly string[]): Presented {
  const [first = ""] = values;
  const key = first.trim();
  if (key === "") return INVALID;
  // The same key twice comes from a clumsy proxy; two different keys identify no caller.
  for (let at = 1; at < values.length; at += 1) if (values[at]?.trim() !== key) return INVALID;
  return { kind: "key", key };
}

/**
 * The key of a request. X-Api-Key, sent at all, wins over Authorization; of that only Bearer is ours, and
 * other schemes mean that there is no key.
 */
export function presentedKey({ apiKey, authorization }: Credentials): Presented {
  if (apiKey.length > 0) return agreed(apiKey);
  if (authorization.length === 0) return NONE;
  const bearers = authorization.map((value) => value.trim()).filter((value) => BEARER.test(value));
  if (bearers.length === 0) return NONE;
  return agreed(bearers.map((value) => value.replace(BEARER, "")));
}
