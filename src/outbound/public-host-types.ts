export type HostStanding =
  | { readonly kind: "public" }
  /** At least one of its addresses is not public: `address`. */
  | { readonly kind: "not_public"; readonly address: string }
  | { readonly kind: "no_address" }
  | { readonly kind: "unresolved" };

/** Where a host name or a literal address (without brackets) leads, by DNS as it answers now. */
export type HostCheck = (host: string) => Promise<HostStanding>;
