import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { ReadList } from "../../http/account/shapes.ts";
import { post } from "../lib/client.ts";
import { count, counted, sumOf } from "../lib/format.ts";
import { useAction } from "../lib/load.ts";
import { Fault } from "../parts/button.tsx";
import { Checks, Field } from "../parts/form.tsx";
import { Lines, More } from "../parts/rows.tsx";
import { CLASSES, classesIn, type ShownClass } from "../words/lists.ts";

const COLUMNS = [
  ["verdict", "My columns, with verdict and reason"],
  ["mine", "My columns alone"],
  ["all", "Everything that was found"],
] as const;

const KEEP = [
  ["any", "Good when any address is good"],
  ["all", "Good when all addresses are good"],
] as const;

const DELIMITER_WORDS: Readonly<Record<string, string>> = {
  ",": "commas",
  ";": "semicolons",
  "\t": "tabs",
  "|": "bars",
};

const FORMS = [
  ["csv", "CSV"],
  ["xlsx", "Excel (.xlsx)"],
] as const;

interface CleanedProps {
  readonly id: string;
  readonly read: ReadList;
}

function KeepRule({ id, read: { keep, column, sheet } }: CleanedProps): VNode {
  const { fault, run } = useAction();
  const choose = (rule: string): void => {
    const body = { keep: rule, column, ...(sheet !== null && { sheet }) };
    run(() => post(`lists/${id}/read`, body));
  };
  return (
    <>
      <Field label="Rows with several addresses" value={keep} choices={KEEP} onValue={choose} />
      <Fault text={fault} />
    </>
  );
}

/** The file that the reader wants, made by the server of the rows that are chosen. */
export function Cleaned({ id, read }: CleanedProps): VNode {
  const names = classesIn(read);
  const [chosen, setChosen] = useState<readonly ShownClass[]>(["good", "fixed"]);
  const [columns, setColumns] = useState<string>("verdict");
  const [form, setForm] = useState<string>("csv");
  const kept = names.filter((name) => chosen.includes(name));
  const rows = sumOf(kept, (name) => read.counts[name]);
  const href = (classes: readonly ShownClass[]): string =>
    `account/lists/${id}/${form}?bom=1&columns=${columns}&classes=${classes.join(",")}`;
  return (
    <section class="sheet even" id="cleaned">
      <div class="stack close">
        <h2>Cleaned list</h2>
        <KeepRule {...{ id, read }} />
        <Field label="Columns" value={columns} choices={COLUMNS} onValue={setColumns} />
        <Field
          label="File"
          hint={
            form === "csv"
              ? `With ${DELIMITER_WORDS[read.delimiter] ?? "the delimiter of your file"}, in UTF-8 (your file: ${read.encoding}), lines end as in Windows. Excel drops leading zeros of a CSV file.`
              : "A new workbook of one sheet. Cells are texts as they are shown; formulas, styles and other sheets do not come with it."
          }
          value={form}
          choices={FORMS}
          onValue={setForm}
        />
        {rows === 0 ? (
          <p class="note">Choose the rows to keep.</p>
        ) : (
          <a class="button main" href={href(kept)} download="">
            Download {counted(rows, "row")}
          </a>
        )}
        <More summary="One file for each verdict">
          <Lines
            rows={names.map((name) => [
              CLASSES[name].words,
              <a href={href([name])} download="">
                {counted(read.counts[name], "row")}
                <span class="unseen">, {CLASSES[name].words}</span>
              </a>,
            ])}
          />
        </More>
      </div>
      <Checks
        legend="Rows to keep"
        rows={names.map((name) => [
          name,
          [<span class="grow">{CLASSES[name].words}</span>, count(read.counts[name])],
        ])}
        chosen={chosen}
        onChosen={setChosen}
      />
    </section>
  );
}
