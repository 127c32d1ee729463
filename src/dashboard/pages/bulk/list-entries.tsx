import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { ListRow } from "../../api/shapes.ts";
import { downloadCsv } from "../../app/download.ts";
import { t } from "../../app/i18n.ts";
import { listCsv } from "../../lists/list-csv.ts";
import type { ListRun } from "../../lists/list-run.ts";
import { count, counted } from "../../app/numbers.ts";
import { Mark } from "../../parts/mark.tsx";
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
import type { Fixing } from "./list-look.tsx";

type Done = ListRun & { step: "done" };

const ROW_PX = 48;
const NARROW_ROW_PX = 96;
const NARROW = "(max-width: 900px)";

interface EntriesProps extends Fixing {
  run: Done;
  /** A filter that was pressed elsewhere on the page. */
  wanted: Filter | undefined;
  onFilter: (filter: Filter) => void;
}

/** Every entry with its verdict, narrowed by kind, reason and text. */
export function Entries({ run, fixes, setFixes, wanted, onFilter }: EntriesProps): VNode {
  const { rows } = run;
  const counts = useMemo(() => countsOf(rows), [rows]);
  const filter = wanted ?? (counts.look > 0 ? "look" : "all");
  const [reason, setReason] = useState("");
  const [text, setText] = useState("");
  useEffect(() => setReason(""), [filter]);
  const reasons = useMemo(() => reasonsOf(filterRows(rows, { filter })), [rows, filter]);
  const shown = useMemo(
    () => filterRows(rows, { filter, reason, text }),
    [rows, filter, reason, text],
  );
  return (
    <section class="sheet stack" id="entries">
      <div class="bar">
        <h2>{t("Every entry")}</h2>
        <input
          class="search push"
          type="search"
          aria-label={t("Search in the entries")}
          placeholder={t("Search")}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </div>
      <Kinds counts={counts} filter={filter} onFilter={onFilter} />
      <div class="bar">
        <Reasons reasons={reasons} reason={reason} onReason={setReason} />
        <Narrowed run={run} shown={shown} filter={filter} />
      </div>
      {shown.length === 0 ? (
        <Empty title={t("No entry fits")}>
          <p>{t("Take another kind or reason, or clear the search.")}</p>
        </Empty>
      ) : (
        <VirtualRows
          rows={shown}
          label={t("Entries and their verdicts")}
          header={[t("Entry"), t("Verdict"), t("Why"), t("Suggestion"), t("Row")]}
          heightPx={matchMedia(NARROW).matches ? NARROW_ROW_PX : ROW_PX}
          cells={(row) => cellsOf(row, run, { fixes, setFixes })}
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
    <div class="pills" role="group" aria-label={t("Which entries")}>
      {FILTERS.filter(([name]) => name === "all" || counts[name] > 0).map(([name, words]) => (
        <button
          key={name}
          type="button"
          aria-pressed={name === filter}
          onClick={() => onFilter(name)}
        >
          {t(words)} {count(counts[name])}
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
      aria-label={t("Which reason")}
      value={props.reason}
      onChange={(event) => props.onReason(event.currentTarget.value)}
    >
      <option value="">{t("Any reason")}</option>
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
        {isNarrowed ? counted(shown.length, "{n} entry shown", "{n} entries shown") : ""}
      </span>
      {isNarrowed && shown.length > 0 ? (
        <button type="button" class="small" onClick={() => downloadCsv(listCsv(run, shown), name)}>
          {t("CSV of these")}
        </button>
      ) : null}
    </>
  );
}

function cellsOf(row: ListRow, { source }: Done, fixing: Fixing): readonly VNode[] {
  const { mark, words } = rowVerdict(row);
  const reason = rowReason(row);
  const at = source?.column.rowOf.get(row.entry);
  return [
    <span role="cell" class="mono" title={row.entry}>
      {row.entry}
    </span>,
    <span role="cell">
      <Mark mark={mark} words={words} />
    </span>,
    <span role="cell" class="why" title={reason}>
      {reason}
    </span>,
    <span role="cell" class="meant">
      <Suggestion row={row} {...fixing} />
    </span>,
    <span role="cell" class="row-number">
      {at === undefined ? "" : count(source?.table.places[at] ?? at + 1)}
    </span>,
  ];
}

/** Of a misspelt domain the domain alone; else all of the suggestion. */
function newPart({ entry, meant }: ListRow): string {
  const at = meant.lastIndexOf("@") + 1;
  return entry.startsWith(meant.slice(0, at)) ? meant.slice(at) : meant;
}

function Suggestion({ row, fixes, setFixes }: Fixing & { row: ListRow }): VNode | null {
  if (row.meant === "") return null;
  const isFixed = fixes.has(row.entry);
  const press = (): void => {
    const next = new Set(fixes);
    if (isFixed) next.delete(row.entry);
    else next.add(row.entry);
    setFixes(next);
  };
  return (
    <button type="button" class={isFixed ? "small" : "small fix"} onClick={press} title={row.meant}>
      <span class="cut">{t(isFixed ? "Undo {name}" : "Use {name}", { name: newPart(row) })}</span>
    </button>
  );
}
