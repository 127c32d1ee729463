import type { VNode } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { count, counted } from "../../lib/format.ts";
import type { ReadList } from "../../lib/shapes.ts";
import { PageHead } from "../../parts/basic.tsx";
import {
  CheckButton,
  Choices,
  CLASSES,
  classesIn,
  columnName,
  Ends,
  type Known,
  ListButtons,
} from "./list-parts.tsx";

/** What was read of the file, and what its check costs: before anything is charged. */
export function ListRead({ state, busy, change, remove }: Known): VNode {
  const { read, rows } = state;
  return (
    <>
      <PageHead
        title={state.name}
        lead={
          <>
            {counted(rows, "row")} read. <Ends state={state} />
          </>
        }
      >
        <ListButtons {...{ state, remove }} />
      </PageHead>
      {read === undefined ? null : (
        <>
          <section class="sheet stack">
            <Figures read={read} rows={rows} />
            <CheckButton {...{ read, busy, change }} entries={read.open} isMain />
          </section>
          <section class="sheet stack">
            <Choices read={read} change={change} />
            <Sample read={read} />
          </section>
        </>
      )}
    </>
  );
}

function Figures({ read, rows }: { read: ReadList; rows: number }): VNode {
  const { counts, open } = read;
  const others = classesIn(read).filter((name) => name !== "unchecked");
  return (
    <>
      <p class="say">{counted(open, "different entry", "different entries")} to check</p>
      {others.length === 0 ? null : (
        <p class="prose">
          Of {counted(rows, "row")},{" "}
          {others
            .map((name) => `${count(counts[name])} ${WORDS[name] ?? CLASSES[name].words}`)
            .join(", ")}
          . They stay in the file that you get.
        </p>
      )}
    </>
  );
}

const WORDS: Partial<Record<keyof typeof CLASSES, string>> = {
  duplicate: "repeat an entry and cost nothing",
  blank: "have an empty cell",
  unread: "could not be read",
};

function Sample({ read }: { read: ReadList }): VNode {
  const { columns, column, sample } = read;
  const frame = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    // Of forty columns the picked one may stand far to the right.
    const { current } = frame;
    const picked = current?.querySelector<HTMLElement>("th.picked");
    if (current !== null && picked) {
      current.scrollLeft = picked.offsetLeft - (current.clientWidth - picked.offsetWidth) / 2;
    }
  }, [column]);
  return (
    <div class="scroll" ref={frame} tabIndex={0} role="region" aria-label="The first rows">
      <table class="preview">
        <thead>
          <tr>
            {columns.map((name, at) => (
              <th key={at} scope="col" class={at === column ? "picked" : ""}>
                {columnName(name, at)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sample.map((cells, row) => (
            <tr key={row}>
              {columns.map((_, at) => (
                <td key={at} class={at === column ? "picked mono" : ""}>
                  <span class="cut">{cells[at] ?? ""}</span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
