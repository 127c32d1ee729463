import { LISTS_MAX, type ListChoice } from "../../bulk/list-store.ts";
import type { Session } from "../../bulk/sessions.ts";
import { type FixOrder, ROW_ORDERS } from "../../bulk/list-reader.ts";
import { FILE_COLUMNS, type CleanedRows, type ViewRow } from "../../bulk/list-view.ts";
import type { OpenList, Whose } from "../../bulk/lists.ts";
import { WORKBOOK_TYPE, workbookOf } from "../../bulk/write-workbook.ts";
import { csvLine } from "../../core/batch/result-cells.ts";
import { KEEP_RULES, ROW_CLASSES, type RowClass, verdictOf } from "../../core/batch/row-class.ts";
import { isoTime } from "../../core/calendar.ts";
import type { ListHistoryRow } from "../../store/tables/bulk.ts";
import type { FullResult } from "../../core/validate/result.ts";
import { badField, missingParameter, notNow } from "../../base/refusals.ts";
import {
  account,
  type AccountContext,
  type AccountReply,
  type AccountRoute,
  boundedNumber,
  counted,
  noteOwn,
  type Reader,
  flagField,
  optional,
  textField,
  wordField,
  wholeField,
} from "./route.ts";
import {
  type ListRowJson,
  ListRows,
  ListState,
  ListSummaries,
  type ListSummary,
  type PastList,
  type ReadList,
} from "./shapes.ts";

/** Lists from the file to the cleaned file. The list's id is in the path. */

const whose = ({ account: { id: accountId }, id }: AccountContext): Whose => ({ accountId, id });

/** It is read when it is needed, because another account's list is not found before. */
const anyField: Reader<unknown> = (value) => value;

function classOf(value: unknown): RowClass {
  const found = ROW_CLASSES.find((name) => name === value);
  if (found === undefined) throw badField(`A class of rows is one of ${ROW_CLASSES.join(", ")}.`);
  return found;
}

const PAGE_ROWS = { standard: 50, max: 200 };

function shownRow(row: ViewRow): ListRowJson {
  const { wasClass: _, ...shown } = row;
  return shown;
}

async function* csvOf(
  pages: AsyncIterable<CleanedRows>,
  delimiter: string,
  mark: string,
): AsyncGenerator<string> {
  let start = mark;
  for await (const rows of pages) {
    yield start + rows.map((cells) => csvLine(cells, delimiter)).join("");
    start = "";
  }
}

const notRunning = (open: OpenList): OpenList => {
  if (open.running !== undefined) throw notNow("The list is being checked.");
  return open;
};

function summaryOf(
  { list, runs, running, endMs }: OpenList,
  { clock }: AccountContext,
): ListSummary {
  const begun = runs.some(({ state }) => state !== "gone") ? "done" : "chosen";
  const busy = running?.state === "stopping" ? "stopping" : "running";
  return {
    id: list.id,
    name: list.name,
    state: running === undefined ? begun : busy,
    rows: list.rows,
    entries: running?.unique ?? 0,
    processed: running?.processed ?? 0,
    expires_in_seconds:
      endMs === undefined ? null : Math.max(0, Math.floor((endMs - clock.nowMs()) / 1_000)),
  };
}

const shownPast = (past: ListHistoryRow): PastList => ({
  name: past.name,
  rows: past.row_count,
  checked: past.checked,
  good: past.good,
  disposable: past.disposable,
  no_mail: past.no_mail,
  bad_format: past.bad_format,
  charged: past.charged,
  created_at: isoTime(past.created_at_ms),
});

async function stateOf(open: OpenList, context: AccountContext): Promise<ListState> {
  const { runs, running } = open;
  const last = runs.at(-1)?.state;
  const state = {
    ...summaryOf(open, context),
    failed: last === "failed",
    stopped: last === "stopped",
    charged: runs.reduce((sum, run) => sum + run.charged, 0),
  };
  if (running !== undefined) return { ...state, ...(await soFar(running, context)) };
  return { ...state, read: await readOf(open, context) };
}

async function soFar(run: Session, { accountLists }: AccountContext) {
  const newest = await accountLists.newest(run);
  return {
    so_far: { good: run.tally.valid, disposable: run.tally.disposable },
    newest: newest.map(({ spelling: entry, result }) => {
      const verdict = verdictOf(JSON.parse(result) as FullResult, entry, "anything");
      return { entry, class: verdict.class, why: verdict.why };
    }),
  };
}

const left = ({ used, limit }: { readonly used: number; readonly limit: number | null }): number =>
  limit === null ? Infinity : Math.max(0, limit - used);

async function readOf(
  open: OpenList,
  { account: own, accountLists, usage }: AccountContext,
): Promise<ReadList> {
  const facts = await accountLists.facts(notRunning(open));
  const { shape } = facts;
  const { day, month, credits, bulk_limit: most } = await usage.allowance(own);
  const rest = Math.min(left(day), left(month));
  const covered = Math.min(facts.open, most ?? Infinity, Math.max(rest, credits));
  return {
    columns: shape.header,
    column: shape.at,
    sheet: shape.sheet ?? null,
    sheets: shape.sheets ?? [],
    keep: open.list.choice.keep ?? "any",
    encoding: shape.encoding,
    delimiter: shape.delimiter,
    above: shape.above ?? 0,
    sample: facts.sample,
    counts: facts.counts,
    open: facts.open,
    unsure: facts.unsure,
    covered,
    plan_left: rest === Infinity ? null : rest,
    credits,
    list_limit: most,
    resets_at: (left(day) <= left(month) ? day : month).resets_at,
    repairs: facts.repairs,
    disposable: facts.disposable,
  };
}

