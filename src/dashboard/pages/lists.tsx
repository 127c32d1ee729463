import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { ListState, ListSummaries, ListSummary, ReadList } from "../../http/account/shapes.ts";
import { ApiFault, ask, post, remove } from "../lib/client.ts";
import { count, counted, nowMs, percent } from "../lib/format.ts";
import { useAction, useLoad, useLooks } from "../lib/load.ts";
import { brought, useDroppedFile } from "../lib/page.ts";
import { fragment, go } from "../lib/router.ts";
import { loadAllowanceSoon } from "../lib/session.ts";
import { announce } from "../lib/state.ts";
import { Go, LinesSheet, Mark, noted, PageHead, Sheet, Shown, Table } from "../parts/basic.tsx";
import { SplitWithLegend } from "../parts/chart.tsx";
import { Act, Fault, type FieldSpec, Form, type FormValues } from "../parts/form.tsx";
import {
  ALL_LISTS,
  CheckButton,
  Choices,
  CLASSES,
  classesIn,
  columnName,
  Ends,
  type ShownList,
  ListButtons,
  ListResult,
} from "./list-result.tsx";

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
  useLooks(true, loading.reload, isRunning ? 1_000 : 5_000);
  useEffect(() => {
    if (state?.state === "done") announce(`${state.name} is checked.`);
  }, [isRunning]);
  useEffect(loadAllowanceSoon, [state?.state]);
  if (loading.isGone) return GONE;
  const change: ShownList["change"] = (name, body) => post(`lists/${id}/${name}`, body);
  const drop = () => remove(`lists/${id}`).then(() => go("lists"));
  const Part =
    state?.state === "chosen" ? ListRead : state?.state === "done" ? ListResult : Running;
  return (
    <>
      {state === undefined ? <PageHead title="List" /> : null}
      <Shown loading={loading} lines={6}>
        {(known) => <Part {...{ state: known, change, drop }} />}
      </Shown>
    </>
  );
}

const GONE = (
  <>
    <PageHead
      title="This list is not here any more"
      lead="A list is deleted 15 minutes after its last check, or after its upload when it was not checked."
    />
    <div>
      <Go to="lists" act="Upload a list" class="main" />
    </div>
  </>
);

const FILE_MAX_OCTETS = 20_000_000;
const TOO_LARGE =
  "The file is larger than 20 MB. Split it, and check its parts one after the other.";

async function upload(file: File): Promise<void> {
  if (file.size > FILE_MAX_OCTETS) throw new ApiFault(413, TOO_LARGE);
  const body = new FormData();
  body.set("file", file);
  const answer = await ask("lists", { method: "POST", body });
  go(`lists#${((await answer.json()) as ListState).id}`);
}

const PASTED: FieldSpec = {
  name: "text",
  label: "Or paste addresses and domains",
  rows: 5,
  input: { placeholder: "One a line, or with commas between", required: true },
};

const paste = ({ text = "" }: FormValues): Promise<void> =>
  upload(new File([text.replaceAll("\0", "\ufffd")], "pasted.txt"));

const Start = (): VNode => (
  <>
    <PageHead
      title="Check a list"
      lead="The file goes to this server, which shows what it read. Nothing is charged before you press Check, and everything is deleted after 15 minutes."
    />
    <div class="even">
      <Drop />
      <Form class="sheet stack" act="Look at the list" keeps fields={[PASTED]} send={paste} />
    </div>
    <AllLists />
  </>
);

function Drop(): VNode {
  const { busy, fault, run } = useAction();
  const send = (file: File | undefined): void => {
    if (file !== undefined) run(() => upload(file));
  };
  useEffect(() => {
    send(brought.file);
    brought.file = undefined;
  }, []);
  const isOver = useDroppedFile(send);
  const input = useRef<HTMLInputElement>(null);
  return (
    <section class={isOver ? "sheet stack drop over" : "sheet stack drop"}>
      <Fault text={fault} />
      <p class="prose">Drop a file on this page, or</p>
      <button type="button" class="main" aria-busy={busy} onClick={() => input.current?.click()}>
        {busy ? "Reading the file…" : "Choose a file"}
      </button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label="File with the list"
        onChange={({ currentTarget }) => {
          send(currentTarget.files?.[0]);
          currentTarget.value = "";
        }}
      />
      <span class="note">CSV, Excel (.xlsx), JSON lines or text, up to 20 MB</span>
    </section>
  );
}

