import type { Rules } from "../../core/evidence/datasets.ts";

const nothing = (): undefined => undefined;

/** An operator who has said nothing yet. */
export const noRules: Rules = {
  domain: nothing,
  named: nothing,
  mailHost: nothing,
  address: nothing,
  trap: nothing,
  names: () => [],
  isFeedOff: () => false,
};
