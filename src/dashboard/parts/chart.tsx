import type { HTMLAttributes, VNode } from "preact";
import { useState } from "preact/hooks";
import { t } from "../app/i18n.ts";
import { Reading, type Series } from "./chart-reading.tsx";
import { count, shortCount } from "../app/numbers.ts";

export interface ChartProps {
  /** What it shows, with its range and highest point. */
  label: string;
  /** Name of each step of the axis, for reading one: "20 November". */
  steps: readonly string[];
  /** Bars stand on each other in this order; lines do not. */
  series: readonly Series[];
  kind: "bars" | "lines";
  /** The period before, as one dashed line. */
  before?: readonly (number | null)[];
  /** Shows a figure; a count unless it says otherwise. */
  figure?: (value: number) => string;
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

const sumAt = (series: readonly Series[], at: number): number =>
  series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0);

/** Bars or lines over time. Arrow keys and the pointer read one step; a table beside it has all figures. */
export function Chart(props: ChartProps): VNode {
  const { steps, series, kind, before = [], figure = count } = props;
  const [at, setAt] = useState<number>();
  const heights = steps.map((_, step) =>
    kind === "bars"
      ? sumAt(series, step)
      : Math.max(...series.map(({ values }) => values[step] ?? 0)),
  );
  const top = topOf(Math.max(0, ...heights, ...before.map((value) => value ?? 0)));
  const marks = [top, (top * 3) / 4, top / 2, top / 4, 0];
  return (
    <div class="chart">
      <div class="chart-y" aria-hidden="true">
        {marks.map((value) => (
          <span key={value}>{Number.isInteger(value) ? shortCount(value) : ""}</span>
        ))}
      </div>
      <div class="plot" {...reading(props, at, setAt)}>
        <Plot {...props} top={top} marks={marks} at={at} />
        {at === undefined ? null : <Reading {...props} at={at} figure={figure} />}
      </div>
      <div class="chart-x" aria-hidden="true">
        {ends(steps).map((name) => (
          <span key={name}>{name}</span>
        ))}
      </div>
    </div>
  );
}

interface PlotProps extends ChartProps {
  top: number;
  marks: readonly number[];
  at: number | undefined;
}

function Plot({ steps, series, kind, before = [], top, marks, at }: PlotProps): VNode {
  return (
    <svg
      viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {marks.map((value) => (
        <line
          key={value}
          class="grid"
          x1="0"
          x2={WIDTH}
          y1={yOf(value, top)}
          y2={yOf(value, top)}
        />
      ))}
      {kind === "bars"
        ? series.map((one, index) => (
            <path key={one.name} class={one.colour} d={bars(series, index, top)} />
          ))
        : series.map((one) => (
            <path key={one.name} class={`line ${one.colour}`} d={line(one.values, top)} />
          ))}
      <path class="ghost" d={line(before, top)} />
      {at === undefined ? null : (
        <line class="cursor" x1={middle(at, steps)} x2={middle(at, steps)} y1="0" y2={HEIGHT} />
      )}
    </svg>
  );
}

/** The first, middle and last step. */
function ends(steps: readonly string[]): readonly string[] {
  const places = new Set([0, Math.floor((steps.length - 1) / 2), steps.length - 1]);
  return [...places].map((place) => steps[place] ?? "");
}

const middle = (at: number, steps: readonly string[]): number =>
  ((at + 0.5) * WIDTH) / steps.length;

const yOf = (value: number, top: number): number => HEIGHT - (value / top) * HEIGHT;

/** One path for all bars of a series, above those of the series before it. */
function bars(series: readonly Series[], index: number, top: number): string {
  const values = series[index]?.values ?? [];
  const width = WIDTH / values.length;
  const gap = Math.min(width * 0.12, 3);
  return values
    .map((value, at) => {
      if (value === null || value === 0) return "";
      const below = sumAt(series.slice(0, index), at);
      const [left, right] = [at * width + gap, (at + 1) * width - gap];
      const bottom = yOf(below, top) - (below > 0 ? 1.5 : 0);
      const upper = Math.min(bottom - 0.5, yOf(below + value, top));
      return `M${left.toFixed(1)} ${bottom.toFixed(1)}V${upper.toFixed(1)}H${right.toFixed(1)}V${bottom.toFixed(1)}z`;
    })
    .join("");
}

/** Straight lines between neighbours; a gap where there is no data. */
function line(values: readonly (number | null)[], top: number): string {
  const width = WIDTH / values.length;
  let isDown = false;
  return values
    .map((value, at) => {
      const step = isDown ? "L" : "M";
      isDown = value !== null;
      return value === null
        ? ""
        : `${step}${((at + 0.5) * width).toFixed(1)} ${yOf(value, top).toFixed(1)}`;
    })
    .join("");
}

function sentence({ steps, series, figure = count }: ChartProps, at: number): string {
  const parts = series.map(({ name, values }) => {
    const value = values[at];
    return `${name} ${value === null || value === undefined ? t("no data") : figure(value)}`;
  });
  return `${steps[at] ?? ""}: ${parts.join(", ")}`;
}

const MOVES: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 };

/** A slider over the steps: pointer and arrow keys choose one, Escape none. */
function reading(
  props: ChartProps,
  at: number | undefined,
  setAt: (at: number | undefined) => void,
): HTMLAttributes<HTMLDivElement> {
  const last = props.steps.length - 1;
  const now = at ?? last;
  return {
    role: "slider",
    tabIndex: 0,
    "aria-label": props.label,
    "aria-valuemin": 0,
    "aria-valuemax": last,
    "aria-valuenow": now,
    "aria-valuetext": sentence(props, now),
    onPointerMove: (event) => {
      const box = event.currentTarget.getBoundingClientRect();
      const place = Math.floor(((event.clientX - box.left) / box.width) * props.steps.length);
      setAt(Math.max(0, Math.min(last, place)));
    },
    onPointerLeave: () => setAt(undefined),
    onBlur: () => setAt(undefined),
    onKeyDown: (event) => {
      const move = MOVES[event.key];
      if (event.key === "Escape") setAt(undefined);
      if (event.key === "Home") setAt(0);
      if (event.key === "End") setAt(last);
      if (move === undefined) return;
      event.preventDefault();
      setAt(Math.max(0, Math.min(last, (at ?? last - Math.min(move, 0)) + move)));
    },
  };
}
