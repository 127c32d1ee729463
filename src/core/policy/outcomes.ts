export const HOOK_SYSTEMS = [
  "supabase",
  "kratos",
  "zitadel",
  "fusionauth",
  "neon",
  "standard",
] as const;
export type HookSystem = (typeof HOOK_SYSTEMS)[number];

/**
 * What the caller got. `failed_open`: something of ours failed, and the person was let through. `late`: the caller left
 * before the answer. `unread`: signed, but without an address that could be read. `unauthenticated`: a wrong signature.
 */
export const HOOK_OUTCOMES = [
  "accepted",
  "refused",
  "failed_open",
  "late",
  "unread",
  "unauthenticated",
] as const;
export type HookOutcome = (typeof HOOK_OUTCOMES)[number];

export const FEEDBACK_OUTCOMES = ["abuse", "bounce", "complaint", "fine"] as const;
export type FeedbackOutcome = (typeof FEEDBACK_OUTCOMES)[number];
