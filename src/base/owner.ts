import { remembered } from "./entries.ts";

export type Owner =
  | { readonly kind: "account"; readonly accountId: string }
  /** Anonymous: the exact IPv4 address or the /64 of an IPv6 address, as `accounts/admission/caller.ts` writes it. */
  | { readonly kind: "bucket"; readonly bucket: string };

/** One text for maps and columns: "account:<id>" or "bucket:<bucket>". */
export type OwnerKey = string;

// A joined text is one block; a template's is a rope, which as a key of a large map weighs twice.
export const accountKey = remembered((accountId): OwnerKey => ["account:", accountId].join(""));

export const ownerKey = (owner: Owner): OwnerKey =>
  owner.kind === "account" ? accountKey(owner.accountId) : ["bucket:", owner.bucket].join("");

export function ownerOf(key: OwnerKey): Owner {
  const rest = key.slice(key.indexOf(":") + 1);
  return key.startsWith("account:")
    ? { kind: "account", accountId: rest }
    : { kind: "bucket", bucket: rest };
}
