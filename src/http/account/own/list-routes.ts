import type { UsageReader } from "../../../accounts/allowance.ts";
import type { ListChoice, Run } from "../../../bulk/list-store.ts";
import type { ListView, ViewRow } from "../../../bulk/list-view.ts";
import type { FixOrder, Lists, OpenList, Whose } from "../../../bulk/lists.ts";
import { ROW_CLASSES, type RowClass, verdictOf } from "../../../core/batch/row-class.ts";
import { type Schema, Type } from "../../../core/json-schema.ts";
import type { FullResult } from "../../../core/validate/result.ts";
import { badField, missingParameter, notNow } from "../../../base/refusals.ts";
import { counted, type CountedDeps } from "../counted.ts";
import { boundedNumber, numberField, textField } from "../fields.ts";
import { type AccountRoute, answering, done, type SignedInRequest } from "../route.ts";
import {
  type ListRow,
  ListRows,
  ListState,
  ListSummaries,
  type ListSummary,
  type ReadList,
} from "../shapes.ts";

export interface ListDeps extends CountedDeps {
  readonly lists: Lists;
  readonly usage: Pick<UsageReader, "allowance">;
}

/** Lists from the file to the cleaned file. The list's id is in the path. */
export function listRoutes(deps: ListDeps): readonly AccountRoute[] {
  return [...readRoutes(deps), ...changeRoutes(deps), ...rowRoutes(deps)];
}

const whose = ({ account, id }: SignedInRequest): Whose => ({ accountId: account.id, id });

const NAME_MAX = 1_000;

const readRoutes = (deps: ListDeps): readonly AccountRoute[] => [
  answering(ListState, {
    method: "POST",
    path: "lists",
    for: "account",
    upload: true,
    summary: "Upload a file with a list; it is read and kept, and nothing is charged",
    handle: (request) =>
      counted(request, deps, async () => {
        const { file, account } = request;
        if (file === undefined) throw missingParameter("file");
        const { name, chunks } = file;
        const open = await deps.lists.add({ accountId: account.id, name, file: chunks });
        return await stateOf(open, request, deps);
      }),
  }),
  answering(ListSummaries, {
    method: "GET",
    path: "lists",
    for: "account",
    summary: "The account's lists, newest first",
    async handle({ account }) {
      const lists = await deps.lists.all(account.id);
      return { lists: lists.map((open) => summaryOf(open, deps)) };
    },
  }),
  answering(ListState, {
    method: "GET",
    path: "lists/:id",
    for: "account",
    summary: "What was read of a list, how far its check is, and what it came to",
    handle: async (request) => stateOf(await deps.lists.find(whose(request)), request, deps),
  }),
];

const changeRoutes = (deps: ListDeps): readonly AccountRoute[] => [
  changing(deps, "read", {
    summary: "Read another sheet, or another column by its place from 0",
    body: Type.Object({
      sheet: Type.Optional(Type.String()),
      column: Type.Optional(Type.Integer()),
    }),
    change: (request) => deps.lists.choose(whose(request), choiceOf(request)),
  }),
  changing(deps, "check", {
    summary:
      "Check and charge what is not checked, the `first` so many entries of it; `again`: what DNS gave no answer for",
    body: Type.Object({
      first: Type.Optional(Type.Integer()),
      again: Type.Optional(Type.Boolean()),
    }),
    change: (request) => {
      const { first } = request.body;
      const order = {
        again: request.body["again"] === true,
        ...(first !== undefined && { first: numberField(request.body, "first") }),
      };
      return counted(request, deps, (entrance) =>
        deps.lists.check(whose(request), entrance, order),
      );
    },
  }),
  changing(deps, "stop", {
    summary: "End the check and keep what it came to; entries that were not begun are given back",
    body: Type.Object({}),
    change: (request) => deps.lists.stop(whose(request)),
  }),
  changing(deps, "fix", {
    summary: "Apply the repairs of a class of rows, or of one entry; `undo` takes them back",
    body: Type.Object({
      class: Type.Optional(Type.String()),
      entry: Type.Optional(Type.String()),
      undo: Type.Optional(Type.Boolean()),
    }),
    change: (request) => deps.lists.fix(whose(request), fixOf(request)),
  }),
  {
    method: "DELETE",
    path: "lists/:id",
    for: "account",
    summary: "Delete a list with its results; what runs of it is ended",
    async handle(request) {
      await deps.lists.remove(whose(request));
      return done;
    },
  },
];

