import type { Allowance, Purse } from "../api/shapes.ts";
import type { Column } from "../app/list-file.ts";
import { count, counted } from "../app/numbers.ts";

export interface Cost {
  readonly words: string;
  /** The server would refuse it. */
  readonly isTooMuch: boolean;
}

/** Octets of one list, by the API's limit. */
const LIST_MAX_OCTETS = 2_000_000;

const left = ({ used, limit }: Purse): number =>
  limit === null ? Infinity : Math.max(0, limit - used);

const no = (words: string): Cost => ({ words, isTooMuch: true });
const fine = (words: string): Cost => ({ words, isTooMuch: false });

/** What checking a column comes to, against what the plan has left. */
export function costOf({ unique, octets }: Column, allowance: Allowance | undefined): Cost {
  if (unique === 0) return no("This column is empty. Choose another one.");
  if (octets > LIST_MAX_OCTETS) {
    const parts = Math.ceil(octets / LIST_MAX_OCTETS);
    return no(
      `One list holds at most 2 MB, and this column has ${(Math.ceil(octets / 100_000) / 10).toFixed(1)} MB. Split the file into ${count(parts)} parts.`,
    );
  }
  if (allowance === undefined)
    return fine(`It costs up to ${counted(unique, "{n} check", "{n} checks")}.`);
  const { bulk_limit: most, credits } = allowance;
  if (most !== null && unique > most) {
    return no(
      `Your plan checks ${count(most)} entries in one list. Split the file, or see the plans.`,
    );
  }
  const rest = Math.min(left(allowance.day), left(allowance.month));
  if (unique <= rest) {
    const after = rest === Infinity ? "" : `, of ${count(rest)} that your plan has left`;
    return fine(`It costs up to ${counted(unique, "{n} check", "{n} checks")}${after}.`);
  }
  if (unique <= credits) {
    return fine(
      `Your plan has ${count(rest)} left, so ${counted(unique, "{n} credit", "{n} credits")} of ${count(credits)} pay for it.`,
    );
  }
  return no(
    `It costs up to ${counted(unique, "{n} check", "{n} checks")}, and your plan has ${count(rest)} left. Take a smaller list, or ask for credits.`,
  );
}
