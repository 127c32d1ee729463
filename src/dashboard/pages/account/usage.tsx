import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Usage, UsageDay } from "../../api/shapes.ts";
import { shortDay, shownDay } from "../../app/clock.ts";
import { useLoad } from "../../app/load.ts";
import { count, limitText } from "../../app/numbers.ts";
import { session } from "../../app/session.ts";
import { Chart } from "../../parts/chart.tsx";
import { Meter } from "../../parts/meter.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { Empty, Shown } from "../../parts/states.tsx";
import { Time } from "../../parts/time.tsx";
import { KeptOut } from "./kept-out.tsx";
import { latencyRows } from "../../words/latency.ts";

const RANGES = [7, 30, 90, 400] as const;

export function UsagePage(): VNode {
  const [days, setDays] = useState<number>(30);
  const loading = useLoad<Usage>(`usage?days=${String(days)}`);
  return (
    <>
      <PageHead title="Usage" lead="Days run from midnight to midnight, UTC.">
        <div class="seg" role="group" aria-label="Days shown">
          {RANGES.map((range) => (
            <button
              key={range}
              type="button"
              aria-pressed={range === days}
              onClick={() => setDays(range)}
            >
              {range} days
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

function Figures({ usage }: { usage: Usage }): VNode {
  const { days } = usage;
  const isEmpty = sum(days, (day) => day.requests + day.units + day.credits) === 0;
  return (
    <>
      <AllowanceSheet usage={usage} />
      {isEmpty ? (
        <section class="sheet">
          <Empty title="Nothing was used in these days">
            <p>
              Charts appear with your first check. <a href="/">Check an address</a> here, or call
              the API with a key.
            </p>
          </Empty>
        </section>
      ) : (
        <>
          <DayChart
            title="Checks"
            days={days}
            lines={[
              ["From the plan", "k-accent", (day) => day.units],
              ["By credits", "k-accent-2", (day) => day.credits],
            ]}
          />
          <DayChart
            title="Requests"
            days={days}
            lines={[
              ["Answered", "k-accent", (day) => day.requests - day.refusals],
              ["Refused", "k-no", (day) => day.refusals],
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
      <h2>Your allowance</h2>
      <div class="figures">
        <PurseFigure name="today" purse={day} />
        <PurseFigure name="this month" purse={month} />
        <div class="figure">
          <b>{count(credits)}</b>
          <span>credits, used when the plan is spent</span>
        </div>
        <div class="figure">
          <b>{limitText(rate)}</b>
          <span>{rate === null ? "on requests" : "requests a minute"}</span>
        </div>
      </div>
    </section>
  );
}

function PurseFigure({ name, purse }: { name: string; purse: Usage["allowance"]["day"] }): VNode {
  const { used, limit } = purse;
  if (limit === null) {
    return (
      <div class="figure">
        <b>{count(used)}</b>
        <span>used {name}, no limit</span>
      </div>
    );
  }
  const left = Math.max(0, limit - used);
  return (
    <div class="figure">
      <b>{count(left)}</b>
      <span>
        of {count(limit)} left {name}, renewed <Time at={purse.resets_at} />
      </span>
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
  const steps = days.map(({ date }) => shortDay(date));
  const series = lines.map(([name, colour, pick]) => ({ name, colour, values: days.map(pick) }));
  return (
    <section class="sheet stack">
      <div class="bar">
        <h2>{title}</h2>
        <span class="push" />
        {lines.map(([name, colour, pick]) => (
          <span key={name} class={`note key ${colour}`}>
            {name}: {count(sum(days, pick))}
          </span>
        ))}
      </div>
      <Chart
        label={`${title} by day; the table below has the figures`}
        steps={steps}
        series={series}
        kind="bars"
      />
      <DayTable title={title} days={days} lines={lines} />
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
      <summary>Figures by day</summary>
      <div class="scroll tall" tabIndex={0} role="region" aria-label={`${props.title} by day`}>
        <table>
          <thead>
            <tr>
              <th scope="col">Day</th>
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
  return (
    <section class="sheet">
      <h2>How long answers took</h2>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Time</th>
              <th scope="col">
                <span class="unseen">Share</span>
              </th>
              <th scope="col" class="number">
                Requests
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