function AllLists(): VNode | null {
  const { value, reload } = useLoad<ListSummaries>("lists");
  useLooks(true, reload);
  if (value === undefined || value.lists.length === 0) return null;
  return (
    <Sheet title="Your lists">
      <Table
        label="Your lists"
        head={["List", "State", "Rows", "Deleted in"]}
        numbers={[2, 3]}
        rows={value.lists.map((list) => [
          <a href={`lists#${list.id}`} class="break">
            {list.name}
          </a>,
          stateWords(list),
          count(list.rows),
          list.expires_in_seconds === null
            ? "–"
            : counted(Math.ceil(list.expires_in_seconds / 60), "minute"),
        ])}
      />
    </Sheet>
  );
}

function stateWords({ state, processed, entries }: ListSummary): string {
  if (state === "chosen") return "Not checked";
  if (state === "done") return "Checked";
  if (state === "stopping") return "Stopping";
  return entries === 0 ? "Checking" : `Checking, ${percent(processed / entries)}`;
}

function ListRead({ state, change, drop }: ShownList): VNode {
  const { read } = state;
  const rows = counted(state.rows, "row");
  const lead = (
    <>
      {rows} read. <Ends state={state} />
    </>
  );
  return (
    <>
      <PageHead title={state.name} lead={lead}>
        <ListButtons {...{ state, drop }} />
      </PageHead>
      {read && (
        <>
          <section class="sheet stack">
            <p class="say">{counted(read.open, "different entry", "different entries")} to check</p>
            {othersIn(read, rows)}
            <CheckButton {...{ read, change }} entries={read.open} class="main" />
          </section>
          <section class="sheet stack">
            <Choices {...{ read, change }} />
            <Sample read={read} />
          </section>
        </>
      )}
    </>
  );
}

const WORDS: Partial<Record<keyof typeof CLASSES, string>> = {
  duplicate: "repeat an entry and cost nothing",
  blank: "have an empty cell",
  unread: "could not be read",
};

function othersIn(read: ReadList, rows: string): VNode | null {
  const others = classesIn(read)
    .filter((name) => name !== "unchecked")
    .map((name) => `${count(read.counts[name])} ${WORDS[name] ?? CLASSES[name].words}`);
  if (others.length === 0) return null;
  return (
    <p class="prose">
      Of {rows}, {others.join(", ")}. They stay in the file that you get.
    </p>
  );
}

/** The first rows, the column with the entries before the others, of which there may be forty. */
function Sample({ read: { columns, column, sample } }: { read: ReadList }): VNode {
  const order = [column, ...[...columns.keys()].filter((at) => at !== column)];
  return (
    <Table
      label="The first rows"
      picked={0}
      head={order.map((at) => columnName(columns[at] ?? "", at))}
      rows={sample.map((cells) => order.map((at) => cells[at] ?? ""))}
    />
  );
}

/** Before that the speed is not known well enough to say when it ends. */
const RECKONED_AFTER_MS = 3_000;

/** "Left: about 17 s.", "Left: about 2 min."; "" until it is known. */
function useTimeLeft(processed: number, entries: number): string {
  const since = useRef({ ms: nowMs(), processed });
  const tookMs = nowMs() - since.current.ms;
  const done = processed - since.current.processed;
  if (done <= 0 || tookMs < RECKONED_AFTER_MS) return "";
  const seconds = Math.ceil(((entries - processed) * tookMs) / done / 1_000);
  const [many, unit] = seconds > 90 ? [Math.ceil(seconds / 60), "min"] : [seconds, "s"];
  return `Left: about ${count(many)} ${unit}.`;
}

function Running({ state, change }: ShownList): VNode {
  const { processed, entries, newest = [], so_far: soFar } = state;
  const isStopping = state.state === "stopping";
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
        title={state.name}
        lead="You can leave this page: the check goes on, and every tab shows it."
      >
        {ALL_LISTS}
        <Act
          {...{ act: isStopping ? "Stopping…" : "Cancel", class: "", disabled: isStopping }}
          {...{ title: "Cancel the check?", yes: "Cancel it" }}
          send={() => change("stop", {})}
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
      {newest.length === 0 ? null : (
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
