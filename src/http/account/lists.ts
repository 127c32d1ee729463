import type { Account } from "../../accounts/accounts-store.ts";
import { LISTS_MAX, type ListChoice } from "../../bulk/lists/list-store.ts";
import type { Session } from "../../bulk/jobs/sessions.ts";
import { type CleanedRows, FILE_COLUMNS } from "../../bulk/lists/cleaned-rows.ts";
import type { ReadShape } from "../../bulk/files/list-file.ts";
import { ROW_ORDERS } from "../../bulk/lists/list-reader.ts";
import type { ViewPiece, ViewRow } from "../../bulk/lists/list-view.ts";
import { type OutText, outText } from "../../bulk/files/out-text.ts";
import type { OpenList, Whose } from "../../bulk/lists/lists.ts";
import { WORKBOOK_TYPE, workbookOf } from "../../bulk/files/write-workbook.ts";
import {
  KEEP_RULES,
  ROW_CLASSES,
  type RowClass,
  entryVerdict,
} from "../../core/batch/row-class.ts";
import { isoTime } from "../../core/calendar.ts";
import type { ListHistoryRow } from "../../store/tables/bulk.ts";
import type { FullResult } from "../../core/validate/result.ts";
import { badField, missingParameter, notNow } from "../../base/refusals.ts";
import {
  account,
  AccountReply,
  anyField,
  boundedNumber,
  inRate,
  type DashboardServices,
  noteOwn,
  flagField,
  optional,
  type SignedInRequest,
  bodyText,
  wordField,
  wholeField,
} from "./route.ts";

/** Lists from the file to the cleaned file. The list's id is in the path. */

const whose = ({ account: { id: accountId }, id }: SignedInRequest): Whose => ({ accountId, id });

function classOf(value: unknown): RowClass {
  const found = ROW_CLASSES.find((name) => name === value);
  if (found === undefined) throw badField(`A class of rows is one of ${ROW_CLASSES.join(", ")}.`);
  return found;
}

interface Listed {
  /** The public lists that hold it now. */
  readonly lists?: readonly string[];
}

export interface ListRowJson
  extends Omit<ViewRow, "wasClass" | "each" | "spread" | "readAs">, Listed {
  readonly each?: readonly (ViewPiece & Listed)[];
}

function shownRow(row: ViewRow, { listsWith }: DashboardServices): ListRowJson {
  const { wasClass: _, spread: __, readAs: ___, each, ...shown } = row;
  const listed = <Piece extends ViewPiece>(piece: Piece) =>
    piece.class === "disposable" ? { ...piece, lists: listsWith(piece.entry) } : piece;
  return each === undefined ? listed(shown) : { ...shown, each: each.map(listed) };
}

async function* csvOf(
  pages: AsyncIterable<CleanedRows>,
  { head, encode, line }: OutText,
): AsyncGenerator<Uint8Array | string> {
  let start = head;
  for await (const rows of pages) {
    yield encode(start + rows.map(line).join(""));
    start = "";
  }
}

const notRunning = (open: OpenList): OpenList => {
  if (open.running !== undefined) throw notNow("The list is being checked.");
  return open;
};

function summaryOf({ list, runs, running, endMs }: OpenList, nowMs: number) {
  const begun = runs.some(({ state }) => state !== "gone")
    ? ("done" as const)
    : ("chosen" as const);
  const busy = running?.state === "stopping" ? ("stopping" as const) : ("running" as const);
  return {
    id: list.id,
    name: list.name,
    state: running === undefined ? begun : busy,
    rows: list.rows,
    entries: running?.unique ?? 0,
    processed: running?.processed ?? 0,
    expires_in_seconds:
      endMs === undefined ? null : Math.max(0, Math.floor((endMs - nowMs) / 1_000)),
  };
}

function shownPast(past: ListHistoryRow) {
  const { id: _, account_id: __, row_count: rows, created_at_ms: createdMs, ...counts } = past;
  return { ...counts, rows, created_at: isoTime(createdMs) };
}