interface Changing {
  readonly summary: string;
  readonly body: Schema;
  readonly change: (request: SignedInRequest) => Promise<OpenList>;
}

const changing = (deps: ListDeps, name: string, { change, ...words }: Changing): AccountRoute =>
  answering(ListState, {
    method: "POST",
    path: `lists/:id/${name}`,
    for: "account",
    ...words,
    handle: async (request) => stateOf(await change(request), request, deps),
  });

function choiceOf({ body }: SignedInRequest): ListChoice {
  return {
    ...(body["sheet"] !== undefined && { sheet: textField(body, "sheet", NAME_MAX) }),
    ...(body["column"] !== undefined && {
      column: `column ${String(numberField(body, "column") + 1)}`,
    }),
  };
}

const ENTRY_MAX = 40_000;

function fixOf({ body }: SignedInRequest): FixOrder {
  const undo = body["undo"] === true;
  if (body["entry"] !== undefined)
    return { of: { entry: textField(body, "entry", ENTRY_MAX) }, undo };
  return { of: { class: classOf(body["class"]) }, undo };
}

function classOf(value: unknown): RowClass {
  const found = ROW_CLASSES.find((name) => name === value);
  if (found === undefined) throw badField(`A class of rows is one of ${ROW_CLASSES.join(", ")}.`);
  return found;
}

const PAGE_ROWS = { standard: 50, max: 200 };

const rowRoutes = (deps: ListDeps): readonly AccountRoute[] => [
  answering(ListRows, {
    method: "GET",
    path: "lists/:id/rows",
    for: "account",
    summary:
      "Rows of the `class` with the reason `why` whose entry holds `text`: `count` of them from `from`",
    async handle(request) {
      const { query } = request;
      const { rows } = await viewOf(await deps.lists.find(whose(request)), deps);
      const { class: name = "", why = "", text = "", from = "0" } = query;
      const ofClass = name === "" ? rows : rows.filter((row) => row.class === classOf(name));
      const sought = text.trim().toLowerCase();
      const isSought = (row: ViewRow): boolean =>
        (why === "" || row.why === why) &&
        (sought === "" || row.entry.toLowerCase().includes(sought));
      const found = why === "" && sought === "" ? ofClass : ofClass.filter(isSought);
      const start = Number.isSafeInteger(Number(from)) ? Math.max(0, Number(from)) : 0;
      const page = found.slice(start, start + boundedNumber(query["count"], PAGE_ROWS));
      return {
        total: found.length,
        rows: page.map(shownRow),
        reasons: name === "" ? [] : reasonsOf(ofClass),
      };
    },
  }),
  {
    method: "GET",
    path: "lists/:id/csv",
    for: "account",
    summary:
      "The cleaned file: rows of the `classes`, all without, our columns at the end; `bom=1` for Excel",
    async handle(request) {
      const { classes = ROW_CLASSES.join(), bom } = request.query;
      const open = await deps.lists.find(whose(request));
      if (open.running !== undefined) throw notNow("The list is being checked.");
      const chosen = new Set(classes.split(",").map(classOf));
      const chunks = await deps.lists.csv(open, chosen);
      const name = encodeURIComponent(`${open.list.name.replace(/\.\w{1,5}$/, "")}-cleaned.csv`);
      return {
        headers: { "content-disposition": `attachment; filename*=UTF-8''${name}` },
        text: { type: "text/csv; charset=utf-8", chunks: bom === "1" ? marked(chunks) : chunks },
      };
    },
  },
];

const shownRow = ({ line, entry, class: name, why, meant, was }: ViewRow): ListRow => ({
  line,
  entry,
  class: name,
  why,
  meant,
  ...(was !== undefined && { was }),
});

/** By the mark spreadsheets know UTF-8. */
async function* marked(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  yield "\ufeff";
  yield* chunks;
}

