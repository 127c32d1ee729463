import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type {
  ListRowJson,
  ListRows,
  ListState,
  ReadList,
  RepairJson,
} from "../../http/account/shapes.ts";
import {
  capital,
  count,
  counted,
  isoIn,
  joined,
  percent,
  plural,
  relativeTime,
  timeMs,
} from "../lib/format.ts";
import { useAction, useLoad } from "../lib/load.ts";
import { post, remove } from "../lib/client.ts";
import { go, queried, setQuery } from "../lib/router.ts";
import { Act } from "../parts/act.tsx";
import { Button, Fault } from "../parts/button.tsx";
import { ShareBar, SplitWithLegend } from "../parts/chart.tsx";
import { Field, Options, useSearch } from "../parts/form.tsx";
import { breakable, Mark, Time } from "../parts/marks.tsx";
import { Go, PageHead, Sheet, Shown } from "../parts/page.tsx";
import { Lines, Table, Pager } from "../parts/rows.tsx";
import { Cleaned } from "./list-cleaned.tsx";
import { CLASSES, classesIn, type ShownClass } from "../words/lists.ts";

function costWords(entries: number, covered: number, read: ReadList): string {
  const { plan_left: left, credits, list_limit: most } = read;
  const checks = counted(entries, "check");
  if (entries === 0) return "Nothing to check: choose another column or sheet.";
  if (covered < entries && covered === most) {
    return `It would cost ${checks}. One check of a list has at most ${count(most)} entries in your plan; check the others afterwards.`;
  }
  if (covered < entries) {
    const more = credits > 0 ? `, and you have ${counted(credits, "credit")}` : "";
    return `It would cost ${checks}. The plan has ${counted(left ?? 0, "check")} left${more}. The plan starts again ${relativeTime(timeMs(read.resets_at))}.`;
  }
  if (left === null) return `It costs ${checks}; your plan has no limit.`;
  if (entries <= left) return `It costs ${checks} of the ${count(left)} that your plan has left.`;
  return `Your plan has ${counted(left, "check")} left, so ${count(entries)} of your ${counted(credits, "credit")} pay for it.`;
}

export type ReadyList = ListState & { readonly read: ReadList };

export const changeList = (id: string, name: string, body: object = {}): Promise<unknown> =>
  post(`lists/${id}/${name}`, body);

export const ALL_LISTS = <Go to="lists" act="All lists" class="plain" />;

export const listButtons = ({ id, charged }: ListState): VNode => (
  <>
    {ALL_LISTS}
    <Act
      {...{ act: "Delete now", class: "", title: "Delete this list?", yes: "Delete it" }}
      send={() => remove(`lists/${id}`).then(() => go("lists"))}
    >
      {charged > 0
        ? "The file and its results are deleted from the server. To see the results again, the list must be checked, and paid for, again."
        : "The file is deleted from the server. Nothing was charged for it."}
    </Act>
  </>
);

export const endWords = ({ expires_in_seconds: seconds }: ListState): VNode => (
  <>
    Deleted from this server <Time at={isoIn(seconds ?? 0)} />.
  </>
);

/** A button that checks these entries, with what it costs. `again`: they got no answer from DNS before. */
export function checkButton(
  { id, read }: ReadyList,
  entries: number,
  { again = false, ...more }: { readonly again?: boolean; readonly class?: string } = {},
): VNode {
  const { plan_left: left, credits, list_limit: most } = read;
  const covered = Math.min(entries, most ?? Infinity, Math.max(left ?? Infinity, credits));
  // No more than the button says, whatever another tab chose meanwhile.
  const body = { first: covered, ...(again && { again }) };
  const words =
    covered < entries
      ? `Check the first ${count(covered)}`
      : `Check ${counted(entries, "entry", "entries")}${again ? " again" : ""}`;
  return (
    <div class="bar">
      <Act
        {...{ act: words, ...more, disabled: covered === 0 }}
        send={() => changeList(id, "check", body)}
      />
      <span class="note grow">{costWords(entries, covered, read)}</span>
    </div>
  );
}

export const columnName = (name: string, at: number): string =>
  name.trim() === "" ? `Column ${String(at + 1)}` : name;

export function Choices({ id, read }: ReadyList): VNode {
  const { fault, run } = useAction();
  const { sheet, sheets, columns, column } = read;
  const choose = (body: object): void => run(() => changeList(id, "read", body));
  return (
    <>
      <div class="bar choose">
        {sheet !== null && sheets.length > 1 && (
          <Field
            label="Sheet"
            value={sheet}
            choices={sheets.map((name) => [name, name])}
            onValue={(name) => choose({ sheet: name })}
          />
        )}
        {columns.length > 1 && (
          <Field
            label="Column with the entries"
            value={String(column)}
            choices={columns.map((name, at) => [String(at), columnName(name, at)])}
            onValue={(at) => choose({ ...(sheet !== null && { sheet }), column: Number(at) })}
          />
        )}
      </div>
      <Fault text={fault} />
    </>
  );
}

