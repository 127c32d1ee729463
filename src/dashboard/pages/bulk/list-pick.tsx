import { t } from "../../app/i18n.ts";
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import {
  decodeFile,
  FILE_MAX_BYTES,
  NO_TEXT,
  readPasted,
  readTable,
  type Table,
  tableOf,
} from "../../lists/list-file.ts";
import { listRun } from "../../lists/list-run.ts";
import { Paste } from "./list-paste.tsx";
import { Returned } from "./list-returned.tsx";
import { takeBroughtFile, useDroppedFile } from "../../parts/dropped-file.ts";
import { PageHead } from "../../parts/page-head.tsx";
import { Fault } from "../../parts/states.tsx";

/** Comes once the page shows what was set before: reading a large file then holds it still for a second. */
const nextPaint = (): Promise<void> =>
  new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));

function choose(name: string, table: Table, complain: (text: string) => void): void {
  if (table.rows.length === 0) complain(t("The file is empty."));
  else listRun.value = { step: "chosen", name, table };
}

/** A workbook of Excel 2007 or later, by its name and its first bytes: it is a ZIP archive. */
const isWorkbook = (name: string, bytes: Uint8Array): boolean =>
  /\.xls[xm]$/i.test(name) && bytes[0] === 0x50 && bytes[1] === 0x4b;

/** The reader of workbooks is fetched for the first one. */
async function readWorkbook(
  name: string,
  bytes: Uint8Array,
  complain: (text: string) => void,
): Promise<void> {
  const { readXlsx } = await import("../../lists/xlsx.ts");
  const rows = readXlsx(bytes);
  if (rows === undefined) complain(t("This workbook could not be read. Save it as CSV first."));
  else choose(name, tableOf(rows, ","), complain);
}

/** Where a list begins: dropped, picked or pasted. */
export function ListPick(): VNode {
  const [fault, setFault] = useState("");
  const [isReading, setReading] = useState(false);
  const readFile = (file: File | undefined): void => {
    if (file === undefined) return;
    if (file.size > FILE_MAX_BYTES) {
      setFault(t("The file is larger than 20 MB. Split it, or use the API."));
      return;
    }
    setFault("");
    setReading(true);
    Promise.all([file.arrayBuffer(), nextPaint()]).then(
      ([buffer]) => {
        setReading(false);
        const bytes = new Uint8Array(buffer);
        if (isWorkbook(file.name, bytes)) return readWorkbook(file.name, bytes, setFault);
        const text = decodeFile(bytes);
        if (text === undefined) setFault(t(NO_TEXT));
        else choose(file.name, readTable(text), setFault);
        return undefined;
      },
      () => {
        setReading(false);
        setFault(t("The file could not be read."));
      },
    );
  };
  useEffect(() => readFile(takeBroughtFile()), []);
  return (
    <>
      <PageHead
        title={t("Check a list")}
        lead={t(
          "The file stays in your browser: only the column you choose is sent, and its results are deleted after 15 minutes.",
        )}
      />
      <Fault text={fault} />
      <div class="even">
        <Drop onFile={readFile} isReading={isReading} />
        <Paste onText={(text) => choose(t("Pasted list"), readPasted(text), setFault)} />
      </div>
      <Returned />
    </>
  );
}

function Drop(props: { onFile: (file: File | undefined) => void; isReading: boolean }): VNode {
  const { onFile, isReading } = props;
  const isOver = useDroppedFile(onFile);
  const input = useRef<HTMLInputElement>(null);
  return (
    <section class={isOver ? "drop over" : "drop"}>
      <p>{t("Drop a file on this page, or")}</p>
      <button
        type="button"
        class="main"
        disabled={isReading}
        onClick={() => input.current?.click()}
      >
        {isReading ? t("Reading the file…") : t("Choose a file")}
      </button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label={t("File with the list")}
        accept=".csv,.txt,.tsv,.xlsx,.xlsm,text/csv,text/plain"
        onChange={(event) => {
          onFile(event.currentTarget.files?.[0]);
          event.currentTarget.value = "";
        }}
      />
      <span class="note">{t("CSV, Excel or text, up to 20 MB")}</span>
    </section>
  );
}
