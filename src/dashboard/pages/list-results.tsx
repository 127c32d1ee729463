import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { ListRow, ListStats } from "../api/lists.ts";
import { countdown, nowMs } from "../app/clock.ts";
import { csvLine, entryOf } from "../app/list-file.ts";
import { forget, type ListRun, type Source } from "../app/list-run.ts";
import { count, counted } from "../app/numbers.ts";
import { Confirm } from "../parts/dialog.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { Empty } from "../parts/states.tsx";
import { VirtualRows } from "../parts/virtual-rows.tsx";
import {
  countsOf,
  type Filter,
  FILTERS,
  filterRows,
  rowReason,
  rowVerdict,
} from "../words/list-row.ts";

type Done = ListRun & { step: "done" };

/** What a list came to: the picture, the files, and every entry. */
export function ListResults({ run }: { run: Done }): VNode {
  const { session, stats } = run;
  const [isAsked, setAsked] = useState(false);
  const isForgotten = useIsPast(run.expiresAtMs);
  const base = `/account/lists/${session}`;
  return (
    <>
      <PageHead title={run.name} lead={<Lead run={run} />}>
        <button type="button" class="plain" onClick={() => setAsked(true)}>
          Forget now
        </button>
        {isForgotten ? null : (
          <a class="button" href={`${base}/json`} download="results.json">
            JSON
          </a>
        )}
        <button type="button" onClick={() => downloadCsv(run)}>
          {hasColumns(run.source) ? "CSV, all columns" : "CSV"}
        </button>
        {isForgotten ? null : (
          <a class="button main" href={`${base}/valid`} download="valid_list.txt">
            Download valid list
          </a>
        )}
      </PageHead>
      <Picture stats={stats} rows={run.rows} />
      <Entries run={run} />
      {isAsked ? <Forget run={run} onClose={() => setAsked(false)} /> : null}
    </>
  );
}

/** The one way to the next list, and no way back: what was paid for is gone. */
function Forget({ run, onClose }: { run: Done; onClose: () => void }): VNode {
  return (
    <Confirm
      title="Forget these results?"
      act="Forget them"
      work={() => forget(run.session)}
      onClose={onClose}
    >
      They go from this page and from the server, and you can begin another list. Files that you
      have downloaded stay. To see the results again, the list has to be checked, and paid, again.
    </Confirm>
  );
}

function Lead({ run }: { run: Done }): VNode {
  const { source, stats, expiresAtMs } = run;
  return (
    <>
      {hasColumns(source)
        ? `${counted(source.table.rows.length, "row")}, column “${source.table.header[source.at] ?? ""}”`
        : counted(stats.total, "entry", "entries")}
      , {count(stats.unique)} different. <Countdown expiresAtMs={expiresAtMs} />
    </>
  );
}

/** Whether it came from a table; a plain list has one column without a name. */
const hasColumns = (source: Source | undefined): source is Source =>
  (source?.table.header.length ?? 0) > 1;

/** Whether that moment is over, from the moment on. */
function useIsPast(ms: number): boolean {
  const [isPast, setPast] = useState(() => ms <= nowMs());
  useEffect(() => {
    const timer = setTimeout(() => setPast(true), Math.max(0, ms - nowMs()));
    return () => clearTimeout(timer);
  }, [ms]);
  return isPast;
}

function Countdown({ expiresAtMs }: { expiresAtMs: number }): VNode {
  const [now, setNow] = useState(nowMs);
  useEffect(() => {
    const timer = setInterval(() => setNow(nowMs()), 1_000);
    return () => clearInterval(timer);
  }, []);
  if (now >= expiresAtMs)
    return <>The server has forgotten the results; this page still has them, and makes the CSV.</>;
  return <>The server forgets the results in {countdown(expiresAtMs - now)}.</>;
}

interface Kind {
  readonly name: string;
  readonly kind: string;
  readonly entries: number;
}

