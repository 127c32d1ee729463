import { type Feature, FEATURES } from "../core/checks/registry.ts";

type UnsupportedFeature = "smtp" | "catch_all";

export type RequestedFeature = Feature | UnsupportedFeature;

const isUnsupported = (name: string): name is UnsupportedFeature =>
  name === "smtp" || name === "catch_all";

const NAMED: ReadonlyMap<string, RequestedFeature> = new Map(
  [...FEATURES, "smtp" as const, "catch_all" as const].map((name) => [name, name]),
);

export const featureNamed = (text: string): RequestedFeature | undefined =>
  NAMED.get(text.trim().toLowerCase());

/** What `features` parameters and path suffixes ask for: each text may hold several names, parted by commas. */
export function readFeatures(texts: readonly string[]): readonly RequestedFeature[] {
  const named = texts.flatMap((text) => text.split(",")).map(featureNamed);
  return [...new Set(named)].filter((name) => name !== undefined);
}

/** The same for callers that may ask for "all": the command line, the library and the dashboard. */
export const readWanted = (texts: readonly string[]): readonly RequestedFeature[] =>
  texts.some((text) => text.trim().toLowerCase() === "all") ? FEATURES : readFeatures(texts);

export interface SortedFeatures {
  readonly permitted: readonly Feature[];
  readonly requiresUpgrade: readonly Feature[];
  readonly unsupported: readonly UnsupportedFeature[];
}

const NOTHING: SortedFeatures = { permitted: [], requiresUpgrade: [], unsupported: [] };

export function sortFeatures(
  names: readonly RequestedFeature[],
  { premium }: { readonly premium: boolean },
): SortedFeatures {
  if (names.length === 0) return NOTHING;
  const supported = names.filter((name) => !isUnsupported(name));
  return {
    permitted: premium ? supported : [],
    requiresUpgrade: premium ? [] : supported,
    unsupported: names.filter(isUnsupported),
  };
}

export interface DenialFields {
  readonly requires_upgrade?: readonly Feature[];
  readonly upgrade_url?: string;
  readonly upgrade_message?: string;
  readonly unsupported_features?: readonly UnsupportedFeature[];
  readonly temporarily_unavailable_features?: readonly Feature[];
}

/** Keys in the contract's order. `publicUrl` is the base of links, with or without a last slash. */
export function denialFields(
  { requiresUpgrade, unsupported }: SortedFeatures,
  unavailable: readonly Feature[],
  publicUrl: string,
): DenialFields {
  return {
    ...(requiresUpgrade.length === 0
      ? {}
      : {
          requires_upgrade: requiresUpgrade,
          upgrade_url: `${publicUrl.replace(/\/$/, "")}/pricing`,
          upgrade_message: upgradeMessage(requiresUpgrade),
        }),
    ...(unsupported.length === 0 ? {} : { unsupported_features: unsupported }),
    ...(unavailable.length === 0 ? {} : { temporarily_unavailable_features: unavailable }),
  };
}

function upgradeMessage(names: readonly Feature[]): string {
  const verb = names.length === 1 ? "is" : "are";
  return `${names.join(", ")} ${verb} included in the Pro plan. Upgrade to use premium checks.`;
}