export const listRoutes: readonly AccountRoute[] = [
  account("POST lists", { upload: true, answer: ListState }, (context) =>
    counted(context, async () => {
      const { file, account: own } = context;
      if (file === undefined) throw missingParameter("file");
      const { name, chunks } = file;
      const open = await context.accountLists.add({ accountId: own.id, name, file: chunks });
      return await stateOf(open, context);
    }),
  ),
  account("GET lists", { answer: ListSummaries }, async (context) => ({
    lists: (await context.accountLists.all(context.account.id)).map((open) =>
      summaryOf(open, context),
    ),
    most: LISTS_MAX,
    history: (await context.accountLists.history(context.account.id)).map(shownPast),
  })),
  account("GET lists/:id", { answer: ListState }, async (context) =>
    stateOf(await context.accountLists.find(whose(context)), context),
  ),
  account("DELETE lists/:id", {}, async (context) => {
    await context.accountLists.remove(whose(context));
    await noteOwn(context, { action: "list.deleted" });
  }),
  account(
    "POST lists/:id/read",
    {
      body: {
        sheet: optional(textField(1_000)),
        column: optional(wholeField),
        keep: optional(wordField(KEEP_RULES, `"keep" is one of ${KEEP_RULES.join(", ")}.`)),
      },
      answer: ListState,
    },
    async (context) => {
      const { sheet, column, keep } = context.body;
      const choice: ListChoice = {
        ...(sheet !== undefined && { sheet }),
        ...(column !== undefined && { column: `column ${String(column + 1)}` }),
        ...(keep !== undefined && { keep }),
      };
      return stateOf(await context.accountLists.choose(whose(context), choice), context);
    },
  ),
  account(
    "POST lists/:id/check",
    { body: { first: optional(wholeField), again: flagField }, answer: ListState },
    async (context) => {
      const { again, first } = context.body;
      const order = { again, ...(first !== undefined && { first }) };
      const open = await counted(context, (admitted) =>
        context.accountLists.check(whose(context), admitted, order),
      );
      return stateOf(open, context);
    },
  ),
  account("POST lists/:id/stop", { body: {}, answer: ListState }, async (context) =>
    stateOf(await context.accountLists.stop(whose(context)), context),
  ),
  account(
    "POST lists/:id/fix",
    {
      body: { class: anyField, entry: optional(textField(40_000)), undo: flagField },
      answer: ListState,
    },
    async (context) => {
      const { entry, class: name, undo } = context.body;
      const order: FixOrder = {
        of: entry === undefined ? { class: classOf(name) } : { entry },
        undo,
      };
      return stateOf(await context.accountLists.fix(whose(context), order), context);
    },
  ),
  account("GET lists/:id/rows", { answer: ListRows }, async (context) => {
    const { query, accountLists: lists } = context;
    const open = notRunning(await lists.find(whose(context)));
    const { class: name = "", why = "", text = "", from = "0", sort = "file" } = query;
    const order = ROW_ORDERS.find((known) => known === sort);
    if (order === undefined) throw badField(`Rows are sorted by ${ROW_ORDERS.join(", ")}.`);
    const start = Number.isSafeInteger(Number(from)) ? Math.max(0, Number(from)) : 0;
    const found = await lists.rows(open, {
      class: name === "" ? "" : classOf(name),
      why,
      text,
      sort: order,
      from: start,
      count: boundedNumber(query["count"], PAGE_ROWS),
    });
    return { ...found, rows: found.rows.map(shownRow) };
  }),
  account("GET lists/:id/csv", {}, (context) => cleanedFile(context, "csv")),
  account("GET lists/:id/xlsx", {}, (context) => cleanedFile(context, "xlsx")),
];

async function cleanedFile(context: AccountContext, form: "csv" | "xlsx"): Promise<AccountReply> {
  const { query, accountLists: lists } = context;
  const { classes = ROW_CLASSES.join(), columns = "all", bom } = query;
  const open = notRunning(await lists.find(whose(context)));
  const wanted = classes.split(",").map(classOf);
  const found = FILE_COLUMNS.find((name) => name === columns);
  if (found === undefined) throw badField(`Columns are one of ${FILE_COLUMNS.join(", ")}.`);
  const { delimiter } = (await lists.facts(open)).shape;
  const pages = lists.file(open, { classes: wanted, columns: found });
  await noteOwn(context, { action: "list.downloaded" });
  const base = open.list.name.replace(/\.\w{1,5}$/, "");
  const what = wanted.length === 1 ? (wanted[0] ?? "").replace("_", "-") : "cleaned";
  const name = encodeURIComponent(`${base}-${what}.${form}`);
  const headers = { "content-disposition": `attachment; filename*=UTF-8''${name}` };
  if (form === "xlsx") return { headers, text: { type: WORKBOOK_TYPE, chunks: workbookOf(pages) } };
  const chunks = csvOf(pages, delimiter, bom === "1" ? "\ufeff" : "");
  return { headers, text: { type: "text/csv; charset=utf-8", chunks } };
}
