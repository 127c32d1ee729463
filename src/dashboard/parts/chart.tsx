import type { VNode } from "preact";
import { count, shortCount } from "../lib/format.ts";
import { Table } from "./basic.tsx";

export interface Series {
  readonly name: string;
  readonly values: readonly number[];
  /** The class of its colour: `k-no`, `k-accent`, ... */
  readonly colour: string;
}

interface ChartProps {
  /** What it shows, with its range. */
  label: string;
  /** What a step is: "Day", "Hour". */
  step: string;
  /** Name of each step of the axis: "20 November". */
  steps: readonly string[];
  /** Bars stand on each other in this order. */
  series: readonly Series[];
  /** The period before, as one dashed line; its name for the legend. */
  before?: { readonly name: string; readonly values: readonly number[] } | undefined;
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

const total = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

const sumAt = (series: readonly Series[], at: number): number =>
  total(series.map(({ values }) => values[at] ?? 0));

/** Bars over time with their legend; a table below has all figures. One step alone has no bar. */
export function Chart({ label, step, steps, series, before }: ChartProps): VNode {
  const heights = steps.map((_, place) => sumAt(series, place));
  const top = topOf(Math.max(0, ...heights, ...(before?.values ?? [])));
  const marks = [top, (top * 3) / 4, top / 2, top / 4, 0];
  const table = steps.map((name, place) => [
    name,
    ...series.map(({ values }) => count(values[place] ?? 0)),
  ]);
  const highest = heights.indexOf(Math.max(...heights));
  const legend = (
    <div class="keys">
      {series.map(({ name, colour, values }) => (
        <span key={name} class={`key ${colour}`}>
          {name} {count(total(values))}
        </span>
      ))}
      {before === undefined ? null : <span class="key dashed">{before.name}</span>}
    </div>
  );
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
          {marks.map((value) => (
            <span key={value}>{Number.isInteger(value) ? shortCount(value) : ""}</span>
          ))}
        </div>
        <Plot {...{ series, top, marks }} ghost={before?.values ?? []} />
        <div class="chart-x">
          {ends(steps).map((name) => (
            <span key={name}>{name}</span>
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
          rows={table.toReversed()}
        />
      </details>
    </>
  );
}

function Plot(props: {
  series: readonly Series[];
  top: number;
  marks: readonly number[];
  ghost: readonly number[];
}): VNode {
  const { series, top, marks, ghost } = props;
  const view = `0 0 ${String(WIDTH)} ${String(HEIGHT)}`;
  return (
    <svg class="plot" viewBox={view} preserveAspectRatio="none">
      {marks.map((value) => (
        <path key={value} class="grid" d={`M0 ${String(yOf(value, top))}H${String(WIDTH)}`} />
      ))}
      {series.map((one, index) => (
        <path key={one.name} class={one.colour} d={bars(series, index, top)} />
      ))}
      <path class="ghost" d={line(ghost, top)} />
    </svg>
  );
}

/** The first, middle and last step. */
function ends(steps: readonly string[]): readonly string[] {
  const places = new Set([0, Math.floor((steps.length - 1) / 2), steps.length - 1]);
  return [...places].map((place) => steps[place] ?? "");
}

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

/** Straight lines between neighbours. */
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

export interface Steps {
  readonly names: readonly string[];
  readonly step: "Day" | "Week";
  /** One figure a bar. */
  readonly sums: (values: readonly number[]) => readonly number[];
}

/** The bars for named days, oldest first: days, or weeks of which the last ends today. */
export function stepsOf(days: readonly string[]): Steps {
  if (days.length <= BARS_MAX) return { names: days, step: "Day", sums: (values) => values };
  const starts = Array.from({ length: Math.ceil(days.length / WEEK) }, (_, at) =>
    Math.max(0, days.length - (at + 1) * WEEK),
  ).reverse();
  return {
    names: starts.map((start) => `week from ${days[start] ?? ""}`),
    step: "Week",
    sums: (values) =>
      starts.map((start, at) => total(values.slice(start, starts[at + 1] ?? days.length))),
  };
}
