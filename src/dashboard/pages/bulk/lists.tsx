import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { accepted, ApiFault, call, post } from "../../lib/client.ts";
import { count, counted, nowMs, percent } from "../../lib/format.ts";
import { useAction, useLoad, useLooks } from "../../lib/load.ts";
import { brought, useDroppedFile } from "../../lib/page.ts";
import { fragment, go } from "../../lib/router.ts";
import { loadAllowanceSoon } from "../../lib/session.ts";
import type { ListState, ListSummaries, ListSummary, ReadList } from "../../lib/shapes.ts";
import { announce } from "../../lib/state.ts";
import {
  ALL_LISTS,
  CheckButton,
  Choices,
  CLASSES,
  classesIn,
  columnName,
  Ends,
  type Known,
  ListButtons,
} from "./list-parts.tsx";
import { ListResult } from "./list-result.tsx";
import { Mark, PageHead, Sheet, Shown, Table } from "../../parts/basic.tsx";
import { SplitWithLegend } from "../../parts/chart.tsx";
import { Ask, Fault, type FieldSpec, Form, type Values } from "../../parts/form.tsx";
import "./lists.css";

const LIST_ID = /^[0-9a-f]{32}$/;

/** The account's lists, or the one that the address names. All of it is on the server. */
export function ListsPage(): VNode {
  const id = fragment.value;
  return LIST_ID.test(id) ? <OneList key={id} id={id} /> : <Start />;
}

