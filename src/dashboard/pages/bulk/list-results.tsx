import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { ListRow, ListStats } from "../../api/shapes.ts";
import { countdown, nowMs } from "../../app/clock.ts";
import { downloadCsv } from "../../app/download.ts";
import { hasColumns, listCsv } from "../../app/list-csv.ts";
import { forget, type ListRun } from "../../app/list-run.ts";
import { count, counted } from "../../app/numbers.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { filterRows } from "../../words/list-row.ts";
import { Entries } from "./list-entries.tsx";

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
        <button type="button" onClick={() => downloadCsv(listCsv(run), "results.csv")}>
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
        ? `${counted(source.table.rows.length, "{n} row", "{n} rows")}, column “${source.table.header[source.at] ?? ""}”`
        : counted(stats.total, "{n} entry", "{n} entries")}
      , {count(stats.unique)} different. <Countdown expiresAtMs={expiresAtMs} />
    </>
  );
}

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
    () => kindsOf(stats, new Set(filterRows(rows, { filter: "unsure" }).map(entryKey)).size),
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
