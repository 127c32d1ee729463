import type { Allowance, Purse } from "../api/shapes.ts";
import type { Column } from "../lists/list-file.ts";
import { relativeTime, nowMs, timeMs } from "../app/clock.ts";
import { t } from "../app/i18n.ts";
import { count, counted } from "../app/numbers.ts";

export interface Cost {
  readonly words: string;
  /** The server would refuse the whole of it. */
  readonly isTooMuch: boolean;
  /** With `isTooMuch`: how many entries, from the first, it would take. */
  readonly fits?: number;
}

const left = ({ used, limit }: Purse): number =>
  limit === null ? Infinity : Math.max(0, limit - used);

const fine = (words: string): Cost => ({ words, isTooMuch: false });

/** When the purse that is tighter is full again: "in 5 hours". */
function renewal({ day, month }: Allowance): string {
  const { resets_at: at } = left(day) <= left(month) ? day : month;
  return relativeTime(timeMs(at), nowMs());
}

/** The limit of one list does not lift with time; that of the day and month may hold as well, and does. */
function tooLong(most: number, rest: number, allowance: Allowance): string {
  const words = t(
    "One list has at most {n} entries in your plan, at any time. Check the others in a list of their own afterwards.",
    { n: count(most) },
  );
  if (Math.max(rest, allowance.credits) >= most) return words;
  const left = t("Your plan has {rest} checks left. It is renewed {when}.", {
    rest: count(rest),
    when: renewal(allowance),
  });
  return `${words} ${left}`;
}

/** What checking a column comes to, against what the plan has left. */
export function costOf({ unique }: Column, allowance: Allowance | undefined): Cost {
  if (unique === 0) {
    return { words: t("This column is empty. Choose another one."), isTooMuch: true };
  }
  const checks = counted(unique, "{n} check", "{n} checks");
  if (allowance === undefined) return fine(t("It costs up to {checks}.", { checks }));
  const { bulk_limit: most, credits } = allowance;
  const rest = Math.min(left(allowance.day), left(allowance.month));
  if (most !== null && unique > most) {
    return {
      words: tooLong(most, rest, allowance),
      isTooMuch: true,
      fits: Math.min(most, Math.max(rest, credits)),
    };
  }
  if (unique <= rest) {
    return fine(
      rest === Infinity
        ? t("It costs up to {checks}.", { checks })
        : t("It costs up to {checks}, of {rest} that your plan has left.", {
            checks,
            rest: count(rest),
          }),
    );
  }
  if (unique <= credits) {
    return fine(
      t("Your plan has {rest} left, so {credits} of {all} pay for it.", {
        rest: count(rest),
        credits: counted(unique, "{n} credit", "{n} credits"),
        all: count(credits),
      }),
    );
  }
  return {
    words: t("It costs up to {checks}, and your plan has {rest} left. It is renewed {when}.", {
      checks,
      rest: count(rest),
      when: renewal(allowance),
    }),
    isTooMuch: true,
    fits: Math.max(rest, credits),
  };
}
