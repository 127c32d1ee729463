import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { call, faultText } from "../../lib/client.ts";
import { count, counted } from "../../lib/format.ts";
import { useRested } from "../../lib/load.ts";
import type { ListRow, ListRows, ReadList } from "../../lib/shapes.ts";
import { Bones, Empty, Fault, Mark, Table } from "../../parts/basic.tsx";
import { Act, Options } from "../../parts/form.tsx";
import { CLASSES, classesIn, type Known, type RowClass } from "./list-parts.tsx";

const PAGE_ROWS = 50;

interface Sought {
  readonly shown: RowClass | "";
  readonly why: string;
  readonly text: string;
  readonly from: number;
}

/** A page of rows; `stamp` changes when the rows may have. */
function useRows(id: string, sought: Sought, stamp: string): { page?: ListRows; fault: string } {
  const { shown, why, text, from } = sought;
  const [page, setPage] = useState<ListRows>();
  const [fault, setFault] = useState("");
  useEffect(() => {
    let stale = false;
    const query = new URLSearchParams({
      from: String(from),
      count: String(PAGE_ROWS),
      ...(shown !== "" && { class: shown }),
      ...(why !== "" && { why }),
      ...(text !== "" && { text }),
    });
    call<ListRows>("GET", `lists/${id}/rows?${query.toString()}`).then(
      (rows) => {
        if (stale) return;
        setPage(rows);
        setFault("");
      },
      (error: unknown) => stale || setFault(faultText(error)),
    );
    return () => {
      stale = true;
    };
  }, [stamp, shown, why, text, from]);
  return { fault, ...(page !== undefined && { page }) };
}

interface RowsProps {
  id: string;
  read: ReadList;
  change: Known["change"];
  shown: RowClass | "";
  setShown: (name: RowClass | "") => void;
}

/** Every row with its verdict, a page of them at a time: the server has the others. */
export function Rows({ id, read, change, shown, setShown }: RowsProps): VNode {
  const [typed, setTyped] = useState("");
  const [why, setWhy] = useState("");
  const [from, setFrom] = useState(0);
  const text = useRested(typed);
  useEffect(() => setWhy(""), [shown]);
  useEffect(() => setFrom(0), [shown, why, text]);
  const stamp = JSON.stringify([read.counts, read.repairs, read.sheet, read.column]);
  const { page, fault } = useRows(id, { shown, why, text, from }, stamp);
  return (
    <section class="sheet stack" id="rows">
      <div class="bar">
        <h2>Every row</h2>
        <Options
          class="reasons push"
          label="Which rows"
          value={shown}
          choices={[
            ["", "All rows"],
            ...classesIn(read).map((name) => [name, CLASSES[name].word] as const),
          ]}
          onValue={(name) => setShown(name as RowClass | "")}
        />
        <Reasons reasons={page?.reasons ?? []} why={why} setWhy={setWhy} />
        <input
          class="search"
          type="search"
          aria-label="Search in the entries"
          placeholder="Search"
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </div>
      <Fault text={fault} />
      {page === undefined ? (
        <Bones lines={6} />
      ) : (
        <Page page={page} change={change} from={from} setFrom={setFrom} />
      )}
    </section>
  );
}

function Reasons(props: {
  reasons: ListRows["reasons"];
  why: string;
  setWhy: (why: string) => void;
}): VNode | null {
  const { reasons, why, setWhy } = props;
  if (reasons.length < 2) return null;
  return (
    <Options
      class="reasons"
      label="Which reason"
      value={why}
      choices={[["", "Any reason"], ...reasons.map((each) => [each.why, each.why] as const)]}
      onValue={setWhy}
    />
  );
}

function Page(props: {
  page: ListRows;
  change: Known["change"];
  from: number;
  setFrom: (from: number) => void;
}): VNode {
  const { page, change, from, setFrom } = props;
  const { total, rows } = page;
  if (total === 0) return <Empty title="No row fits">Take other rows, or clear the search.</Empty>;
  const words = `${count(from + 1)} to ${count(from + rows.length)} of ${counted(total, "row")}`;
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
          {words}
        </span>
        <button
          type="button"
          class="small push"
          disabled={from === 0}
          onClick={() => setFrom(Math.max(0, from - PAGE_ROWS))}
        >
          Previous
        </button>
        <button
          type="button"
          class="small"
          disabled={from + rows.length >= total}
          onClick={() => setFrom(from + PAGE_ROWS)}
        >
          Next
        </button>
      </div>
    </>
  );
}

const cellsOf = (row: ListRow, change: Known["change"]): readonly (VNode | string)[] => [
  <span class="mono break">
    {row.entry}
    {row.was === undefined ? null : <span class="note"> was {row.was}</span>}
  </span>,
  <Mark mark={CLASSES[row.class].mark} words={CLASSES[row.class].word} />,
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
