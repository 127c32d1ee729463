import type { VNode } from "preact";
import type { Allowance, Purse } from "../api/shapes.ts";
import { nowMs, relativeTime, timeMs } from "../app/clock.ts";
import { count, counted } from "../app/numbers.ts";
import { allowance } from "../app/session.ts";
import { tierName } from "../words/tiers.ts";
import { plural, t, tx } from "../app/i18n.ts";
import { Meter } from "../parts/meter.tsx";

/** What is left of the plan, at the foot of the rail. */
export function AllowanceBox(): VNode | null {
  const known = allowance.value;
  if (known === undefined) return null;
  return (
    <div class="allow">
      <Left allowance={known} />
      <div>
        {tierName(known.tier)} · <a href="/pricing">{t("see plans")}</a>
      </div>
    </div>
  );
}

const left = ({ used, limit }: Purse): number => Math.max(0, (limit ?? 0) - used);

/** The purse that runs dry first. */
function tightest({ day, month }: Allowance): readonly [Purse, string] | undefined {
  const purses = [
    [day, "{left} of {limit} checks left today"],
    [month, "{left} of {limit} checks left this month"],
  ] as const;
  return purses.filter(([{ limit }]) => limit !== null).sort(([a], [b]) => left(a) - left(b))[0];
}

function Left({ allowance: known }: { allowance: Allowance }): VNode {
  const found = tightest(known);
  if (found === undefined) {
    return (
      <div>
        {tx(
          plural(
            known.day.used,
            "{n} check today, no daily limit",
            "{n} checks today, no daily limit",
          ),
          {
            n: <b>{count(known.day.used)}</b>,
          },
        )}
      </div>
    );
  }
  const [purse, words] = found;
  const limit = purse.limit ?? 0;
  return (
    <>
      <div>{tx(words, { left: <b>{count(left(purse))}</b>, limit: count(limit) })}</div>
      {left(purse) === 0 ? (
        <div>
          {t("It is renewed {when}.", { when: relativeTime(timeMs(purse.resets_at), nowMs()) })}
        </div>
      ) : null}
      <Meter share={limit === 0 ? 0 : left(purse) / limit} />
      {known.credits > 0 ? (
        <div>
          {t("and {credits}", { credits: counted(known.credits, "{n} credit", "{n} credits") })}
        </div>
      ) : null}
    </>
  );
}