/** "No" and "nobody could say" are two colours, though the summary counts them as one. */
function kindsOf(stats: ListStats, unsure: number): readonly Kind[] {
  return [
    { name: "valid", kind: "valid", entries: stats.valid },
    { name: "disposable", kind: "disposable", entries: stats.disposable },
    { name: "no mail server", kind: "dns", entries: stats.invalid_dns - unsure },
    { name: "could not tell", kind: "unsure", entries: unsure },
    { name: "bad format", kind: "format", entries: stats.invalid_format },
  ];
}

function Picture({ stats, rows }: { stats: ListStats; rows: readonly ListRow[] }): VNode {
  const kinds = useMemo(
    () => kindsOf(stats, new Set(filterRows(rows, "unsure", "").map(entryKey)).size),
    [stats, rows],
  );
  const words = kinds.map(({ name, entries }) => `${name} ${count(entries)}`).join(", ");
  return (
    <section class="sheet">
      <div class="split" role="img" aria-label={words}>
        {kinds
          .filter(({ entries }) => entries > 0)
          .map(({ kind, entries }) => (
            <i key={kind} class={`kind-${kind}`} style={{ flex: `${String(entries)} 1 0` }} />
          ))}
      </div>
      <div class="legend">
        {kinds.map(({ name, kind, entries }) => (
          <div key={kind} class={`figure kind-${kind}`}>
            <b>{count(entries)}</b>
            <span>{name}</span>
          </div>
        ))}
      </div>
    </section>
  );
}

/** Spellings of one entry are one entry of the summary. */
const entryKey = ({ entry }: ListRow): string => entry.toLowerCase();

const ROW_PX = 44;
const NARROW_ROW_PX = 68;
const NARROW = "(max-width: 860px)";

function Entries({ run }: { run: Done }): VNode {
  const [filter, setFilter] = useState<Filter>("all");
  const [text, setText] = useState("");
  const counts = useMemo(() => countsOf(run.rows), [run.rows]);
  const shown = useMemo(() => filterRows(run.rows, filter, text), [run.rows, filter, text]);
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
      <div class="seg" role="group" aria-label="Which entries">
        {FILTERS.filter(([name]) => name === "all" || counts[name] > 0).map(([name, words]) => (
          <button
            key={name}
            type="button"
            aria-pressed={name === filter}
            onClick={() => setFilter(name)}
          >
            {words}, {count(counts[name])}
          </button>
        ))}
      </div>
      {shown.length === 0 ? (
        <Empty title="No entry fits">
          <p>Take another kind, or clear the search.</p>
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

/** Every row of the file with its verdict; without the file, every entry. */
function csvOf({ source, rows }: Done): readonly string[] {
  const added = ["verdict", "confidence", "signals"];
  const verdictCells = (row: ListRow | undefined): string[] =>
    row === undefined
      ? ["", "", ""]
      : [rowVerdict(row).words.replace(/ \d+$/, ""), String(row.confidence), row.signals.join(" ")];
  if (source === undefined) {
    const lines = rows.map((row) => csvLine([row.entry, ...verdictCells(row)]));
    return [csvLine(["Entry", ...added]), ...lines];
  }
  const byEntry = new Map(rows.map((row) => [row.entry, row]));
  const { table, at } = source;
  const { delimiter } = table;
  const lines = table.rows.map((cells) => {
    const padded = table.header.map((_, column) => cells[column] ?? "");
    const verdict = verdictCells(byEntry.get(entryOf(cells, at)));
    return csvLine([...padded, ...verdict], delimiter);
  });
  return [csvLine([...table.header, ...added], delimiter), ...lines];
}

/** Without it spreadsheets take UTF-8 for an old code page as soon as a letter is not ASCII. */
const BYTE_ORDER_MARK = "\ufeff";
const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

function downloadCsv(run: Done): void {
  const lines = csvOf(run);
  const mark = lines.every(isAscii) ? [] : [BYTE_ORDER_MARK];
  const url = URL.createObjectURL(
    new Blob([...mark, ...lines], { type: "text/csv;charset=utf-8" }),
  );
  const link = document.createElement("a");
  link.href = url;
  link.download = "results.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
