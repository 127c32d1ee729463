import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { ListRow } from "../../api/shapes.ts";
import { t } from "../../app/i18n.ts";
import { hasColumns } from "../../lists/list-csv.ts";
import { readPasted } from "../../lists/list-file.ts";
import { forget, giveUp, listRun, type ListRun } from "../../lists/list-run.ts";
import { count, counted } from "../../app/numbers.ts";
import { Countdown } from "../../parts/countdown.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { type Filter, type Kind, kindOf } from "../../words/list-row.ts";
import { Cleaned, CleanedButton } from "./list-cleaned.tsx";
import { Entries } from "./list-entries.tsx";
import { WhatToLookAt } from "./list-look.tsx";
import { Picture } from "./list-picture.tsx";

type Done = ListRun & { step: "done" };

function countsOf(rows: readonly ListRow[]): Readonly<Record<Kind, number>> {
  const counts = { good: 0, disposable: 0, dns: 0, unsure: 0, format: 0 };
  for (const row of rows) counts[kindOf(row)] += 1;
  return counts;
}

/** Starts a list of the entries that DNS said nothing about. */
function again(run: Done, rows: readonly ListRow[]): void {
  const table = readPasted(rows.map(({ entry }) => entry).join("\n"));
  giveUp();
  listRun.value = { step: "chosen", name: t("{name}, again", { name: run.name }), table };
}

/** What a list came to: the sentence, what can be repaired, every entry, and the files. */
export function ListResults({ run }: { run: Done }): VNode {
  const [isAsked, setAsked] = useState(false);
  const [fixes, setFixes] = useState<ReadonlySet<string>>(new Set());
  const [filter, setFilter] = useState<Filter>();
  const counts = useMemo(() => countsOf(run.rows), [run.rows]);
  const see = (name: Filter): void => {
    setFilter(name);
    document.getElementById("entries")?.scrollIntoView();
  };
  return (
    <>
      <PageHead title={run.name} lead={<Lead run={run} />}>
        <button type="button" class="plain" onClick={() => setAsked(true)}>
          {t("Delete now")}
        </button>
        <button type="button" onClick={giveUp}>
          {t("Another list")}
        </button>
        <CleanedButton run={run} fixes={fixes} />
      </PageHead>
      <Picture counts={counts} />
      <WhatToLookAt
        rows={run.rows}
        duplicates={duplicatesOf(run)}
        fixes={fixes}
        setFixes={setFixes}
        onFilter={see}
        onAgain={(rows) => again(run, rows)}
      />
      <Entries run={run} fixes={fixes} setFixes={setFixes} wanted={filter} onFilter={setFilter} />
      <Cleaned run={run} fixes={fixes} />
      {isAsked ? <Forget run={run} onClose={() => setAsked(false)} /> : null}
    </>
  );
}

/** Rows of the file that say an entry again. */
function duplicatesOf({ source, rows }: Done): number {
  if (source === undefined) return 0;
  const filled = source.column.text === "" ? 0 : source.column.text.split("\n").length;
  return Math.max(0, filled - new Set(rows.map(({ entry }) => entry.toLowerCase())).size);
}

/** The one way to the next list, and no way back: what was paid for is gone. */
function Forget({ run, onClose }: { run: Done; onClose: () => void }): VNode {
  return (
    <Confirm
      title={t("Delete these results?")}
      act={t("Delete them")}
      work={() => forget(run.sessions)}
      onClose={onClose}
    >
      {t(
        "They are deleted from this page and from the server. Files that you have downloaded stay. To see the results again, the list must be checked, and paid, again.",
      )}
    </Confirm>
  );
}

function Lead({ run }: { run: Done }): VNode {
  const { source, rows, expiresAtMs } = run;
  const different = counted(rows.length, "{n} different entry", "{n} different entries");
  return (
    <>
      {hasColumns(source)
        ? t("{rows} rows, column “{name}”, {different}.", {
            rows: count(source.table.rows.length),
            name: source.table.header[source.at] ?? "",
            different,
          })
        : `${different}.`}{" "}
      <Countdown
        untilMs={expiresAtMs}
        words={t("Deleted from this server in {time}.")}
        past={t(
          "The server has deleted the results. This page still has them, and makes the files.",
        )}
      />
    </>
  );
}
