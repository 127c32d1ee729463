import type { VNode } from "preact";
import { capital, count, shortCount, shortDay, sumOf } from "../lib/format.ts";
import { Button } from "./button.tsx";
import { ink, Meter } from "./marks.tsx";
import { More, Table } from "./rows.tsx";

export type ChartLine<Row> = readonly [name: string, colour: string, pick: (row: Row) => number];

interface ChartProps<Row> {
  what: string;
  days: readonly string[];
  rows: readonly Row[];
  lines: readonly ChartLine<Row>[];
  /** The period before, as one dashed line; its name for the legend. */
  before?: { readonly name: string; readonly values: readonly number[] };
}

interface Series {
  readonly name: string;
  readonly colour: string;
  readonly values: readonly number[];
}

function topOf(most: number): number {
  const size = 10 ** Math.floor(Math.log10(Math.max(most, 1)));
  const factor = [1, 2, 4, 5, 8, 10].find((candidate) => candidate * size >= most) ?? 10;
  return Math.max(4, factor * size);
}

const total = (values: readonly number[]): number => sumOf(values, (value) => value);

const BARS_MAX = 90;

export function Chart<Row>(props: ChartProps<Row>): VNode {
  const { what, days, rows, before } = props;
  const size = rows.length > BARS_MAX ? 7 : 1;
  const step = size > 1 ? "week" : "day";
  // The last week ends today.
  const starts = [...rows.keys()].filter((at) => (rows.length - at) % size === 0 || at === 0);
  const sums = (values: readonly number[]): readonly number[] =>
    starts.map((at, bar) => total(values.slice(at, starts[bar + 1] ?? rows.length)));
  const nameOf = (at: number): string => (size > 1 ? "week from " : "") + shortDay(days[at] ?? "");
  const names = starts.map(nameOf);
  const series = props.lines.map(([name, colour, pick]) => {
    return { name, colour, values: sums(rows.map(pick)) };
  });
  const legend = (
    <Legend
      parts={series.map(({ name, colour, values }) => [`${name} ${count(total(values))}`, colour])}
      dashed={before?.name}
    />
  );
  if (names.length < 2) return legend;
  return (
    <>
      {legend}
      {plot(`${what} by ${step}`, names, series, before ? sums(before.values) : [])}
      <More summary={`Figures by ${step}`}>
        <Table
          tall
          label={`${what} by ${step}`}
          head={[capital(step), ...series.map(({ name }) => name)]}
          numbers={series.map((_, place) => place + 1)}
          rows={names
            .map((name, at) => [name, ...series.map(({ values }) => count(values[at] ?? 0))])
            .toReversed()}
        />
      </More>
    </>
  );
}

const QUARTERS = [1, 0.75, 0.5, 0.25, 0];

const sumAt = (series: readonly Series[], at: number): number =>
  sumOf(series, ({ values }) => values[at] ?? 0);

function plot(
  label: string,
  names: readonly string[],
  series: readonly Series[],
  ghost: readonly number[],
): VNode {
  const heights = names.map((_, place) => sumAt(series, place));
  const most = Math.max(0, ...heights);
  const top = topOf(Math.max(most, ...ghost));
  const highest = names[heights.indexOf(most)] ?? "";
  const ends = [...new Set([0, Math.floor((names.length - 1) / 2), names.length - 1])];
  const bars = ({ values }: Series, index: number): string => {
    const below = series.slice(0, index);
    const bar = (value: number, at: number): string => {
      const foot = top - sumAt(below, at);
      // Two pixels between them.
      const bottom = foot - (foot < top ? top / 130 : 0);
      const upper = Math.min(bottom - top / 400, foot - value);
      return `M${String(at + 0.12)} ${String(bottom)}V${String(upper)}h.76V${String(bottom)}z`;
    };
    return values.map((value, at) => (value === 0 ? "" : bar(value, at))).join("");
  };
  const line = ghost.map((value, at) => `${String(at + 0.5)} ${String(top - value)}`).join("L");
  return (
    <div
      class="chart"
      role="img"
      aria-label={`${label}, ${names[0] ?? ""} to ${names.at(-1) ?? ""}, highest ${highest}: ${count(most)}`}
    >
      <div class="chart-y">
        {QUARTERS.map((part) => (
          <span key={part}>{Number.isInteger(part * top) ? shortCount(part * top) : ""}</span>
        ))}
      </div>
      <svg viewBox={`0 0 ${String(names.length)} ${String(top)}`} preserveAspectRatio="none">
        {QUARTERS.map((part) => (
          <path key={part} class="grid" d={`M0 ${String(part * top)}h${String(names.length)}`} />
        ))}
        {series.map((one, index) => (
          <path key={one.name} style={ink(one.colour)} d={bars(one, index)} />
        ))}
        <path class="ghost" d={line === "" ? "" : `M${line}`} />
      </svg>
      <div class="chart-x">
        {ends.map((place) => (
          <span key={place}>{names[place]}</span>
        ))}
      </div>
    </div>
  );
}

interface LegendProps {
  parts: readonly (readonly [words: string, colour: string])[];
  dashed?: string | undefined;
}

export const Legend = ({ parts, dashed }: LegendProps): VNode => (
  <div class="bar keys note">
    {parts.map(([words, colour]) => (
      <span key={words} class="key" style={ink(colour)}>
        {words}
      </span>
    ))}
    {dashed && <span class="key dashed">{dashed}</span>}
  </div>
);

export type ChartPart = readonly [name: string, colour: string, many: number];

export function Split({ parts, label }: { parts: readonly ChartPart[]; label?: string }): VNode {
  const words = parts.map(([name, , many]) => `${name} ${count(many)}`).join(", ");
  return (
    <div class="split" role="img" aria-label={label === undefined ? words : `${label}: ${words}`}>
      {parts.map(([name, colour, many]) =>
        many === 0 ? null : <i key={name} style={{ ...ink(colour), flexGrow: many }} />,
      )}
    </div>
  );
}

/** The same with its legend; `see` leads from a part to what it has, `share` tells its per cent. */
export const SplitWithLegend = (props: {
  parts: readonly ChartPart[];
  see?: (at: number) => void;
  share?: (many: number) => string;
}): VNode => (
  <>
    <Split parts={props.parts} />
    <ul class="bar list-legend">
      {props.parts.map(([name, colour, many], at) => (
        <li key={name}>
          <b>{count(many)}</b>
          <span class="key" style={ink(colour)}>
            {props.see ? <Button act={name} class="link" onClick={() => props.see?.(at)} /> : name}
          </span>{" "}
          <span>{props.share?.(many)}</span>
        </li>
      ))}
    </ul>
  </>
);

export const ShareBar = (props: { share: number; words: string; colour?: string }): VNode => (
  <>
    <span class="share" style={ink(props.colour ?? "accent")}>
      <Meter share={props.share} />
    </span>
    <span class="note">{props.words}</span>
  </>
);
