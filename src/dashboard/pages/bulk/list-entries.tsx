import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { ListRow } from "../../api/shapes.ts";
import { downloadCsv } from "../../app/download.ts";
import { listCsv } from "../../app/list-csv.ts";
import type { ListRun } from "../../app/list-run.ts";
import { count, counted } from "../../app/numbers.ts";
import { Empty } from "../../parts/states.tsx";
import { VirtualRows } from "../../parts/virtual-rows.tsx";
import {
  countsOf,
  type Filter,
  FILTERS,
  filterRows,
  reasonsOf,
  rowReason,
  rowVerdict,
} from "../../words/list-row.ts";

type Done = ListRun & { step: "done" };

const ROW_PX = 44;
const NARROW_ROW_PX = 68;
const NARROW = "(max-width: 860px)";

/** Every entry with its verdict, narrowed by kind, reason and text. */
export function Entries({ run }: { run: Done }): VNode {
  const [filter, setFilter] = useState<Filter>("all");
  const [reason, setReason] = useState("");
  const [text, setText] = useState("");
  const { rows } = run;
  const counts = useMemo(() => countsOf(rows), [rows]);
  const reasons = useMemo(() => reasonsOf(filterRows(rows, { filter })), [rows, filter]);
  const shown = useMemo(
    () => filterRows(rows, { filter, reason, text }),
    [rows, filter, reason, text],
  );
  const choose = (name: Filter): void => {
    setFilter(name);
    setReason("");
  };
  return (
    <section class="sheet stack">
      <div class="bar">
        <h2>Every entry</h2>
        <span class="push" />
        <input
          class="search"
          type="search"
          aria-label="Search in the entries"
          placeholder="Search"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </div>
      <Kinds counts={counts} filter={filter} onFilter={choose} />
      <div class="bar">
        <Reasons reasons={reasons} reason={reason} onReason={setReason} />
        <Narrowed run={run} shown={shown} filter={filter} />
      </div>
      {shown.length === 0 ? (
        <Empty title="No entry fits">
          <p>Take another kind or reason, or clear the search.</p>
        </Empty>
      ) : (
        <VirtualRows
          rows={shown}
          label="Entries and their verdicts"
          header={["Entry", "Verdict", "Why", "Row"]}
          heightPx={matchMedia(NARROW).matches ? NARROW_ROW_PX : ROW_PX}
          cells={(row) => cellsOf(row, run)}
        />
      )}
    </section>
  );
}

function Kinds(props: {
  counts: ReturnType<typeof countsOf>;
  filter: Filter;
  onFilter: (filter: Filter) => void;
}): VNode {
  const { counts, filter, onFilter } = props;
  return (
    <div class="seg" role="group" aria-label="Which entries">
      {FILTERS.filter(([name]) => name === "all" || counts[name] > 0).map(([name, words]) => (
        <button
          key={name}
          type="button"
          aria-pressed={name === filter}
          onClick={() => onFilter(name)}
        >
          {words}, {count(counts[name])}
        </button>
      ))}
    </div>
  );
}

/** The choice of one reason; nothing where there is none to choose from. */
function Reasons(props: {
  reasons: readonly (readonly [reason: string, rows: number])[];
  reason: string;
  onReason: (reason: string) => void;
}): VNode | null {
  if (props.reasons.length === 0) return null;
  return (
    <select
      class="reasons"
      aria-label="Which reason"
      value={props.reason}
      onChange={(event) => props.onReason(event.currentTarget.value)}
    >
      <option value="">Any reason</option>
      {props.reasons.map(([reason, rows]) => (
        <option key={reason} value={reason}>
          {count(rows)}: {reason}
        </option>
      ))}
    </select>
  );
}

/** How many are left of a list that is narrowed, and those as a file of their own. */
function Narrowed(props: { run: Done; shown: readonly ListRow[]; filter: Filter }): VNode {
  const { run, shown, filter } = props;
  const isNarrowed = shown.length < run.rows.length;
  const name = filter === "all" ? "results-part.csv" : `results-${filter}.csv`;
  return (
    <>
      <span class="note" role="status">
        {isNarrowed ? `${counted(shown.length, "{n} entry", "{n} entries")} shown` : ""}
      </span>
      {isNarrowed && shown.length > 0 ? (
        <button type="button" class="small" onClick={() => downloadCsv(listCsv(run, shown), name)}>
          CSV of these
        </button>
      ) : null}
    </>
  );
}

function cellsOf(row: ListRow, { source }: Done): readonly VNode[] {
  const { mark, words } = rowVerdict(row);
  const reason = rowReason(row);
  const at = source?.column.rowOf.get(row.entry);
  return [
    <span role="cell" class="mono" title={row.entry}>
      {row.entry}
    </span>,
    <span role="cell">
      <span class={`chip ${mark}`}>{words}</span>
    </span>,
    <span role="cell" class="why" title={reason}>
      {reason}
    </span>,
    <span role="cell" class="row-number">
      {at === undefined ? "" : count(source?.table.places[at] ?? at + 1)}
    </span>,
  ];
}
