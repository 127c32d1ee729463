import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Usage, UsageDay } from "../../api/shapes.ts";
import { shownDay } from "../../app/clock.ts";
import { useLoad } from "../../app/load.ts";
import { count, duration, limitText } from "../../app/numbers.ts";
import { createdDay, session } from "../../app/session.ts";
import { Chart } from "../../parts/chart.tsx";
import { Meter } from "../../parts/meter.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { Empty, Shown } from "../../parts/states.tsx";
import { Time } from "../../parts/time.tsx";
import { KeptOut } from "./kept-out.tsx";
import { t, tx } from "../../app/i18n.ts";
import { latencyRows, quantile } from "../../words/latency.ts";
import { daysBefore, stepsOf } from "../../words/steps.ts";

const RANGES = [7, 30, 90, 400] as const;

export function UsagePage(): VNode {
  const [days, setDays] = useState<number>(30);
  const loading = useLoad<Usage>(`usage?days=${String(days)}`);
  return (
    <>
      <PageHead title={t("Usage")} lead={t("Days run from midnight to midnight, UTC.")}>
        <div class="seg" role="group" aria-label={t("Days shown")}>
          {RANGES.map((range) => (
            <button
              key={range}
              type="button"
              aria-pressed={range === days}
              onClick={() => setDays(range)}
            >
              {t("{n} days", { n: range })}
            </button>
          ))}
        </div>
      </PageHead>
      {session.value?.parts.includes("gate") === true ? <KeptOut days={days} /> : null}
      <Shown loading={loading} lines={8}>
        {(usage) => <Figures usage={usage} />}
      </Shown>
    </>
  );
}

const sum = (days: readonly UsageDay[], pick: (day: UsageDay) => number): number =>
  days.reduce((total, day) => total + pick(day), 0);

const isUsed = ({ requests, units, credits }: UsageDay): boolean => requests + units + credits > 0;

function Figures({ usage }: { usage: Usage }): VNode {
  const known = usage.days.map((day) => ({ date: day.date, isUsed: isUsed(day) }));
  const days = usage.days.slice(daysBefore(createdDay(), known));
  const isEmpty = !days.some(isUsed);
  return (
    <>
      <AllowanceSheet usage={usage} />
      {isEmpty ? (
        <section class="sheet">
          <Empty title={t("Nothing was used in these days")}>
            <p>
              {tx("Charts appear with your first check. {link} here, or call the API with a key.", {
                link: <a href="/">{t("Check an address")}</a>,
              })}
            </p>
          </Empty>
        </section>
      ) : (
        <>
          <DayChart
            title={t("Checks")}
            days={days}
            lines={[
              [t("From the plan"), "k-accent", (day) => day.units],
              [t("By credits"), "k-accent-2", (day) => day.credits],
            ]}
          />
          <DayChart
            title={t("Requests")}
            days={days}
            lines={[
              [t("Answered"), "k-accent", (day) => day.requests - day.refusals],
              [t("Refused"), "k-no", (day) => day.refusals],
            ]}
          />
          <Latency usage={usage} />
        </>
      )}
    </>
  );
}

function AllowanceSheet({ usage }: { usage: Usage }): VNode {
  const { day, month, credits, rate_per_minute: rate } = usage.allowance;
  return (
    <section class="sheet">
      <h2>{t("Your allowance")}</h2>
      <div class="figures">
        <PurseFigure
          words="of {limit} left today, renewed {time}"
          unlimited={t("used today, no limit")}
          purse={day}
        />
        <PurseFigure
          words="of {limit} left this month, renewed {time}"
          unlimited={t("used this month, no limit")}
          purse={month}
        />
        <div class="figure">
          <b>{count(credits)}</b>
          <span>{t("credits, used when the plan is spent")}</span>
        </div>
        <div class="figure">
          <b>{limitText(rate)}</b>
          <span>{rate === null ? t("on requests") : t("requests a minute")}</span>
        </div>
      </div>
    </section>
  );
}

function PurseFigure(props: {
  words: string;
  unlimited: string;
  purse: Usage["allowance"]["day"];
}): VNode {
  const { words, unlimited, purse } = props;
  const { used, limit } = purse;
  if (limit === null) {
    return (
      <div class="figure">
        <b>{count(used)}</b>
        <span>{unlimited}</span>
      </div>
    );
  }
  const left = Math.max(0, limit - used);
  return (
    <div class="figure">
      <b>{count(left)}</b>
      <span>{tx(words, { limit: count(limit), time: <Time at={purse.resets_at} /> })}</span>
      <Meter share={limit === 0 ? 0 : left / limit} />
    </div>
  );
}

type Line = readonly [name: string, colour: string, pick: (day: UsageDay) => number];

function DayChart(props: {
  title: string;
  days: readonly UsageDay[];
  lines: readonly Line[];
}): VNode {
  const { title, days, lines } = props;
  const steps = stepsOf(days.map(({ date }) => date));
  const series = lines.map(([name, colour, pick]) => ({
    name,
    colour,
    values: steps.sums(days.map(pick)),
  }));
  return (
    <section class="sheet stack">
      <div class="bar">
        <h2>{title}</h2>
        <span class="push" />
        {lines.map(([name, colour, pick]) => (
          <span key={name} class={`note key ${colour}`}>
            {t("{name}: {value}", { name, value: count(sum(days, pick)) })}
          </span>
        ))}
      </div>
      {days.length < 2 ? (
        <p class="note">{t("This account has one day so far. The chart begins tomorrow.")}</p>
      ) : (
        <>
          <Chart
            label={t(
              steps.isWeekly
                ? "{title} by week; the table below has the figures by day"
                : "{title} by day; the table below has the figures",
              { title },
            )}
            steps={steps.names}
            series={series}
            kind="bars"
          />
          <DayTable title={title} days={days} lines={lines} />
        </>
      )}
    </section>
  );
}

function DayTable(props: {
  title: string;
  days: readonly UsageDay[];
  lines: readonly Line[];
}): VNode {
  const { days, lines } = props;
  return (
    <details>
      <summary>{t("Figures by day")}</summary>
      <div
        class="scroll tall"
        tabIndex={0}
        role="region"
        aria-label={t("{title} by day", { title: props.title })}
      >
        <table>
          <thead>
            <tr>
              <th scope="col">{t("Day")}</th>
              {lines.map(([name]) => (
                <th key={name} scope="col" class="number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {[...days].reverse().map((day) => (
              <tr key={day.date}>
                <th scope="row">{shownDay(day.date)}</th>
                {lines.map(([name, , pick]) => (
                  <td key={name} class="number">
                    {count(pick(day))}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

function Latency({ usage }: { usage: Usage }): VNode {
  const rows = latencyRows(usage);
  const latency = usage.days.map((day) => day.latency);
  return (
    <section class="sheet">
      <h2>{t("How long answers took")}</h2>
      <p class="prose">
        {[
          [t("half of the answers within"), 0.5] as const,
          [t("95 of 100 within"), 0.95] as const,
        ].map(([words, share]) => {
          const ms = quantile(latency, usage.latency_edges_ms, share);
          return (
            <span key={share} class="whole">
              {words} <b>{ms === undefined ? "–" : duration(ms)}</b>{" "}
            </span>
          );
        })}
      </p>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">{t("Time")}</th>
              <th scope="col">
                <span class="unseen">{t("Share")}</span>
              </th>
              <th scope="col" class="number">
                {t("Requests")}
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, requests, share }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td class="wide">
                  <Meter share={share} />
                </td>
                <td class="number">{count(requests)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
