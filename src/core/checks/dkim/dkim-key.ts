import { parseTagList } from "../tag-list.ts";

/** What a TXT record at a selector is. `revoked`: the owner took the key back (RFC 6376 section 3.6.1, p=). */
export type KeyState = "key" | "revoked" | "none";

/** RFC 6376 section 3.6.1 and RFC 8463; keys of another type are of no use to a receiver. */
const KEY_TYPES: ReadonlySet<string> = new Set(["rsa", "ed25519"]);

/** Base64 with folding white space; its padding is not checked. */
const BASE64 = /^[A-Za-z0-9+/ \t\r\n]+={0,2}$/;

/** Reads any text as a DKIM key record (RFC 6376 section 3.6.1). Never throws; linear in its length. */
export function readKey(text: string): KeyState {
  const { tags, first, wellFormed } = parseTagList(text);
  const key = tags.get("p");
  if (!wellFormed || key === undefined || !isVersion(tags.get("v"), first)) return "none";
  if (!KEY_TYPES.has(tags.get("k") ?? "rsa") || !servesEmail(tags.get("s") ?? "*")) return "none";
  if (key === "") return "revoked";
  return BASE64.test(key) ? "key" : "none";
}

/** "If specified, this tag MUST be set to DKIM1" and stand first (RFC 6376 section 3.6.1). */
function isVersion(version: string | undefined, first: string | undefined): boolean {
  return version === undefined || (version === "DKIM1" && first === "v");
}

/** A list parted by colons; "*" is every service, other words than "email" are services of others. */
function servesEmail(services: string): boolean {
  return services.split(":").some((service) => /^(?:\*|email)$/i.test(service.trim()));
}
