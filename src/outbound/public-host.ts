import { type DialDeps, checkedAddresses, withDeadline } from "./dial.ts";

export type HostStanding =
  | { readonly kind: "public" }
  /** At least one of its addresses is not public: `address`. */
  | { readonly kind: "not_public"; readonly address: string }
  | { readonly kind: "no_address" }
  | { readonly kind: "unresolved" };

/** Where a host name or a literal address (without brackets) leads, by DNS as it answers now. */
export type PublicHostCheck = (host: string) => Promise<HostStanding>;

const RESOLVE_MS = 5_000;

export function createHostCheck(deps: Pick<DialDeps, "addresses" | "clock">): PublicHostCheck {
  return async (host) => {
    const guarded = { ...deps, allowed: [] };
    const result = await withDeadline(RESOLVE_MS, deps.clock, (signal) =>
      checkedAddresses(host, guarded, signal),
    );
    if (result.ok) return { kind: "public" };
    if (result.fault === "not_public") return { kind: "not_public", address: result.detail ?? "" };
    return { kind: result.fault === "no_address" ? "no_address" : "unresolved" };
  };
}