async function stateOf(services: DashboardServices, open: OpenList, own: Account) {
  const { runs, running } = open;
  const last = runs.at(-1)?.state;
  return {
    ...summaryOf(open, services.clock.nowMs()),
    failed: last === "failed",
    stopped: last === "stopped",
    charged: runs.reduce((sum, run) => sum + run.charged, 0),
    ...(running !== undefined && (await soFar(services, running))),
    ...(running === undefined && { read: await readOf(services, open, own) }),
  };
}

const NO_WORKER = "Waiting: no worker runs. Nothing is lost.";

async function waitingOf({ accountLists, health }: DashboardServices, run: Session) {
  const ahead = await accountLists.ahead(run);
  const { broken } = await health.state();
  const isStuck = broken.some(({ part }) => part === "lists" || part === "workers");
  if (!isStuck && ahead === undefined) return undefined;
  const says = isStuck ? NO_WORKER : "Waiting for its turn.";
  return { ahead: ahead ?? 0, says };
}

async function soFar(services: DashboardServices, run: Session) {
  const newest = await services.accountLists.newest(run);
  const waiting = await waitingOf(services, run);
  return {
    ...(waiting !== undefined && { waiting }),
    so_far: { good: run.tally.valid, disposable: run.tally.disposable },
    newest: newest.map(({ spelling: entry, result }) => {
      const verdict = entryVerdict(JSON.parse(result) as FullResult, entry, "anything");
      return { entry, class: verdict.class, why: verdict.why };
    }),
  };
}

const left = ({ used, limit }: { readonly used: number; readonly limit: number | null }): number =>
  limit === null ? Infinity : Math.max(0, limit - used);

async function readOf({ accountLists, usage }: DashboardServices, open: OpenList, own: Account) {
  const { shape, rows: _, ...facts } = await accountLists.facts(notRunning(open));
  const { day, month, credits, bulk_limit: most } = await usage.allowance(own);
  const rest = Math.min(left(day), left(month));
  return {
    columns: shape.header,
    column: shape.at,
    further: shape.further ?? [],
    sheet: shape.sheet ?? null,
    sheets: shape.sheets ?? [],
    keep: open.list.choice.keep ?? "any",
    encoding: shape.encoding,
    above: shape.above ?? 0,
    ...facts,
    plan_left: rest === Infinity ? null : rest,
    credits,
    list_limit: most,
    resets_at: (left(day) <= left(month) ? day : month).resets_at,
  };
}

/** A route that answers with the state of the list of the path. */
const onList =
  <Body>(
    work: (lists: DashboardServices["accountLists"], whose: Whose, body: Body) => Promise<OpenList>,
  ) =>
  async (services: DashboardServices, request: SignedInRequest<Body>) =>
    stateOf(
      services,
      await work(services.accountLists, whose(request), request.body),
      request.account,
    );

