import type { VNode } from "preact";
import { count, shortCount, shortDay } from "../lib/format.ts";
import { ink, Meter, Table } from "./basic.tsx";

export const sumOf = <Row,>(rows: readonly Row[], pick: (row: Row) => number): number =>
  rows.reduce((total, row) => total + pick(row), 0);

/** A series of bars: its name, the token of its colour, and its figure of a row. */
export type ChartLine<Row> = readonly [name: string, colour: string, pick: (row: Row) => number];

interface ChartProps<Row> {
  what: string;
  /** As YYYY-MM-DD, oldest first, with a row each. */
  days: readonly string[];
  rows: readonly Row[];
  /** Of today, shown where there is no other day. */
  hours?: readonly Row[];
  /** Their bars stand on each other in this order. */
  lines: readonly ChartLine<Row>[];
  /** The period before, as one dashed line; its name for the legend. */
  before?: { readonly name: string; readonly values: readonly number[] };
}

interface Series {
  readonly name: string;
  readonly colour: string;
  readonly values: readonly number[];
}

/** Units of the plot, which stretches to its box. */
const WIDTH = 1_000;
const HEIGHT = 200;

/** A round number of at least `most`, with up to four equal steps. */
function topOf(most: number): number {
  const size = 10 ** Math.floor(Math.log10(Math.max(most, 1)));
  const factor = [1, 2, 4, 5, 8, 10].find((candidate) => candidate * size >= most) ?? 10;
  return Math.max(4, factor * size);
}

const total = (values: readonly number[]): number => sumOf(values, (value) => value);

const sumAt = (series: readonly Series[], at: number): number =>
  sumOf(series, ({ values }) => values[at] ?? 0);

/** Bars by day or week with their legend, by the hour on a first day; a table below has all figures. */
export function Chart<Row>(props: ChartProps<Row>): VNode {
  const { what, rows, hours = [], lines, before } = props;
  const days = stepsOf(props.days.map(shortDay));
  const isFirst = rows.length < 2 && hours.length > 0;
  const step = isFirst ? "Hour" : days.step;
  const steps = isFirst ? hours.map((_, hour) => `${String(hour)}:00 UTC`) : days.names;
  const series = lines.map(([name, colour, pick]) => {
    return { name, colour, values: isFirst ? hours.map(pick) : days.sums(rows.map(pick)) };
  });
  const ghost = before === undefined ? [] : days.sums(before.values);
  const heights = steps.map((_, place) => sumAt(series, place));
  const top = topOf(Math.max(0, ...heights, ...ghost));
  const highest = heights.indexOf(Math.max(...heights));
  const label = `${what} by ${step.toLowerCase()}`;
  const ends = [...new Set([0, Math.floor((steps.length - 1) / 2), steps.length - 1])];
  const legend = legendOf(series, before?.name);
  // One step alone has no bar.
  if (steps.length < 2) return legend;
  return (
    <>
      {legend}
      <div
        class="chart"
        role="img"
        aria-label={`${label}, ${steps[0] ?? ""} to ${steps.at(-1) ?? ""}, highest ${steps[highest] ?? ""}: ${count(heights[highest] ?? 0)}`}
      >
        <div class="chart-y">
          {QUARTERS.map((part) => (
            <span key={part}>{Number.isInteger(part * top) ? shortCount(part * top) : ""}</span>
          ))}
        </div>
        {plot(series, ghost, top)}
        <div class="chart-x">
          {ends.map((place) => (
            <span key={place}>{steps[place]}</span>
          ))}
        </div>
      </div>
      <details>
        <summary>Figures by {step.toLowerCase()}</summary>
        <Table
          tall
          label={label}
          head={[step, ...series.map(({ name }) => name)]}
          numbers={series.map((_, place) => place + 1)}
          rows={steps
            .map((name, at) => [name, ...series.map(({ values }) => count(values[at] ?? 0))])
            .toReversed()}
        />
      </details>
    </>
  );
}

const legendOf = (series: readonly Series[], before: string | undefined): VNode => (
  <div class="keys">
    {series.map(({ name, colour, values }) => (
      <span key={name} class="key" style={ink(colour)}>
        {name} {count(total(values))}
      </span>
    ))}
    {before === undefined ? null : <span class="key dashed">{before}</span>}
  </div>
);

