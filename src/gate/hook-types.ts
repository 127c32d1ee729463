export const HOOK_SYSTEMS = [
  "supabase",
  "kratos",
  "zitadel",
  "fusionauth",
  "neon",
  "standard",
] as const;
export type HookSystem = (typeof HOOK_SYSTEMS)[number];

/** `failed_open`: something of ours failed, and the person was let through. `unauthenticated`: a wrong signature. */
export const HOOK_OUTCOMES = ["accepted", "refused", "failed_open", "unauthenticated"] as const;
export type HookOutcome = (typeof HOOK_OUTCOMES)[number];
