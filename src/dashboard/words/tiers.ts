import { t } from "../app/i18n.ts";

const NAMES: Readonly<Record<string, string>> = {
  anonymous: "No account",
  free: "Free",
  new_free: "Free, first 24 hours",
  starter: "Starter",
  pro: "Pro",
};

/** A plan's name for people; one that the operator made up stays as it is. */
export const tierName = (tier: string): string =>
  Object.hasOwn(NAMES, tier) ? t(NAMES[tier] ?? tier) : tier;
