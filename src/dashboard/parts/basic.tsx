import type { ComponentChildren, VNode } from "preact";

export { Countdown } from "./countdown.tsx";
export { Mark } from "./mark.tsx";
export { Meter } from "./meter.tsx";
export { PageHead } from "./page-head.tsx";
export { Bones, Empty, Failed, Fault } from "./states.tsx";
export type { Mark as MarkKind } from "../words/verdict.ts";

/** A part of a page. */
export function Sheet(props: { title: string; children: ComponentChildren }): VNode {
  return (
    <section class="sheet stack">
      <h2>{props.title}</h2>
      {props.children}
    </section>
  );
}

/** A table whose rows become blocks where it is narrow. `numbers` are the columns of figures. */
export function Table(props: {
  label: string;
  head: readonly string[];
  rows: readonly (readonly ComponentChildren[])[];
  numbers?: readonly number[];
}): VNode {
  const { label, head, rows, numbers = [] } = props;
  const kindOf = (at: number): string => (numbers.includes(at) ? "number" : "");
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table class="folds">
        <thead>
          <tr>
            {head.map((name, at) => (
              <th key={name} scope="col" class={kindOf(at)}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map((cell, at) => (
                <td key={at} class={kindOf(at)} {...(at > 0 && { "data-label": head[at] })}>
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
