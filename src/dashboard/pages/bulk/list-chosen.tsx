import type { VNode } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { t } from "../../app/i18n.ts";
import { type Column, columnOf, seemsWrong, type Table } from "../../lists/list-file.ts";
import { listRun, start } from "../../lists/list-run.ts";
import { useAction } from "../../app/load.ts";
import { count, counted } from "../../app/numbers.ts";
import { allowance } from "../../app/session.ts";
import { PageHead } from "../../parts/page-head.tsx";
import { Fault } from "../../parts/states.tsx";
import { type Cost, costOf } from "../../words/cost.ts";

const PREVIEW_ROWS = 5;

/** The column, a look at it, and what it will cost: before anything is sent. */
export function ListChosen({ name, table }: { name: string; table: Table }): VNode {
  const [at, setAt] = useState(table.guess);
  const column = useMemo(() => columnOf(table, at), [table, at]);
  const { busy, fault, run } = useAction();
  const cost = costOf(column, allowance.value);
  return (
    <>
      <PageHead title={name} lead={counted(table.rows.length, "{n} row", "{n} rows")}>
        <button type="button" class="plain" onClick={() => (listRun.value = { step: "none" })}>
          {t("Another list")}
        </button>
        <StartButton
          cost={cost}
          unique={column.unique}
          busy={busy}
          onStart={(first) =>
            run(() => start({ name, table, at, ...(first !== undefined && { first }) }))
          }
        />
      </PageHead>
      <Fault text={fault} />
      {seemsWrong(column) ? (
        <p class="notice unsure" role="status">
          {t(
            "Most of this column looks like neither an address nor a domain. Is it the right one?",
          )}
        </p>
      ) : null}
      <section class="sheet">
        <Figures column={column} rows={table.rows.length} />
        <p class={cost.isTooMuch ? "wrong cost" : "prose cost"}>
          {cost.words} {cost.isTooMuch ? <a href="/pricing">{t("See plans")}</a> : null}
        </p>
      </section>
      <section class="sheet stack">
        {table.header.length > 1 ? (
          <Columns table={table} at={at} setAt={setAt} />
        ) : (
          <h2>{t("How it begins")}</h2>
        )}
        <Preview table={table} at={table.header.length > 1 ? at : -1} />
      </section>
    </>
  );
}

/** All of it, or as much as the plan covers. */
function StartButton(props: {
  cost: Cost;
  unique: number;
  busy: boolean;
  onStart: (first?: number) => void;
}): VNode {
  const { cost, unique, busy, onStart } = props;
  const { fits } = cost;
  const isPart = cost.isTooMuch && fits !== undefined && fits > 0;
  const words = isPart
    ? t("Check the first {n}", { n: count(fits) })
    : counted(unique, "Check {n} entry", "Check {n} entries");
  return (
    <button
      type="button"
      class="main"
      disabled={busy || (cost.isTooMuch && !isPart)}
      onClick={() => onStart(isPart ? fits : undefined)}
    >
      {busy ? t("Sending…") : words}
    </button>
  );
}

const countEntries = ({ text }: Column): number => (text === "" ? 0 : text.split("\n").length);

function Figures({ column, rows }: { column: Column; rows: number }): VNode {
  const { unique } = column;
  const filled = countEntries(column);
  const figures = [
    [unique, t(unique === 1 ? "different entry" : "different entries")],
    [filled - unique, t("repeated, charged once")],
    [rows - filled, t("rows without an entry")],
    ...(column.unwrapped > 0
      ? [[column.unwrapped, t("freed from mailto: and names")] as const]
      : []),
  ] as const;
  return (
    <div class="figures">
      {figures.map(([value, words]) => (
        <div key={words} class="figure">
          <b>{count(value)}</b>
          <span>{words}</span>
        </div>
      ))}
    </div>
  );
}

function Columns(props: { table: Table; at: number; setAt: (at: number) => void }): VNode {
  return (
    <label class="field form">
      <span class="label">{t("Column with the addresses")}</span>
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
    <div class="scroll" ref={frame} tabIndex={0} role="region" aria-label={t("The first rows")}>
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
