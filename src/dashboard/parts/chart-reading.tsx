import type { VNode } from "preact";
import { t } from "../app/i18n.ts";

export interface Series {
  readonly name: string;
  /** Null: no data, which is a gap and not a 0. */
  readonly values: readonly (number | null)[];
  /** The class of its colour: `k-no`, `k-accent`, ... */
  readonly colour: string;
}

/** The figures of one step, beside its place. */
export function Reading(props: {
  at: number;
  steps: readonly string[];
  series: readonly Series[];
  before?: readonly (number | null)[];
  figure: (value: number) => string;
}): VNode {
  const { at, steps, series, before, figure } = props;
  const share = ((at + 0.5) / steps.length) * 100;
  const side = share > 50 ? { right: `${String(100 - share)}%` } : { left: `${String(share)}%` };
  return (
    <div class="reading" style={side} aria-hidden="true">
      <b>{steps[at]}</b>
      {series.map(({ name, values, colour }) => (
        <span key={name} class={`key ${colour}`}>
          {name} <b>{typeof values[at] === "number" ? figure(values[at]) : "–"}</b>
        </span>
      ))}
      {typeof before?.[at] === "number" ? (
        <span>
          {t("period before")} <b>{figure(before[at])}</b>
        </span>
      ) : null}
    </div>
  );
}
