import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { ListRow } from "../../api/shapes.ts";
import { downloadCsv } from "../../app/download.ts";
import { t } from "../../app/i18n.ts";
import { type Choice, cleanedCsv, hasColumns, type Part, partOf } from "../../lists/list-csv.ts";
import type { ListRun } from "../../lists/list-run.ts";
import { count, counted } from "../../app/numbers.ts";

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

/** The list without what is bad: the reader chooses what stays. */
export function Cleaned(props: {
  run: ListRun & { step: "done" };
  fixes: ReadonlySet<string>;
}): VNode {
  const { run, fixes } = props;
  const [choice, setChoice] = useState<Choice>(STANDARD);
  const counts = useMemo(() => countsOf(run.rows, fixes), [run.rows, fixes]);
  const chosen = PARTS.reduce((sum, [part]) => sum + (choice[part] ? counts[part] : 0), 0);
  const download = (): void => downloadCsv(cleanedCsv(run, choice, fixes), cleanedName(run.name));
  return (
    <section class="sheet cleaned">
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
          <button type="button" class="main" disabled={chosen === 0} onClick={download}>
            {counted(chosen, "Download {n} row", "Download {n} rows")}
          </button>
          <span class="note">{cleanedName(run.name)}</span>
        </div>
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
