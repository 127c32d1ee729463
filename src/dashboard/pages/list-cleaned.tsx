import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { ReadList } from "../../http/account/shapes.ts";
import { post } from "../lib/client.ts";
import { count, counted, sumOf } from "../lib/format.ts";
import { useAction } from "../lib/load.ts";
import { Dialog } from "../parts/act.tsx";
import { Button, Fault } from "../parts/button.tsx";
import { Checks, Field } from "../parts/form.tsx";
import { Lines, More } from "../parts/rows.tsx";
import { CLASSES, classesIn, type ShownClass } from "../words/lists.ts";

const COLUMNS = [
  ["verdict", "My columns, with verdict and reason"],
  ["mine", "My columns alone"],
  ["all", "Everything that was found"],
] as const;

const PIECES = [
  ["all", "As they are"],
  ["good", "Keep the good ones"],
] as const;

const KEEP = [
  ["any", "Good when any address is good"],
  ["all", "Good when all addresses are good"],
] as const;

const FORMS = [
  ["csv", "Text (CSV)"],
  ["xlsx", "Excel (.xlsx)"],
] as const;

const KEPT_BOOK =
  "Your workbook: types, formats and other sheets stay; links, notes, merged cells and tables move with their rows. Where rows are taken out, formulas of this sheet become their values, and filters, rules, names, pictures and charts keep their places.";
const NEW_BOOK = "A new workbook of one sheet, in which cells are texts.";

const WRITTEN = ["utf-8", "utf-16le", "utf-16be", "windows-1252"];

function textWords({ sheet, encoding }: ReadList, isForExcel: boolean): string {
  const where = isForExcel || !WRITTEN.includes(encoding) ? "in UTF-8" : `in ${encoding}`;
  return sheet === null
    ? `With the delimiter and line ends of your file, ${where}.`
    : "The sheet alone, in UTF-8: numbers with up to 15 digits, dates as they are shown.";
}

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

interface FileFieldsProps {
  readonly read: ReadList;
  readonly form: string;
  readonly setForm: (form: string) => void;
  readonly encoding: string;
  readonly setEncoding: (encoding: string) => void;
}

function FileFields({ read, form, setForm, encoding, setEncoding }: FileFieldsProps): VNode {
  const isWorkbook = read.sheet !== null;
  return (
    <>
      <Field
        label="File"
        hint={
          form === "csv" ? textWords(read, encoding === "utf-8") : isWorkbook ? KEPT_BOOK : NEW_BOOK
        }
        value={form}
        choices={FORMS}
        onValue={setForm}
      />
      {form === "csv" && !isWorkbook && (
        <Field
          label="Encoding"
          hint="Excel drops leading zeros of a CSV file, and reads UTF-8 by its mark."
          value={encoding}
          choices={[
            ["own", `As my file (${read.encoding})`],
            ["utf-8", "UTF-8 with mark, for Excel"],
          ]}
          onValue={setEncoding}
        />
      )}
    </>
  );
}

const oneForEach = (read: ReadList, href: (name: ShownClass) => string): VNode => (
  <More summary="One file for each verdict">
    <Lines
      rows={classesIn(read).map((name) => [
        CLASSES[name].words,
        <a href={href(name)} download="">
          {counted(read.counts[name], "row")}
          <span class="unseen">, {CLASSES[name].words}</span>
        </a>,
      ])}
    />
  </More>
);

export function Cleaned({ id, read, onClose }: CleanedProps & { onClose: () => void }): VNode {
  const names = classesIn(read);
  const [chosen, setChosen] = useState<readonly ShownClass[]>(["good", "fixed"]);
  const [columns, setColumns] = useState<string>("verdict");
  const [form, setForm] = useState<string>(read.sheet === null ? "csv" : "xlsx");
  const [encoding, setEncoding] = useState<string>("own");
  const [pieces, setPieces] = useState<string>("all");
  const kept = names.filter((name) => chosen.includes(name));
  const rows = sumOf(kept, (name) => read.counts[name]);
  const href = (classes: readonly ShownClass[]): string =>
    `account/lists/${id}/${form}?encoding=${encoding}&columns=${columns}&pieces=${pieces}&classes=${classes.join(",")}`;
  return (
    <Dialog title="Cleaned list" onClose={onClose}>
      <div class="stack">
        <Checks
          legend="Rows to keep"
          rows={names.map((name) => [
            name,
            [<span class="grow">{CLASSES[name].words}</span>, count(read.counts[name])],
          ])}
          chosen={chosen}
          onChosen={setChosen}
        />
        {read.several > 0 && (
          <>
            <KeepRule {...{ id, read }} />
            <Field
              label="Addresses in such a row"
              value={pieces}
              choices={PIECES}
              onValue={setPieces}
            />
          </>
        )}
        <Field label="Columns" value={columns} choices={COLUMNS} onValue={setColumns} />
        <FileFields {...{ read, form, setForm, encoding, setEncoding }} />
        {rows === 0 ? (
          <p class="note">Choose the rows to keep.</p>
        ) : (
          <a class="button main" href={href(kept)} download="">
            Download {counted(rows, "row")}
          </a>
        )}
        {oneForEach(read, (name) => href([name]))}
      </div>
      <Button act="Close" class="plain" onClick={onClose} />
    </Dialog>
  );
}
