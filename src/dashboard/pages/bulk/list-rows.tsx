import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { count, counted } from "../../lib/format.ts";
import { useLoad } from "../../lib/load.ts";
import type { ListRow, ListRows, ReadList } from "../../lib/shapes.ts";
import { Empty, Mark, Shown, Table } from "../../parts/basic.tsx";
import { Act, Options, useSearch } from "../../parts/form.tsx";
import { CLASSES, classesIn, type Known, type RowClass } from "./list-parts.tsx";

const PAGE_ROWS = 50;

interface RowsProps {
  id: string;
  read: ReadList;
  change: Known["change"];
  shown: RowClass | "";
  setShown: (name: RowClass | "") => void;
}

/** Every row with its verdict, a page of them at a time: the server has the others. */
export function Rows({ id, read, change, shown, setShown }: RowsProps): VNode {
  const [text, search] = useSearch("Search", "Search in the entries");
  const [why, setWhy] = useState("");
  const [from, setFrom] = useState(0);
  useEffect(() => setWhy(""), [shown]);
  useEffect(() => setFrom(0), [shown, why, text]);
  const query = new URLSearchParams({
    from: String(from),
    count: String(PAGE_ROWS),
    ...(shown !== "" && { class: shown }),
    ...(why !== "" && { why }),
    ...(text !== "" && { text }),
  });
  // Another tab may change the rows, too.
  const stamp = JSON.stringify([read.counts, read.repairs, read.sheet, read.column]);
  const loading = useLoad<ListRows>(`lists/${id}/rows?${query.toString()}`, stamp);
  const reasons = loading.value?.reasons ?? [];
  return (
    <section class="sheet stack" id="rows">
      <div class="bar">
        <h2>Every row</h2>
        <Options
          class="kind push"
          label="Which rows"
          value={shown}
          choices={[
            ["", "All rows"],
            ...classesIn(read).map((name) => [name, CLASSES[name].words] as const),
          ]}
          onValue={(name) => setShown(name as RowClass | "")}
        />
        {reasons.length < 2 ? null : (
          <Options
            class="kind"
            label="Which reason"
            value={why}
            choices={[["", "Any reason"], ...reasons.map((each) => [each.why, each.why] as const)]}
            onValue={setWhy}
          />
        )}
        {search}
      </div>
      <Shown loading={loading} lines={6}>
        {(page) => rowsOf(page, change, from, setFrom)}
      </Shown>
    </section>
  );
}

function rowsOf(
  { total, rows }: ListRows,
  change: Known["change"],
  from: number,
  setFrom: (from: number) => void,
): VNode {
  if (total === 0) return <Empty title="No row fits">Take other rows, or clear the search.</Empty>;
  const end = from + rows.length;
  const turn = (act: string, to: number, isOff: boolean, kind = "small"): VNode => (
    <button type="button" class={kind} disabled={isOff} onClick={() => setFrom(to)}>
      {act}
    </button>
  );
  return (
    <>
      <Table
        label="Rows and their verdicts"
        head={["Entry", "Verdict", "Why", "Suggestion", "Line"]}
        numbers={[4]}
        rows={rows.map((row) => cellsOf(row, change))}
      />
      <div class="bar">
        <span class="note" role="status">
          {count(from + 1)} to {count(end)} of {counted(total, "row")}
        </span>
        {turn("Previous", Math.max(0, from - PAGE_ROWS), from === 0, "small push")}
        {turn("Next", from + PAGE_ROWS, end >= total)}
      </div>
    </>
  );
}

const cellsOf = (row: ListRow, change: Known["change"]): readonly (VNode | string)[] => [
  <span class="mono break">
    {row.entry}
    {row.was === undefined ? null : <span class="note"> was {row.was}</span>}
  </span>,
  <Mark {...CLASSES[row.class]} />,
  row.why === "" ? "" : <span class="note">{row.why}</span>,
  row.was !== undefined ? (
    <Act act="Undo" of={row.was} work={() => change("fix", { entry: row.was, undo: true })} />
  ) : row.meant === "" ? (
    ""
  ) : (
    <Act
      act={`Use ${newPart(row)}`}
      of={`for ${row.entry}`}
      class="small fix"
      work={() => change("fix", { entry: row.entry })}
    />
  ),
  count(row.line),
];

/** Of a misspelt domain the domain alone; else all of the suggestion. */
function newPart({ entry, meant }: ListRow): string {
  const at = meant.lastIndexOf("@") + 1;
  return at > 0 && entry.startsWith(meant.slice(0, at)) ? meant.slice(at) : meant;
}
