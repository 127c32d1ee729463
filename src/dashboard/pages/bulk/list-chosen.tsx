import type { VNode } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Column, columnOf, seemsWrong, type Table } from "../../app/list-file.ts";
import { listRun, start } from "../../app/list-run.ts";
import { useAction } from "../../app/load.ts";
import { count, counted } from "../../app/numbers.ts";
import { allowance } from "../../app/session.ts";
import { PageHead } from "../../parts/page-head.tsx";
import { Fault } from "../../parts/states.tsx";
import { costOf } from "../../words/cost.ts";

const PREVIEW_ROWS = 5;

/** The column, a look at it, and what it will cost: before anything is sent. */
export function ListChosen({ name, table }: { name: string; table: Table }): VNode {
  const [at, setAt] = useState(table.guess);
  const column = useMemo(() => columnOf(table, at), [table, at]);
  const { busy, fault, run } = useAction();
  const cost = costOf(column, allowance.value);
  const blank = table.rows.length - countEntries(column);
  return (
    <>
      <PageHead title={name} lead={counted(table.rows.length, "{n} row", "{n} rows")}>
        <button type="button" class="plain" onClick={() => (listRun.value = { step: "none" })}>
          Another list
        </button>
        <button
          type="button"
          class="main"
          disabled={busy || cost.isTooMuch}
          onClick={() => run(() => start(name, table, at))}
        >
          {busy ? "Sending…" : `Check ${counted(column.unique, "{n} entry", "{n} entries")}`}
        </button>
      </PageHead>
      <Fault text={fault} />
      {seemsWrong(column) ? (
        <p class="notice unsure" role="status">
          Most of this column looks like neither an address nor a domain. Is it the right one?
        </p>
      ) : null}
      <section class="sheet">
        <div class="figures">
          <Figure
            value={column.unique}
            words={column.unique === 1 ? "different entry" : "different entries"}
          />
          <Figure value={countEntries(column) - column.unique} words="said more than once" />
          <Figure value={blank} words={blank === 1 ? "row without one" : "rows without one"} />
        </div>
        <p class={cost.isTooMuch ? "wrong cost" : "prose cost"}>{cost.words}</p>
      </section>
      <section class="sheet stack">
        {table.header.length > 1 ? (
          <Columns table={table} at={at} setAt={setAt} />
        ) : (
          <h2>How it begins</h2>
        )}
        <Preview table={table} at={table.header.length > 1 ? at : -1} />
      </section>
    </>
  );
}

const countEntries = ({ text }: Column): number => (text === "" ? 0 : text.split("\n").length);

function Figure({ value, words }: { value: number; words: string }): VNode {
  return (
    <div class="figure">
      <b>{count(value)}</b>
      <span>{words}</span>
    </div>
  );
}

function Columns(props: { table: Table; at: number; setAt: (at: number) => void }): VNode {
  return (
    <label class="field form">
      <span class="label">Column with the addresses</span>
      <select
        value={String(props.at)}
        onChange={(event) => props.setAt(Number(event.currentTarget.value))}
      >
        {props.table.header.map((title, column) => (
          <option key={column} value={String(column)}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

function Preview({ table, at }: { table: Table; at: number }): VNode {
  const frame = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    // Of forty columns the picked one may stand far to the right.
    const { current } = frame;
    const picked = current?.querySelector<HTMLElement>("th.picked");
    if (current !== null && picked) {
      current.scrollLeft = picked.offsetLeft - (current.clientWidth - picked.offsetWidth) / 2;
    }
  }, [at]);
  return (
    <div class="scroll" ref={frame} tabIndex={0} role="region" aria-label="The first rows">
      <table class="preview">
        <thead>
          <tr>
            {table.header.map((title, column) => (
              <th key={column} scope="col" class={column === at ? "picked" : ""}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.slice(0, PREVIEW_ROWS).map((row, index) => (
            <tr key={index}>
              {table.header.map((_, column) => (
                <td key={column} class={column === at ? "picked mono" : at < 0 ? "mono" : ""}>
                  <span class="cut">{row[column] ?? ""}</span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