export function ListResult(list: ReadyList): VNode {
  const { rows, read } = list;
  const [isDownloading, setDownloading] = useState(false);
  const see = (name: ShownClass): void => {
    setQuery({ class: name, why: "", from: "" });
    document.getElementById("rows")?.scrollIntoView();
  };
  const lead = (
    <>
      {counted(rows, "row")}, {counted(list.charged, "check")} charged. {endWords(list)}
    </>
  );
  return (
    <>
      <PageHead title={list.name} lead={lead}>
        {listButtons(list)}
        <Button act="Download" class="main" onClick={() => setDownloading(true)} />
      </PageHead>
      {notChecked(list)}
      {picture(read, rows, see)}
      {whatToLookAt(list, see)}
      <Rows {...list} />
      {read.sheets.length + read.columns.length > 2 && (
        <Sheet title="Another sheet or column">
          <Choices {...list} />
        </Sheet>
      )}
      {isDownloading && <Cleaned id={list.id} read={read} onClose={() => setDownloading(false)} />}
    </>
  );
}

type See = (name: ShownClass) => void;

function notChecked(list: ReadyList): VNode | null {
  const { unchecked, fixed } = list.read.counts;
  if (unchecked + fixed === 0) return null;
  const rows = [
    unchecked > 0 ? `${counted(unchecked, "row was", "rows were")} not checked` : "",
    fixed > 0
      ? `${counted(fixed, "fixed row has", "fixed rows have")} a new entry that is not checked yet`
      : "",
  ];
  return (
    <section class="notice unsure stack close">
      <h2>{rows.filter((words) => words !== "").join(", and ")}.</h2>
      {list.failed ? (
        <p>The service could not finish the check; what it did not check is not charged.</p>
      ) : (
        list.stopped && unchecked > 0 && <p>You ended the check before its end.</p>
      )}
      {checkButton(list, list.read.open)}
    </section>
  );
}

function picture(read: ReadList, rows: number, see: See): VNode {
  const { counts } = read;
  const names = classesIn(read);
  return (
    <Sheet>
      <h2 class="say">
        {count(counts.good)} of {counted(rows, "row")}{" "}
        {plural(rows === 1 ? 1 : counts.good, "is good to use.", "are good to use.")}
      </h2>
      <SplitWithLegend
        parts={names.map((name) => [CLASSES[name].words, CLASSES[name].colour, counts[name]])}
        share={(many) => percent(many / rows)}
        see={(at) => see(names[at] ?? "good")}
      />
    </Sheet>
  );
}

function whatToLookAt(list: ReadyList, see: See): VNode | null {
  const { read } = list;
  const repairs = read.repairs.filter(({ open, fixed }) => open + fixed > 0);
  if (repairs.length + read.disposable.length + read.unsure === 0) return null;
  const most = read.disposable[0]?.rows ?? 1;
  return (
    <section class="stack" aria-labelledby="look">
      <h2 id="look">What to look at</h2>
      <div class="even">
        {repairs.map((repair) => repairCard(list.id, repair, see))}
        {read.disposable.length > 0 && (
          <article class="sheet stack close">
            <h3>Why rows are disposable</h3>
            <Lines
              rows={read.disposable.map(({ why, rows }) => [
                why,
                <ShareBar share={rows / most} words={count(rows)} colour="no-fill" />,
              ])}
            />
            {seeButton("See the disposable rows", () => see("disposable"))}
          </article>
        )}
        {read.unsure > 0 && (
          <article class="sheet stack close">
            <h3>Could not tell</h3>
            <p class="prose">
              DNS gave no answer for {counted(read.unsure, "entry", "entries")}. Another try may
              tell.
            </p>
            {checkButton(list, read.unsure, { again: true })}
          </article>
        )}
      </div>
    </section>
  );
}

const seeButton = (act: string, onClick: () => void, of?: string): VNode => (
  <Button {...{ act, of, onClick, class: "link" }} />
);

const REPAIR_WORDS: Partial<Record<ShownClass, readonly [one: string, many: string]>> = {
  misspelt: ["misspelt row", "misspelt rows"],
  format: ["row with a slip", "rows with a slip"],
};

