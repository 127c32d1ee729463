import { padded } from "../../core/batch/list-table.ts";
import { csvLine } from "../../core/batch/result-cells.ts";
import { MAILBOX_RULES } from "../../core/evidence/alias.ts";
import type { FileWriter } from "../../base/files.ts";
import type { ListPage } from "../../bulk/files/list-file.ts";
import type { FindMailbox } from "../../gate/mailbox-ids.ts";
import { type CliBulk, tableFailure } from "./bulk.ts";
import { accountRowsFor, group, type WithAccounts } from "../command.ts";
import { misuse, withOpened } from "../terminal.ts";

export interface CliMailboxes extends Pick<CliBulk, "readPages" | "files">, WithAccounts {
  readonly findMailbox: FindMailbox;
}

const COLUMNS = ["mailbox_id", "mailbox_rules"];

/** `gatepost mailbox ...`: about people that an account has already. */
export const mailboxCommand = group("mailbox", "ids of the people that an account has already", [
  accountRowsFor<CliMailboxes>()("ids", {
    about: "add the mailbox ids of an account to a file of its users",
    takes: (to) =>
      to
        .argument("<file>", 'CSV, text, JSON or .xlsx; "-" reads standard input')
        .option("--column <name>", "column with the addresses (number from 1, or name)")
        .option("--out <file>", "write the CSV to this file; it must not exist"),
    json: undefined,
    details:
      "Every row is written as CSV with the columns mailbox_id and mailbox_rules. Nothing is\n" +
      "counted, stored or asked of DNS.",
    examples: ["gatepost mailbox ids jo@example.com users.csv --column email --out ids.csv"],
    async run({ id }, { files, readPages, findMailbox }, given, { err }) {
      const {
        args: [, file],
        column,
        out = "-",
      } = given;
      const [input, output] = [await files.stat(file), await files.stat(out)];
      if (input !== undefined && input.id === output?.id) {
        throw misuse("--out must not be the input file");
      }
      const stop = new AbortController();
      const slices = files.read(file, stop.signal);
      const pages = readPages(slices, { name: file, ...(column !== undefined && { column }) });
      const find = (email: string): string => findMailbox(id, email).id ?? "";
      try {
        const { rows, without } = await withOpened(
          () => files.write(out, "refused"),
          (writer) => writeIds(pages, find, writer),
        );
        err(`${String(rows)} rows, ${String(without)} without an id\n`);
      } catch (error) {
        throw tableFailure(file, error);
      } finally {
        stop.abort();
      }
    },
  }),
]);

async function writeIds(
  pages: AsyncIterable<ListPage>,
  find: (email: string) => string,
  writer: FileWriter,
): Promise<{ readonly rows: number; readonly without: number }> {
  let isFirst = true;
  let rows = 0;
  let without = 0;
  for await (const { shape, rows: some } of pages) {
    const { header, delimiter } = shape;
    const lines = isFirst ? [csvLine([...header, ...COLUMNS], delimiter)] : [];
    isFirst = false;
    for (const { cells, entries } of some) {
      const ids = entries.map(find).filter((id) => id !== "");
      const added = ids.length === 0 ? ["", ""] : [ids.join("; "), MAILBOX_RULES];
      if (ids.length === 0) without += 1;
      lines.push(csvLine([...padded(cells, header.length), ...added], delimiter));
    }
    rows += some.length;
    await writer.write(lines.join(""));
  }
  return { rows, without };
}
