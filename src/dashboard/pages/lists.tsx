import { signal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { ListState, ListSummaries, ListSummary, ReadList } from "../../http/account/shapes.ts";
import { ApiFault, upload } from "../lib/client.ts";
import { count, counted, isoIn, nowMs, percent, plural } from "../lib/format.ts";
import { useAction, useLoad, usePolling } from "../lib/load.ts";
import { brought, useDroppedFile } from "../lib/page.ts";
import { fragment, go } from "../lib/router.ts";
import { allowance, listLife, loadAllowanceSoon } from "../lib/session.ts";
import { announce } from "../lib/state.ts";
import { Act } from "../parts/act.tsx";
import { Fault } from "../parts/button.tsx";
import { SplitWithLegend } from "../parts/chart.tsx";
import { type FieldSpec, Form, type FormValues } from "../parts/form.tsx";
import { Mark, Meter, noted, Time } from "../parts/marks.tsx";
import { Skeleton, Go, PageHead, Sheet, Shown } from "../parts/page.tsx";
import { LinesSheet, Table, TableSheet } from "../parts/rows.tsx";
import {
  ALL_LISTS,
  changeList,
  checkButton,
  Choices,
  columnName,
  endWords,
  listButtons,
  ListResult,
  type ReadyList,
} from "./list-result.tsx";
import { CLASSES, classesIn } from "../words/lists.ts";

const LIST_ID = /^[0-9a-f]{32}$/;

export function Page(): VNode {
  const id = fragment.value;
  return LIST_ID.test(id) ? <OneList key={id} id={id} /> : <Start />;
}

/** Another tab may change the list, so that it is looked at again and again while the page is in sight. */
function OneList({ id }: { id: string }): VNode {
  const loading = useLoad<ListState>(`lists/${id}`);
  const state = loading.value;
  const isRunning = state?.state === "running" || state?.state === "stopping";
  usePolling(true, loading.reload, isRunning ? 1_000 : 5_000);
  useEffect(() => {
    if (state?.state === "done") announce(`${state.name} is checked.`);
  }, [isRunning]);
  useEffect(loadAllowanceSoon, [state?.state]);
  if (loading.isGone) return gone();
  return (
    <>
      {state === undefined && <PageHead title="List" />}
      <Shown loading={loading} lines={6}>
        {(list) => <OpenList {...list} />}
      </Shown>
    </>
  );
}

function OpenList({ read, ...list }: ListState): VNode {
  if (list.state !== "chosen" && list.state !== "done") return <Running {...list} />;
  // It is read again after its check.
  if (read === undefined) return <Skeleton lines={6} />;
  return list.state === "done" ? <ListResult {...list} read={read} /> : listRead({ ...list, read });
}

const gone = (): VNode => (
  <>
    <PageHead
      title="This list is not here any more"
      lead={`A list is deleted ${listLife()} after its upload or its last check, or when you delete it.`}
    />
    <div>
      <Go to="lists" act="Upload a list" class="main" />
    </div>
  </>
);

const FILE_MAX_OCTETS = 20_000_000;
const TOO_LARGE =
  "The file is larger than 20 MB. Split it, and check its parts one after the other.";

const sent = signal(0);

async function send(file: File): Promise<void> {
  if (file.size > FILE_MAX_OCTETS) throw new ApiFault(413, TOO_LARGE);
  const body = new FormData();
  body.set("file", file);
  sent.value = 0;
  const { id } = await upload<ListState>("lists", body, (part) => (sent.value = part));
  go(`lists#${id}`);
}

const PASTED: FieldSpec = {
  name: "text",
  label: "Or paste addresses and domains",
  rows: 5,
  input: { placeholder: "One a line, or with commas between", required: true },
};

const paste = ({ text = "" }: FormValues): Promise<void> =>
  send(new File([text.replaceAll("\0", "\ufffd")], "pasted.txt"));

function Start(): VNode {
  const loading = useLoad<ListSummaries>("lists");
  usePolling(true, loading.reload);
  const { lists = [], history = [], most = Infinity } = loading.value ?? {};
  const isFull = lists.length >= most;
  return (
    <>
      <PageHead
        title="Check a list"
        lead={`The file goes to this server, which shows what it read. Nothing is charged before you press Check. Everything is deleted after ${listLife()}, or at once when you press Delete now.`}
      />
      <p class={isFull ? "notice unsure" : "note limits"} role="status">
        {isFull
          ? `You have ${count(most)} lists here, and there is room for no more: delete one first.`
          : limitWords(lists.length, most)}
      </p>
      <div class="even">
        <Drop isFull={isFull} />
        <Form
          {...{ class: "sheet stack", act: "Look at the list", fields: [PASTED], send: paste }}
          keeps
        />
      </div>
      <Sheet title="Your lists">
        <Shown loading={loading}>{keptLists}</Shown>
      </Sheet>
      {history.length > 0 && pastLists(history)}
    </>
  );
}

const keptLists = ({ lists }: ListSummaries): VNode => (
  <Table
    label="Your lists"
    head={["List", "State", "Rows", "Deleted"]}
    numbers={[2]}
    none="None yet. Each stays here until it is deleted."
    rows={lists.map((list) => [
      <a href={`lists#${list.id}`} class="break">
        {list.name}
      </a>,
      stateWords(list),
      count(list.rows),
      list.expires_in_seconds === null ? "–" : <Time at={isoIn(list.expires_in_seconds)} />,
    ])}
  />
);

const pastLists = (history: ListSummaries["history"]): VNode => (
  <TableSheet
    {...{ title: "Deleted lists of 13 months", tall: true }}
    head={["List", "Uploaded", ...PAST_COUNTS.map(([, words]) => words)]}
    numbers={PAST_COUNTS.map((_, at) => at + 2)}
    rows={history.map((past) => [
      <span class="break">{past.name}</span>,
      <Time at={past.created_at} />,
      ...PAST_COUNTS.map(([name]) => count(past[name])),
    ])}
  />
);

const PAST_COUNTS = [
  ["rows", "Rows"],
  ["checked", "Checked"],
  ["good", "Good"],
  ["disposable", "Disposable"],
  ["no_mail", "No mail or no answer"],
  ["bad_format", "Bad format"],
  ["charged", "Charged"],
] as const;

/** What the plan can check at once, said before a file is uploaded; what is left of it stands beside each page. */
function limitWords(here: number, places: number): string {
  const most = allowance.value?.bulk_limit ?? undefined;
  const entries =
    most === undefined ? "" : `Your plan checks up to ${count(most)} entries of a list at once. `;
  const room = places === Infinity ? "" : `${count(here)} of ${count(places)} places are taken.`;
  return entries + room || "\u00a0";
}

function Drop({ isFull }: { isFull: boolean }): VNode {
  const { busy, fault, run } = useAction();
  const take = (file: File | undefined): void => {
    if (file !== undefined) run(() => send(file));
  };
  useEffect(() => {
    take(brought.file);
    brought.file = undefined;
  }, []);
  const part = sent.value;
  const isOver = useDroppedFile(take);
  const input = useRef<HTMLInputElement>(null);
  return (
    <section class={isOver ? "sheet stack drop over" : "sheet stack drop"}>
      <Fault text={fault} />
      <p class="prose">Drop a file on this page, or</p>
      <button
        type="button"
        class="main"
        disabled={isFull}
        aria-busy={busy}
        onClick={() => input.current?.click()}
      >
        {!busy ? "Choose a file" : part < 1 ? `${percent(part)} uploaded` : "Reading the file…"}
      </button>
      {busy ? <Meter share={part} /> : null}
      <input
        ref={input}
        type="file"
        hidden
        aria-label="File with the list"
        onChange={({ currentTarget }) => {
          take(currentTarget.files?.[0]);
          currentTarget.value = "";
        }}
      />
      <span class="note">CSV, Excel (.xlsx), JSON lines or text, up to 20 MB</span>
    </section>
  );
}

function stateWords({ state, processed, entries }: ListSummary): string {
  if (state === "chosen") return "Not checked";
  if (state === "done") return "Checked";
  if (state === "stopping") return "Stopping";
  return entries === 0 ? "Checking" : `Checking, ${percent(processed / entries)}`;
}

function listRead(list: ReadyList): VNode {
  const { read } = list;
  const rows = counted(list.rows, "row");
  const lead = (
    <>
      {rows} read. {endWords(list)}
    </>
  );
  return (
    <>
      <PageHead title={list.name} lead={lead}>
        {listButtons(list)}
      </PageHead>
      <Sheet>
        <p class="say">{counted(read.open, "different entry", "different entries")} to check</p>
        {others(read, rows)}
        {checkButton(list, read.open, { class: "main" })}
      </Sheet>
      <Sheet>
        <Choices {...list} />
        {sample(read)}
      </Sheet>
    </>
  );
}

const OTHERS: Partial<Record<keyof typeof CLASSES, readonly [one: string, many: string]>> = {
  duplicate: ["repeats an entry and costs nothing", "repeat an entry and cost nothing"],
  blank: ["has an empty cell", "have an empty cell"],
  unread: ["could not be read", "could not be read"],
};

function others(read: ReadList, rows: string): VNode | false {
  const { above, counts, columns, further } = read;
  const more = further.map((at) => columnName(columns[at] ?? "", at)).join(", ");
  const parts = classesIn(read).flatMap((name) => {
    const words = OTHERS[name];
    return words === undefined ? [] : [`${count(counts[name])} ${plural(counts[name], ...words)}`];
  });
  return (
    parts.length + above + further.length > 0 && (
      <p class="prose">
        {parts.length > 0 &&
          `Of ${rows}, ${parts.join(", ")}. They stay in the file that you get. `}
        {above > 0 &&
          `${counted(above, "line")} above the header ${plural(above, "is", "are")} left out. `}
        {more !== "" && `Entries in ${more} are checked, too.`}
      </p>
    )
  );
}

function sample({ columns, column, further, sample: rows }: ReadList): VNode {
  const first = [column, ...further];
  const order = [...first, ...[...columns.keys()].filter((at) => !first.includes(at))];
  return (
    <Table
      label="The first rows"
      picked={0}
      head={order.map((at) => columnName(columns[at] ?? "", at))}
      rows={rows.map((cells) => order.map((at) => cells[at] ?? ""))}
    />
  );
}

/** Before that the speed is not known well enough to say when it ends. */
const RECKONED_AFTER_MS = 3_000;

function useTimeLeft(processed: number, entries: number): string {
  const since = useRef({ ms: nowMs(), processed });
  const tookMs = nowMs() - since.current.ms;
  const done = processed - since.current.processed;
  if (done <= 0 || tookMs < RECKONED_AFTER_MS) return "";
  const seconds = Math.ceil(((entries - processed) * tookMs) / done / 1_000);
  const [many, unit] = seconds > 90 ? [Math.ceil(seconds / 60), "min"] : [seconds, "s"];
  return `Left: about ${count(many)} ${unit}.`;
}

const waitingWords = ({ says, ahead }: NonNullable<ListState["waiting"]>): string =>
  ahead > 0 ? `${says} ${counted(ahead, "list is", "lists are")} before it.` : says;

function Running(list: ListState): VNode {
  const { id, processed, entries, newest = [], so_far: soFar } = list;
  const isStopping = list.state === "stopping";
  const quarters = entries === 0 ? 0 : Math.floor((processed / entries) * 4);
  // A screen reader hears of every quarter; each second would be too much.
  useEffect(() => {
    if (quarters > 0 && quarters < 4) announce(`${String(quarters * 25)} % checked.`);
  }, [quarters]);
  const left = useTimeLeft(processed, entries);
  const { good, disposable } = soFar ?? { good: 0, disposable: 0 };
  return (
    <>
      <PageHead
        title={list.name}
        lead={
          list.waiting === undefined
            ? "You can leave this page: the check goes on, and every tab shows it."
            : waitingWords(list.waiting)
        }
      >
        {ALL_LISTS}
        <Act
          {...{ act: isStopping ? "Stopping…" : "Cancel", class: "", disabled: isStopping }}
          {...{ title: "Cancel the check?", yes: "Cancel it" }}
          send={() => changeList(id, "stop")}
        >
          {counted(processed, "entry is", "entries are")} checked so far. They stay, and so does
          their charge. What has not begun is not charged, and you can check it later.
        </Act>
      </PageHead>
      <section class="sheet stack" aria-label="Progress">
        <p class="say">
          {count(processed)} of {counted(entries, "entry", "entries")} checked
        </p>
        <SplitWithLegend
          parts={[
            ["good", "yes-fill", good],
            ["disposable", "no-fill", disposable],
            ["something else", "quiet", Math.max(0, processed - good - disposable)],
            ["still to check", "line", entries - processed],
          ]}
        />
        <p class="note" role="status">
          {isStopping ? "The entries that have begun are being finished." : left}
        </p>
      </section>
      {newest.length > 0 && (
        <LinesSheet
          title="Newest results"
          rows={newest.map(({ entry, class: name, why }) => [
            noted(<span class="mono">{entry}</span>, why),
            <Mark {...CLASSES[name]} />,
          ])}
        />
      )}
    </>
  );
}