function repairCard(id: string, repair: RepairJson, see: See): VNode {
  const { class: name, open, fixed, slips } = repair;
  const [one, many] = REPAIR_WORDS[name] ?? ["row", "rows"];
  const of = `: ${many}`;
  return (
    <article key={name} class="sheet stack close">
      <h3>
        <b>{count(open + fixed)}</b> {plural(open + fixed, one, many)} that can be repaired
      </h3>
      <Lines
        rows={slips.map(({ from, to, rows }) => [
          <span class="mono">{`${from} → ${to}`}</span>,
          <span class="note">{count(rows)}</span>,
        ])}
      />
      {fixed > 0 && (
        <p class="prose">
          {counted(fixed, "row is", "rows are")} fixed. The original stays in the file, in a column
          of its own; a fixed row that now repeats another one is counted as repeated.
        </p>
      )}
      <div class="bar">
        {open > 0 && (
          <Act
            {...{ act: open === 1 ? "Fix it" : `Fix all ${count(open)}`, of, class: "fix" }}
            send={() => changeList(id, "fix", { class: name })}
          />
        )}
        {fixed > 0 && (
          <Act
            {...{ act: `Undo ${counted(fixed, "fix", "fixes")}`, of, class: "" }}
            send={() => changeList(id, "fix", { class: name, undo: true })}
          />
        )}
        {open > 0 && seeButton("See each one", () => see(name), of)}
      </div>
    </article>
  );
}

const ORDERS = [
  ["file", "As in the file"],
  ["entry", "By entry"],
  ["domain", "By domain"],
  ["verdict", "By verdict"],
  ["reason", "By reason"],
] as const;

const PAGE_ROWS = 50;

/** What is chosen stands in the address: Back and a reload show it again. */
function Rows({ id, read }: ReadyList): VNode {
  const [text, search] = useSearch("Search", "Search in the entries", queried("text"));
  const [shown, why, sort] = [queried("class"), queried("why"), queried("sort") || "file"];
  const from = Number(queried("from")) || 0;
  const set = (changed: Readonly<Record<string, string>>): void =>
    setQuery({ from: "", ...changed });
  useEffect(() => {
    if (text !== queried("text")) setQuery({ text, from: "" }, false);
  }, [text]);
  const turn = (start: number): void => setQuery({ from: start === 0 ? "" : String(start) });
  const wanted = { from: String(from), count: String(PAGE_ROWS), class: shown, why, text, sort };
  const query = new URLSearchParams(wanted);
  // Another tab may change the rows, too.
  const stamp = JSON.stringify([read.counts, read.repairs, read.sheet, read.column]);
  const loading = useLoad<ListRows>(`lists/${id}/rows?${query.toString()}`, stamp);
  const reasons = loading.value?.reasons ?? [];
  const classes = classesIn(read).map((name) => [name, CLASSES[name].words] as const);
  return (
    <section class="sheet stack" id="rows">
      <div class="bar">
        <h2>Every row</h2>
        <Options
          {...{ class: "kind push", label: "Which rows", value: shown }}
          choices={[["", "All rows"], ...classes]}
          onValue={(name) => set({ class: name, why: "" })}
        />
        {reasons.length > 1 && (
          <Options
            {...{ class: "kind", label: "Which reason", value: why }}
            onValue={(one) => set({ why: one })}
            choices={[["", "Any reason"], ...reasons.map((each) => [each.why, each.why] as const)]}
          />
        )}
        <Options
          {...{ class: "kind", label: "Order", value: sort, choices: ORDERS }}
          onValue={(one) => set({ sort: one === "file" ? "" : one })}
        />
        {search}
      </div>
      <Shown loading={loading} lines={6}>
        {({ total, rows }) => (
          <>
            <Table
              fixed
              label="Rows and their verdicts"
              head={["Entry", "Verdict", "Why", "Suggestion", "Line"]}
              numbers={[4]}
              none="No row fits. Take other rows, or clear the search."
              rows={rows.flatMap((row) => [
                cellsOf(id, row),
                ...(row.each ?? []).map((piece) => cellsOf(id, { ...piece, line: row.line }, true)),
              ])}
            />
            <Pager {...{ from, total, size: PAGE_ROWS, of: "row", onFrom: turn }} />
          </>
        )}
      </Shown>
    </section>
  );
}

/** `isPiece`: it is one of several addresses in a row, which stands above. */
const cellsOf = (
  id: string,
  { entry, was, why, meant, line, each, lists = [], ...row }: ListRowJson,
  isPiece = false,
) => [
  <span class="mono">
    {isPiece && "– "}
    {breakable(entry)}
    {was === undefined ? null : <span class="note"> was {was}</span>}
  </span>,
  <Mark {...CLASSES[row.class]} />,
  why && (
    <span class="note">
      {why}
      {lists.length > 0 && ` ${capital(joined(lists))}.`}
    </span>
  ),
  was !== undefined && each === undefined ? (
    <Act act="Undo" of={was} send={() => changeList(id, "fix", { entry: was, undo: true })} />
  ) : (
    meant && (
      <Act
        {...{ act: `Use ${newPart(entry, meant)}`, of: `for ${entry}`, class: "small fix" }}
        send={() => changeList(id, "fix", { entry })}
      />
    )
  ),
  count(line),
];

function newPart(entry: string, meant: string): string {
  const at = meant.lastIndexOf("@") + 1;
  return at > 0 && entry.startsWith(meant.slice(0, at)) ? meant.slice(at) : meant;
}