/** Another tab may change the list, so that it is looked at again and again while the page is in sight. */
function OneList({ id }: { id: string }): VNode {
  const loading = useLoad<ListState>(`lists/${id}`);
  const state = loading.value;
  const [busy, setBusy] = useState(false);
  const isRunning = state?.state === "running" || state?.state === "stopping";
  useLooks(true, loading.reload, isRunning ? 1_000 : 5_000, Infinity);
  useEffect(() => setBusy(false), [state]);
  useEffect(() => {
    if (state?.state === "done") announce(`${state.name} is checked.`);
  }, [isRunning]);
  useEffect(loadAllowanceSoon, [state?.state]);
  if (loading.isGone) return GONE;
  const change = async (name: string, body: object): Promise<void> => {
    setBusy(true);
    await post(`lists/${id}/${name}`, body).catch((error: unknown) => {
      setBusy(false);
      throw error;
    });
  };
  const remove = async (): Promise<void> => {
    await call("DELETE", `lists/${id}`);
    go("lists");
  };
  const Part =
    state?.state === "chosen" ? ListRead : state?.state === "done" ? ListResult : Running;
  return (
    <>
      {state === undefined ? <PageHead title="List" /> : null}
      <Shown loading={loading} lines={6}>
        {(known) => <Part {...{ state: known, busy, change, remove }} />}
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
    <p>
      <a class="button main" href="lists">
        Upload a list
      </a>
    </p>
  </>
);

const FILE_MAX_OCTETS = 20_000_000;

async function upload(file: File): Promise<void> {
  if (file.size > FILE_MAX_OCTETS) {
    throw new ApiFault(
      413,
      "The file is larger than 20 MB. Split it, and check its parts one after the other.",
    );
  }
  const body = new FormData();
  body.set("file", file);
  const answer = await accepted(
    fetch("account/lists", { method: "POST", credentials: "same-origin", body }),
  );
  go(`lists#${((await answer.json()) as ListState).id}`);
}

const PASTED: FieldSpec = {
  name: "text",
  label: "Or paste addresses and domains",
  rows: 5,
  input: { placeholder: "One a line, or with commas between", required: true },
};

const paste = ({ text = "" }: Values): Promise<void> =>
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
    <section class={isOver ? "sheet drop over" : "sheet drop"}>
      <Fault text={fault} />
      <p>Drop a file on this page, or</p>
      <button type="button" class="main" disabled={busy} onClick={() => input.current?.click()}>
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

/** What was read of the file, and what its check costs: before anything is charged. */
function ListRead({ state, busy, change, remove }: Known): VNode {
  const { read, rows } = state;
  return (
    <>
      <PageHead
        title={state.name}
        lead={
          <>
            {counted(rows, "row")} read. <Ends state={state} />
          </>
        }
      >
        <ListButtons {...{ state, remove }} />
      </PageHead>
      {read === undefined ? null : (
        <>
          <section class="sheet stack">
            <Figures read={read} rows={rows} />
            <CheckButton {...{ read, busy, change }} entries={read.open} isMain />
          </section>
          <section class="sheet stack">
            <Choices read={read} change={change} />
            <Sample read={read} />
          </section>
        </>
      )}
    </>
  );
}

function Figures({ read, rows }: { read: ReadList; rows: number }): VNode {
  const { counts, open } = read;
  const others = classesIn(read).filter((name) => name !== "unchecked");
  return (
    <>
      <p class="say">{counted(open, "different entry", "different entries")} to check</p>
      {others.length === 0 ? null : (
        <p class="prose">
          Of {counted(rows, "row")},{" "}
          {others
            .map((name) => `${count(counts[name])} ${WORDS[name] ?? CLASSES[name].words}`)
            .join(", ")}
          . They stay in the file that you get.
        </p>
      )}
    </>
  );
}

const WORDS: Partial<Record<keyof typeof CLASSES, string>> = {
  duplicate: "repeat an entry and cost nothing",
  blank: "have an empty cell",
  unread: "could not be read",
};

function Sample({ read }: { read: ReadList }): VNode {
  const { columns, column, sample } = read;
  const frame = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    // Of forty columns the picked one may stand far to the right.
    const { current } = frame;
    const picked = current?.querySelector<HTMLElement>("th.picked");
    if (current !== null && picked) {
      current.scrollLeft = picked.offsetLeft - (current.clientWidth - picked.offsetWidth) / 2;
    }
  }, [column]);
  return (
    <div class="scroll" ref={frame} tabIndex={0} role="region" aria-label="The first rows">
      <table class="preview">
        <thead>
          <tr>
            {columns.map((name, at) => (
              <th key={at} scope="col" class={at === column ? "picked" : ""}>
                {columnName(name, at)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sample.map((cells, row) => (
            <tr key={row}>
              {columns.map((_, at) => (
                <td key={at} class={at === column ? "picked mono" : ""}>
                  <span class="cut">{cells[at] ?? ""}</span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
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

/** A check under way; every tab and browser of the account shows the same. */
export function Running({ state, change }: Known): VNode {
  const { processed, entries, newest = [] } = state;
  const isStopping = state.state === "stopping";
  const quarters = entries === 0 ? 0 : Math.floor((processed / entries) * 4);
  // A screen reader hears of every quarter; each second would be too much.
  useEffect(() => {
    if (quarters > 0 && quarters < 4) announce(`${String(quarters * 25)} % checked.`);
  }, [quarters]);
  return (
    <>
      <PageHead
        title={state.name}
        lead="You can leave this page: the check goes on, and every tab shows it."
      >
        {ALL_LISTS}
        {isStopping ? (
          <button type="button" disabled>
            Stopping…
          </button>
        ) : (
          <Ask
            {...{ act: "Cancel", class: "", yes: "Cancel it" }}
            title="Cancel the check?"
            send={() => change("stop", {})}
          >
            {counted(processed, "entry is", "entries are")} checked so far. They stay, and so does
            their charge. What has not begun is not charged, and you can check it later.
          </Ask>
        )}
      </PageHead>
      <Progress {...state} />
      {newest.length === 0 ? null : (
        <Sheet title="Newest results">
          <ul class="lines">
            {newest.map(({ entry, class: name, why }) => (
              <li key={entry}>
                <span class="mono grow">{entry}</span>
                <Mark {...CLASSES[name]} />
                <span class="note grow">{why}</span>
              </li>
            ))}
          </ul>
        </Sheet>
      )}
    </>
  );
}

function Progress({ state, processed, entries, so_far: soFar }: ListState): VNode {
  const { good, disposable } = soFar ?? { good: 0, disposable: 0 };
  const left = useTimeLeft(processed, entries);
  return (
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
        {state === "stopping" ? "The entries that have begun are being finished." : left}
      </p>
    </section>
  );
}
