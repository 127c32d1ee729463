import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { ListRow } from "../../api/shapes.ts";
import { downloadCsv } from "../../app/download.ts";
import { t } from "../../app/i18n.ts";
import {
  type Choice,
  cleanedCsv,
  hasColumns,
  listCsv,
  type Part,
  partOf,
} from "../../lists/list-csv.ts";
import type { ListRun } from "../../lists/list-run.ts";
import { count, counted } from "../../app/numbers.ts";
import { useIsPast } from "../../parts/countdown.tsx";

type Done = ListRun & { step: "done" };

const PARTS: readonly (readonly [part: Part, words: string])[] = [
  ["good", "Good entries"],
  ["fixed", "Fixed entries, with the suggestion applied"],
  ["unsure", "Could not tell"],
  ["rest", "Everything else, marked"],
];

const STANDARD: Choice = { good: true, fixed: true, unsure: false, rest: false };

/** "people-cleaned.csv" for "people.xlsx". */
const cleanedName = (name: string): string => `${name.replace(/\.\w{1,5}$/, "")}-cleaned.csv`;

function countsOf(
  rows: readonly ListRow[],
  fixes: ReadonlySet<string>,
): Readonly<Record<Part, number>> {
  const counts: Record<Part, number> = { good: 0, fixed: 0, unsure: 0, rest: 0 };
  for (const row of rows) counts[partOf(row, fixes)] += 1;
  return counts;
}

interface CleanedProps {
  run: Done;
  fixes: ReadonlySet<string>;
}

const download = (run: Done, choice: Choice, fixes: ReadonlySet<string>): void =>
  downloadCsv(cleanedCsv(run, choice, fixes), cleanedName(run.name));

/** The cleaned list as most people want it: what is good, and what was fixed. */
export function CleanedButton({ run, fixes }: CleanedProps): VNode {
  return (
    <button type="button" class="main" onClick={() => download(run, STANDARD, fixes)}>
      {t("Download cleaned list")}
    </button>
  );
}

/** The list without what is bad: the reader chooses what stays. */
export function Cleaned({ run, fixes }: CleanedProps): VNode {
  const [choice, setChoice] = useState<Choice>(STANDARD);
  const counts = useMemo(() => countsOf(run.rows, fixes), [run.rows, fixes]);
  const chosen = PARTS.reduce((sum, [part]) => sum + (choice[part] ? counts[part] : 0), 0);
  return (
    <section class="sheet cleaned unprinted">
      <div class="stack close">
        <h2>{t("Cleaned list")}</h2>
        <p class="prose">
          {hasColumns(run.source)
            ? t(
                "Your file with all {n} columns in their order, plus verdict, reason and the original of what was fixed.",
                {
                  n: run.source.table.header.length,
                },
              )
            : t("One entry a row, plus verdict, reason and the original of what was fixed.")}
        </p>
        <div class="bar">
          <button
            type="button"
            class="main"
            disabled={chosen === 0}
            onClick={() => download(run, choice, fixes)}
          >
            {counted(chosen, "Download {n} row", "Download {n} rows")}
          </button>
          <span class="note break">{cleanedName(run.name)}</span>
        </div>
        <Files run={run} />
      </div>
      <fieldset class="choices">
        <legend class="unseen">{t("What the cleaned list keeps")}</legend>
        {PARTS.map(([part, words]) => (
          <label key={part} class="choice">
            <input
              type="checkbox"
              checked={choice[part]}
              onChange={({ currentTarget }) =>
                setChoice({ ...choice, [part]: currentTarget.checked })
              }
            />
            <span class="grow">{t(words)}</span>
            <span>{count(counts[part])}</span>
          </label>
        ))}
      </fieldset>
    </section>
  );
}

/** The results as other files. */
function Files({ run }: { run: Done }): VNode {
  const isGone = useIsPast(run.expiresAtMs);
  const [session = "", ...others] = run.sessions;
  const base = `/account/lists/${session}`;
  const isOnServer = !isGone && others.length === 0;
  return (
    <div class="bar">
      <span class="note">{t("Other files")}</span>
      <button type="button" class="small" onClick={() => downloadCsv(listCsv(run), "results.csv")}>
        {hasColumns(run.source) ? t("CSV, all columns") : t("CSV")}
      </button>
      {isOnServer ? (
        <>
          <a class="button small" href={`${base}/valid`} download="valid_list.txt">
            {t("Download valid list")}
          </a>
          <a class="button small" href={`${base}/json`} download="results.json">
            {t("JSON")}
          </a>
        </>
      ) : null}
    </div>
  );
}
