import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { ReadList } from "../../http/account/shapes.ts";
import { post } from "../lib/client.ts";
import { count, counted, sumOf } from "../lib/format.ts";
import { useAction } from "../lib/load.ts";
import { Dialog } from "../parts/act.tsx";
import { Button, Fault } from "../parts/button.tsx";
import { Checks, type Choices, Field } from "../parts/form.tsx";
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
  "Your workbook: types, formats and other sheets stay; links, notes, merged cells and tables move with their rows. Where rows are taken out, formulas of this sheet, and those elsewhere that name a row that is gone, become their values, other formulas follow the rows, and filters, rules, names, pictures and charts keep their places.";
const NEW_BOOK = "A new workbook of one sheet, in which cells are texts.";

const MARK_HINT = "Excel drops leading zeros of a CSV file, and reads UTF-8 by its mark.";

const encodings = ({ encoding }: ReadList) =>
  [
    ["own", `As my file (${encoding})`],
    ["utf-8", "UTF-8 with mark, for Excel"],
  ] as const;

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

const fileHint = (read: ReadList, { form, encoding }: CleanedChoice): string => {
  if (form === "csv") return textWords(read, encoding === "utf-8");
  return read.sheet === null ? NEW_BOOK : KEPT_BOOK;
};

interface CleanedChoice {
  readonly form: string;
  readonly encoding: string;
  readonly columns: string;
  readonly pieces: string;
}

export function Cleaned({ id, read, onClose }: CleanedProps & { onClose: () => void }): VNode {
  const isTable = read.sheet === null;
  const names = classesIn(read);
  const [chosen, setChosen] = useState<readonly ShownClass[]>(["good", "fixed"]);
  const [order, setOrder] = useState<CleanedChoice>({
    form: isTable ? "csv" : "xlsx",
    encoding: "own",
    columns: "verdict",
    pieces: "all",
  });
  const field = (
    name: keyof CleanedChoice,
    label: string,
    choices: Choices,
    hint?: string,
  ): VNode => (
    <Field
      {...{ label, choices, hint, value: order[name] }}
      onValue={(value) => setOrder({ ...order, [name]: value })}
    />
  );
  const kept = names.filter((name) => chosen.includes(name));
  const rows = sumOf(kept, (name) => read.counts[name]);
  const { form, ...more } = order;
  const href = (classes: readonly ShownClass[]): string =>
    `account/lists/${id}/${form}?${new URLSearchParams({ ...more, classes: classes.join() }).toString()}`;
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
        {read.several > 0 && <KeepRule {...{ id, read }} />}
        {read.several > 0 && field("pieces", "Addresses in such a row", PIECES)}
        {field("columns", "Columns", COLUMNS)}
        {field("form", "File", FORMS, fileHint(read, order))}
        {isTable && form === "csv" && field("encoding", "Encoding", encodings(read), MARK_HINT)}
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
