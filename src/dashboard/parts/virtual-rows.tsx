import { options, type VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** Up to this many rows are all rendered; beyond that only those in view. */
const ALL_ROWS = 200;
const SPARE_ROWS = 12;

/** Renders what `change` changes before it returns. */
function flushed(change: () => void): void {
  options.debounceRendering = (render) => render();
  change();
  delete options.debounceRendering;
}

/** Whether the browser is about to print: paper has no rows out of view. */
function useIsPrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    const media = matchMedia("print");
    // Printing waits for the listeners of "beforeprint", not for the next frame.
    const look = (): void => flushed(() => setPrinting(media.matches));
    const before = (): void => flushed(() => setPrinting(true));
    const after = (): void => setPrinting(false);
    addEventListener("beforeprint", before);
    addEventListener("afterprint", after);
    media.addEventListener("change", look);
    return () => {
      removeEventListener("beforeprint", before);
      removeEventListener("afterprint", after);
      media.removeEventListener("change", look);
    };
  }, []);
  return isPrinting;
}

/** A long list of rows of one height, as a table for screen readers. `header` are the column names. */
export function VirtualRows<Row>(props: {
  rows: readonly Row[];
  label: string;
  header: readonly string[];
  heightPx: number;
  cells: (row: Row) => readonly VNode[];
}): VNode {
  const { rows, heightPx } = props;
  const body = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 640 });
  const look = (): void => {
    const { current } = body;
    if (current !== null) setView({ top: current.scrollTop, height: current.clientHeight });
  };
  useEffect(() => {
    body.current?.scrollTo(0, 0);
    look();
  }, [rows]);
  const isPrinting = useIsPrinting();
  const isWhole = rows.length <= ALL_ROWS || isPrinting;
  const first = isWhole ? 0 : Math.max(0, Math.floor(view.top / heightPx) - SPARE_ROWS);
  const last = isWhole ? rows.length : Math.ceil((view.top + view.height) / heightPx) + SPARE_ROWS;
  const shown = rows.slice(first, last);
  return (
    <div class="grid-table" role="table" aria-label={props.label} aria-rowcount={rows.length + 1}>
      <div role="rowgroup">
        <div class="grid-head" role="row" aria-rowindex={1}>
          {props.header.map((name) => (
            <span key={name} role="columnheader">
              {name}
            </span>
          ))}
        </div>
      </div>
      <div class="grid-body" role="rowgroup" ref={body} tabIndex={0} onScroll={look}>
        <div role="presentation" style={{ height: `${String(first * heightPx)}px` }} />
        {shown.map((row, index) => (
          <div key={first + index} class="grid-row" role="row" aria-rowindex={first + index + 2}>
            {props.cells(row)}
          </div>
        ))}
        <div
          role="presentation"
          style={{ height: `${String(Math.max(0, rows.length - last) * heightPx)}px` }}
        />
      </div>
    </div>
  );
}
