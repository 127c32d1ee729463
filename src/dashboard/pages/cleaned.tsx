import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { ReadList } from "../../http/account/shapes.ts";
import { count, counted, sumOf } from "../lib/format.ts";
import { Lines, More } from "../parts/basic.tsx";
import { Checks, Field } from "../parts/form.tsx";
import { CLASSES, classesIn, type ShownClass } from "../words/lists.ts";

const COLUMNS = [
  ["verdict", "My columns, with verdict and reason"],
  ["mine", "My columns alone"],
  ["all", "Everything that was found"],
] as const;

const FORMS = [
  ["csv", "CSV"],
  ["xlsx", "Excel (.xlsx)"],
] as const;

/** The file that the reader wants, made by the server of the rows that are chosen. */
export function Cleaned({ id, read }: { id: string; read: ReadList }): VNode {
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
        <Field label="Columns" value={columns} choices={COLUMNS} onValue={setColumns} />
        <Field
          label="File"
          hint={
            form === "csv"
              ? "With the delimiter of your file. Excel drops leading zeros of a CSV file."
              : "Every cell stays as it is, also telephone numbers."
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
          <>
            <span class="grow">{CLASSES[name].words}</span>
            <span>{count(read.counts[name])}</span>
          </>,
        ])}
        chosen={chosen}
        onChosen={setChosen}
      />
    </section>
  );
}
