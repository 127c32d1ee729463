import type { OperatorLists } from "../../../core/evidence/datasets.ts";

const nothing = (): undefined => undefined;

/** An operator who has said nothing yet. */
export const noOperatorLists: OperatorLists = {
  domain: nothing,
  named: nothing,
  mailHost: nothing,
  address: nothing,
  trap: nothing,
};