async function viewOf(open: OpenList, { lists }: ListDeps): Promise<ListView> {
  if (open.running !== undefined) throw notNow("The list is being checked.");
  return await lists.view(open);
}

function summaryOf({ list, runs, running, endMs }: OpenList, { clock }: ListDeps): ListSummary {
  const isBegun = runs.some(({ state }) => state !== "gone");
  return {
    id: list.id,
    name: list.name,
    state:
      running === undefined
        ? isBegun
          ? "done"
          : "chosen"
        : running.state === "stopping"
          ? "stopping"
          : "running",
    rows: list.rows,
    entries: running?.unique ?? 0,
    processed: running?.processed ?? 0,
    expires_in_seconds:
      endMs === undefined ? null : Math.max(0, Math.floor((endMs - clock.nowMs()) / 1_000)),
  };
}

async function stateOf(
  open: OpenList,
  request: SignedInRequest,
  deps: ListDeps,
): Promise<ListState> {
  const { runs, running } = open;
  const last = runs.at(-1)?.state;
  const state = {
    ...summaryOf(open, deps),
    failed: last === "failed",
    stopped: last === "stopped",
    charged: runs.reduce((sum, run) => sum + run.charged, 0),
  };
  if (running !== undefined) return { ...state, ...(await soFar(running, deps)) };
  return { ...state, read: await readOf(open, request, deps) };
}

async function soFar(run: Run, { lists }: ListDeps) {
  const newest = await lists.newest(run);
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
  { account }: SignedInRequest,
  deps: ListDeps,
): Promise<ReadList> {
  const view = await viewOf(open, deps);
  const { shape } = view;
  const { day, month, credits, bulk_limit: most } = await deps.usage.allowance(account);
  const rest = Math.min(left(day), left(month));
  const covered = Math.min(view.open.length, most ?? Infinity, Math.max(rest, credits));
  return {
    columns: shape.header,
    column: shape.at,
    sheet: shape.sheet ?? null,
    sheets: shape.sheets ?? [],
    sample: view.sample,
    counts: view.counts,
    open: view.open.length,
    unsure: view.unsure.length,
    covered,
    plan_left: rest === Infinity ? null : rest,
    credits,
    list_limit: most,
    resets_at: (left(day) <= left(month) ? day : month).resets_at,
    repairs: REPAIRED.map((name) => repairsOf(name, view)),
    disposable: reasonsOf(view.rows.filter((row) => row.class === "disposable")).slice(0, SHOWN),
  };
}

const REPAIRED = ["misspelt", "format"] as const;

/** Reasons and slips that are shown. */
const SHOWN = 4;
const REASONS_MAX = 50;

function reasonsOf(rows: readonly ViewRow[]): ListRows["reasons"] {
  const counts = new Map<string, number>();
  for (const { why } of rows) {
    if (why !== "") counts.set(why, (counts.get(why) ?? 0) + 1);
  }
  return [...counts]
    .map(([why, times]) => ({ why, rows: times }))
    .sort((a, b) => b.rows - a.rows)
    .slice(0, REASONS_MAX);
}

/** Rows of one class that can be repaired, with the most frequent slips: of domains where only they differ. */
function repairsOf(name: RowClass, { rows }: ListView): ReadList["repairs"][number] {
  const slips = new Map<string, { from: string; to: string; rows: number }>();
  let [open, fixed] = [0, 0];
  for (const row of rows) {
    const isFixed = row.wasClass === name;
    if (isFixed) fixed += 1;
    else if (row.class === name && row.meant !== "") open += 1;
    else continue;
    const [from, to] = differing(row.was ?? row.entry, isFixed ? row.entry : row.meant);
    const known = slips.get(from) ?? { from, to, rows: 0 };
    known.rows += 1;
    slips.set(from, known);
  }
  const most = [...slips.values()].sort((a, b) => b.rows - a.rows).slice(0, SHOWN);
  return { class: name, open, fixed, slips: most };
}

/** The domains of both where what stands before them is the same. */
function differing(from: string, to: string): readonly [string, string] {
  const at = to.lastIndexOf("@") + 1;
  return at > 0 && from.startsWith(to.slice(0, at)) ? [from.slice(at), to.slice(at)] : [from, to];
}
