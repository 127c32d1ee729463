import type { VNode } from "preact";
import { shortDay } from "../../app/clock.ts";
import { t } from "../../app/i18n.ts";
import { count } from "../../app/numbers.ts";
import { Chart } from "../../parts/chart.tsx";

interface DayOfRequests {
  readonly date: string;
  readonly requests: number;
  readonly refusals: number;
}

/** Figures with their names, then the requests of each day: of one account or of the whole server. */
export function UsageFigures(props: {
  figures: readonly (readonly [name: string, value: string])[];
  days: readonly DayOfRequests[];
}): VNode {
  const { figures, days } = props;
  const requests = days.reduce((all, day) => all + day.requests, 0);
  return (
    <>
      <dl class="cells">
        {figures.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <section class="sheet stack">
        <h2>{t("Requests by day")}</h2>
        <Chart
          kind="bars"
          label={t("Requests by day, {n} in all", { n: count(requests) })}
          steps={days.map(({ date }) => shortDay(date))}
          series={[
            {
              name: t("Answered"),
              colour: "k-accent",
              values: days.map((day) => day.requests - day.refusals),
            },
            { name: t("Refused"), colour: "k-no", values: days.map(({ refusals }) => refusals) },
          ]}
        />
      </section>
    </>
  );
}