const QUARTERS = [1, 0.75, 0.5, 0.25, 0];

const plot = (series: readonly Series[], ghost: readonly number[], top: number): VNode => (
  <svg class="plot" viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`} preserveAspectRatio="none">
    {QUARTERS.map((part) => (
      <path key={part} class="grid" d={`M0 ${String(part * HEIGHT)}H${String(WIDTH)}`} />
    ))}
    {series.map((one, index) => (
      <path key={one.name} style={ink(one.colour)} d={bars(series, index, top)} />
    ))}
    <path class="ghost" d={line(ghost, top)} />
  </svg>
);

const yOf = (value: number, top: number): number => HEIGHT - (value / top) * HEIGHT;

/** One path for all bars of a series, above those of the series before it. */
function bars(series: readonly Series[], index: number, top: number): string {
  const values = series[index]?.values ?? [];
  const width = WIDTH / values.length;
  const gap = Math.min(width * 0.12, 3);
  return values
    .map((value, at) => {
      if (value === 0) return "";
      const below = sumAt(series.slice(0, index), at);
      const [left, right] = [at * width + gap, (at + 1) * width - gap];
      const bottom = yOf(below, top) - (below > 0 ? 1.5 : 0);
      const upper = Math.min(bottom - 0.5, yOf(below + value, top));
      return `M${left.toFixed(1)} ${bottom.toFixed(1)}V${upper.toFixed(1)}H${right.toFixed(1)}V${bottom.toFixed(1)}z`;
    })
    .join("");
}

const line = (values: readonly number[], top: number): string =>
  values
    .map((value, at) => {
      const x = ((at + 0.5) * WIDTH) / values.length;
      return `${at === 0 ? "M" : "L"}${x.toFixed(1)} ${yOf(value, top).toFixed(1)}`;
    })
    .join("");

/** More bars than this become weeks. */
const BARS_MAX = 90;
const WEEK = 7;

/** The bars for named days, oldest first: days, or weeks of which the last ends today. */
function stepsOf(days: readonly string[]) {
  const isByDay = days.length <= BARS_MAX;
  const size = isByDay ? 1 : WEEK;
  const starts = days
    .map((_, at) => at)
    .filter((at) => (days.length - at) % size === 0 || at === 0);
  return {
    names: starts.map((at) => (isByDay ? days[at] : `week from ${days[at] ?? ""}`) ?? ""),
    step: isByDay ? "Day" : "Week",
    /** One figure a bar. */
    sums: (values: readonly number[]) =>
      starts.map((at, bar) => total(values.slice(at, starts[bar + 1] ?? days.length))),
  };
}

export type Part = readonly [name: string, colour: string, many: number];

export function Split({ parts, label }: { parts: readonly Part[]; label?: string }): VNode {
  const words = parts.map(([name, , many]) => `${name} ${count(many)}`).join(", ");
  return (
    <div class="split" role="img" aria-label={label === undefined ? words : `${label}: ${words}`}>
      {parts.map(([name, colour, many]) =>
        many === 0 ? null : (
          <i key={name} style={{ ...ink(colour), flex: `${String(many)} 1 0` }} />
        ),
      )}
    </div>
  );
}

/** The same with its legend; `see` leads from a part to what it has, `share` tells its per cent. */
export const SplitWithLegend = (props: {
  parts: readonly Part[];
  see?: (at: number) => void;
  share?: (many: number) => string;
}): VNode => (
  <>
    <Split parts={props.parts} />
    <ul class="list-legend">
      {props.parts.map(([name, colour, many], at) => (
        <li key={name}>
          <b>{count(many)}</b>
          {props.see === undefined ? (
            <span class="key" style={ink(colour)}>
              {name}
            </span>
          ) : (
            <button
              type="button"
              class="link key"
              style={ink(colour)}
              onClick={() => props.see?.(at)}
            >
              {name}
            </button>
          )}{" "}
          <span>{props.share?.(many)}</span>
        </li>
      ))}
    </ul>
  </>
);

/** A share of the most as a line, with its figure. */
export const Share = (props: { share: number; words: string; colour?: string }): VNode => (
  <>
    <span class="share" style={ink(props.colour ?? "accent")}>
      <Meter share={props.share} />
    </span>
    <span class="note">{props.words}</span>
  </>
);