export const listRoutes = [
  account("POST lists", { upload: true }, (services, request) =>
    inRate(services, request, async () => {
      const { file, account: own } = request;
      if (file === undefined) throw missingParameter("file");
      const { name, chunks } = file;
      const open = await services.accountLists.add({ accountId: own.id, name, file: chunks });
      return await stateOf(services, open, own);
    }),
  ),
  account("GET lists", {}, async ({ accountLists, clock }, { account: { id } }) => {
    const lists = await accountLists.all(id);
    return {
      lists: lists.map((open) => summaryOf(open, clock.nowMs())),
      most: LISTS_MAX,
      history: (await accountLists.history(id)).map(shownPast),
    };
  }),
  account(
    "GET lists/:id",
    {},
    onList((lists, own) => lists.find(own)),
  ),
  account("DELETE lists/:id", {}, async ({ accountLists }, request) => {
    await accountLists.remove(whose(request));
    await noteOwn(request, { action: "list.deleted" });
  }),
  account(
    "POST lists/:id/read",
    {
      body: {
        sheet: optional(bodyText(1_000)),
        column: optional(wholeField),
        keep: optional(wordField(KEEP_RULES, `"keep" is one of ${KEEP_RULES.join(", ")}.`)),
      },
    },
    onList((lists, own, { sheet, column, keep }) => {
      const choice: ListChoice = {
        ...(sheet !== undefined && { sheet }),
        ...(column !== undefined && { column: `column ${String(column + 1)}` }),
        ...(keep !== undefined && { keep }),
      };
      return lists.choose(own, choice);
    }),
  ),
  account(
    "POST lists/:id/check",
    { body: { first: optional(wholeField), again: flagField } },
    async (services, request) => {
      const { again, first } = request.body;
      const order = { again, ...(first !== undefined && { first }) };
      const open = await inRate(services, request, (admitted) =>
        services.accountLists.check(whose(request), admitted, order),
      );
      return stateOf(services, open, request.account);
    },
  ),
  account(
    "POST lists/:id/stop",
    {},
    onList((lists, own) => lists.stop(own)),
  ),
  account(
    "POST lists/:id/fix",
    { body: { class: anyField, entry: optional(bodyText(40_000)), undo: flagField } },
    onList((lists, own, { entry, class: name, undo }) => {
      const of = entry === undefined ? { class: classOf(name) } : { entry };
      return lists.fix(own, { of, undo });
    }),
  ),
  account("GET lists/:id/rows", {}, async (services, request) => {
    const { accountLists } = services;
    const open = notRunning(await accountLists.find(whose(request)));
    const {
      class: name = "",
      why = "",
      text = "",
      from = "0",
      sort = "file",
      count,
    } = request.query;
    const order = ROW_ORDERS.find((known) => known === sort);
    if (order === undefined) throw badField(`Rows are sorted by ${ROW_ORDERS.join(", ")}.`);
    const start = Number.isSafeInteger(Number(from)) ? Math.max(0, Number(from)) : 0;
    const found = await accountLists.rows(open, {
      class: name === "" ? "" : classOf(name),
      why,
      text,
      sort: order,
      from: start,
      count: boundedNumber(count, { standard: 50, max: 200 }),
    });
    return { ...found, rows: found.rows.map((row) => shownRow(row, services)) };
  }),
  account("GET lists/:id/csv", {}, (services, request) => cleanedFile(services, request, "csv")),
  account("GET lists/:id/xlsx", {}, (services, request) => cleanedFile(services, request, "xlsx")),
];

async function cleanedFile(
  { accountLists: lists }: DashboardServices,
  request: SignedInRequest,
  form: "csv" | "xlsx",
): Promise<AccountReply> {
  const { classes = ROW_CLASSES.join(), columns = "all", encoding, pieces } = request.query;
  const open = notRunning(await lists.find(whose(request)));
  const wanted = classes.split(",").map(classOf);
  const found = FILE_COLUMNS.find((name) => name === columns);
  if (found === undefined) throw badField(`Columns are one of ${FILE_COLUMNS.join(", ")}.`);
  const { shape } = await lists.facts(open);
  const order = { classes: wanted, columns: found, goodOnly: pieces === "good" };
  await noteOwn(request, { action: "list.downloaded" });
  const [, base = "", own = ""] = /^(.*?)(?:\.(\w{1,5}))?$/s.exec(open.list.name) ?? [];
  const what = wanted.length === 1 ? (wanted[0] ?? "").replace("_", "-") : "cleaned";
  const isWorkbook = shape.sheet !== undefined;
  const ending = form === "xlsx" ? workbookEnding(own) : textEnding(own, shape, found);
  const name = encodeURIComponent(`${base}-${what}.${ending}`);
  const headers = { "content-disposition": `attachment; filename*=UTF-8''${name}` };
  if (form === "xlsx") {
    const chunks = isWorkbook ? lists.workbook(open, order) : workbookOf(lists.file(open, order));
    return new AccountReply({ headers, text: { type: WORKBOOK_TYPE, chunks } });
  }
  const text = outText(shape, encoding === "utf-8" || isWorkbook);
  const type = `text/${ending === "tsv" ? "tab-separated-values" : "csv"}; charset=${text.encoding}`;
  const chunks = csvOf(lists.file(open, order), text);
  return new AccountReply({ headers, text: { type, chunks } });
}

/** Workbooks with macros and templates have their own, without which no program opens them. */
const workbookEnding = (own: string): string => (/^xl[st][mx]$/i.test(own) ? own : "xlsx");

function textEnding(own: string, { form, delimiter }: ReadShape, columns: string): string {
  if (form !== "list" && delimiter === "\t") return "tsv";
  const isOwn = /^(?:csv|txt|tab)$/i.test(own) && (form === "table" || columns === "mine");
  return isOwn ? own : "csv";
}
