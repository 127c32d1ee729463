import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { dateOf, dayLabel } from "../app/clock.ts";
import { theme } from "../app/theme.ts";

export interface Series {
  readonly name: string;
  readonly values: readonly number[];
  /** A colour of the tokens: "--accent". */
  readonly colour: string;
}

export interface ChartProps {
  /** What it shows; the table beside it has the figures. */
  label: string;
  /** Midnights in UTC, in seconds since the Unix epoch. */
  daysSeconds: readonly number[];
  series: readonly Series[];
}

const HEIGHT_PX = 220;
const HALF_DAY_SECONDS = 43_200;
const token = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Colours as the page shows them now: a canvas knows no `light-dark()`. */
function resolved(name: string): string {
  const probe = document.createElement("i");
  probe.style.setProperty("forced-color-adjust", "none"); // else every series would be one colour
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function optionsOf({ series }: ChartProps, width: number): uPlot.Options {
  const axis = {
    stroke: resolved("--ink-2"),
    grid: { stroke: resolved("--line"), width: 1 },
    ticks: { show: false },
    font: `12px ${token("--sans")}`,
  };
  const bars = uPlot.paths.bars?.({ size: [0.7, 24], radius: 0.15 });
  return {
    width,
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { show: false },
    tzDate: (seconds) => uPlot.tzDate(dateOf(seconds), "Etc/UTC"),
    scales: {
      x: { range: (_chart, min, max) => [min - HALF_DAY_SECONDS, max + HALF_DAY_SECONDS] },
      y: { range: (_chart, _min, max) => [0, Math.max(4, max * 1.08)] },
    },
    axes: [
      {
        ...axis,
        size: 32,
        grid: { show: false },
        values: (_chart, splits) => splits.map(dayLabel),
      },
      { ...axis, size: 56, values: (_chart, splits) => splits.map(shortCount) },
    ],
    series: [
      {},
      ...series.map(({ name, colour }) => ({
        label: name,
        fill: resolved(colour),
        stroke: resolved(colour),
        width: 0,
        points: { show: false },
        ...(bars === undefined ? {} : { paths: bars }),
      })),
    ],
  };
}

const COMPACT = new Intl.NumberFormat("en", { notation: "compact" });
const shortCount = (value: number): string => (value % 1 === 0 ? COMPACT.format(value) : "");

/** Bars by day. Later series stand in front of earlier ones. Decoration for the table that goes with it. */
export function Chart(props: ChartProps): VNode {
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { current } = frame;
    if (current === null) return undefined;
    const data = [[...props.daysSeconds], ...props.series.map(({ values }) => [...values])];
    const chart = new uPlot(
      optionsOf(props, current.clientWidth),
      data as uPlot.AlignedData,
      current,
    );
    const watch = new ResizeObserver(() =>
      chart.setSize({ width: current.clientWidth, height: HEIGHT_PX }),
    );
    watch.observe(current);
    return () => {
      watch.disconnect();
      chart.destroy();
    };
  }, [props.daysSeconds, props.series, theme.value]);
  return <div class="chart" ref={frame} role="img" aria-label={props.label} />;
}
