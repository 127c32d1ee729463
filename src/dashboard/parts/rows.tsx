import type { ComponentChildren, VNode } from "preact";
import { count, counted } from "../lib/format.ts";
import { Button } from "./button.tsx";
import { Sheet, type Titled } from "./page.tsx";

interface TableProps {
  label: string;
  head: readonly string[];
  rows: readonly (readonly ComponentChildren[])[];
  /** The columns of figures; a column without a name has buttons. */
  numbers?: readonly number[];
  picked?: number;
  tall?: true;
  fixed?: true;
  none?: ComponentChildren;
}

export function Table({
  label,
  head,
  rows,
  numbers = [],
  picked,
  tall,
  fixed,
  none,
}: TableProps): VNode {
  if (rows.length === 0 && none !== undefined) return <p class="prose">{none}</p>;
  const kindOf = (at: number): string => {
    if (at === picked) return "picked";
    return head[at] === "" ? "act" : numbers.includes(at) ? "number" : "";
  };
  return (
    <div class={tall ? "scroll tall" : "scroll"} tabIndex={0} role="region" aria-label={label}>
      <table class={fixed ? "folds fixed" : "folds"}>
        <thead>
          <tr>
            {head.map((name, at) => (
              <th key={at} scope="col" class={kindOf(at)}>
                {name === "" ? <span class="unseen">Change</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map((cell, at) => (
                <td key={at} class={kindOf(at)} data-label={at > 0 ? head[at] : undefined}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export const TableSheet = (props: Titled<Omit<TableProps, "label">>): VNode => (
  <Sheet title={props.title} aside={props.aside}>
    <Table {...props} label={props.title ?? ""} />
  </Sheet>
);

export type NamedValue = readonly [name: ComponentChildren, value: ComponentChildren];

interface PairsProps {
  rows: readonly (NamedValue | false)[];
  cells?: true;
  label?: string;
}

export const Pairs = ({ rows, cells, label }: PairsProps): VNode => (
  <dl class={cells ? "cells" : "pairs"} aria-label={label}>
    {rows
      .filter((row) => row !== false)
      .map(([name, value], at) => (
        <div key={at}>
          <dt class="note">{name}</dt>
          <dd>{value === "" ? "\u00a0" : value}</dd>
        </div>
      ))}
  </dl>
);

interface LinesProps extends Pick<PairsProps, "rows"> {
  none?: string;
}

export const Lines = ({ rows, none }: LinesProps): VNode => (
  <ul class="lines">
    {rows.length === 0 && none && <li class="note">{none}</li>}
    {rows
      .filter((row) => row !== false)
      .map(([name, value], at) => (
        <li key={at}>
          <span class="grow">{name}</span>
          {value}
        </li>
      ))}
  </ul>
);

export const LinesSheet = (props: Titled<LinesProps>): VNode => (
  <Sheet title={props.title} aside={props.aside}>
    <Lines {...props} />
  </Sheet>
);

export const More = (props: { summary: string; children: ComponentChildren }): VNode => (
  <details>
    <summary>{props.summary}</summary>
    {props.children}
  </details>
);

interface PagerProps {
  from: number;
  size: number;
  total: number;
  of: string;
  onFrom: (from: number) => void;
}

export function Pager({ from, size, total, of, onFrom }: PagerProps): VNode {
  const end = Math.min(from + size, total);
  const pages = Math.ceil(total / size);
  const jump = ({ currentTarget: box }: { currentTarget: HTMLInputElement }): void => {
    const page = Math.min(Math.max(Math.trunc(Number(box.value)) || 1, 1), pages);
    box.value = String(page);
    onFrom((page - 1) * size);
  };
  return (
    <div class="bar">
      <span class="note" role="status">
        {count(Math.min(from + 1, end))} to {count(end)} of {counted(total, of)}
      </span>
      {pages > 2 ? (
        <label class="bar note">
          Page
          <input
            class="page"
            type="number"
            min={1}
            max={pages}
            value={from / size + 1}
            onChange={jump}
          />
          of {count(pages)}
        </label>
      ) : null}
      {pages > 1 && (
        <span class="bar push">
          <Button act="Previous" disabled={from === 0} onClick={() => onFrom(from - size)} />
          <Button act="Next" disabled={end >= total} onClick={() => onFrom(from + size)} />
        </span>
      )}
    </div>
  );
}
