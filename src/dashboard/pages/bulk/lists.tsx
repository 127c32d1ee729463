import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { accepted, ApiFault, call, faultText } from "../../lib/client.ts";
import { count, counted, percent } from "../../lib/format.ts";
import { useAction, useLoad, useLooks } from "../../lib/load.ts";
import { takeBroughtFile, useDroppedFile } from "../../lib/page.ts";
import { fragment, go } from "../../lib/router.ts";
import { changes, loadAllowanceSoon } from "../../lib/session.ts";
import type { ListState, ListSummaries, ListSummary } from "../../lib/shapes.ts";
import { announce } from "../../lib/state.ts";
import { Bones, Failed, PageHead, Sheet, Table } from "../../parts/basic.tsx";
import { Fault } from "../../parts/form.tsx";
import type { Known } from "./list-parts.tsx";
import { ListRead } from "./list-read.tsx";
import { ListResult } from "./list-result.tsx";
import { Running } from "./list-running.tsx";
import "./lists.css";

const LIST_ID = /^[0-9a-f]{32}$/;

/** The account's lists, or the one that the address names. All of it is on the server. */
export function ListsPage(): VNode {
  const id = fragment.value;
  return LIST_ID.test(id) ? <OneList key={id} id={id} /> : <Start />;
}

const RUNNING_EVERY_MS = 1_000;
const RESTING_EVERY_MS = 5_000;

/** Another tab may change the list, so that it is looked at again and again while the page is in sight. */
function useList(id: string): { known?: Known; fault?: unknown; look: () => void } {
  const [state, setState] = useState<ListState>();
  const [fault, setFault] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const turn = useRef(0);
  const take = async (answer: Promise<ListState>): Promise<void> => {
    const mine = ++turn.current;
    const fresh = await answer;
    // An answer to an earlier question may come late.
    if (mine === turn.current) setState(fresh);
    setFault(undefined);
  };
  const look = (): void => void take(call("GET", `lists/${id}`)).catch(setFault);
  useLayoutEffect(look, [changes.value]);
  const isRunning = state?.state === "running" || state?.state === "stopping";
  useEffect(() => {
    const timer = setInterval(
      () => document.hidden || look(),
      isRunning ? RUNNING_EVERY_MS : RESTING_EVERY_MS,
    );
    return () => clearInterval(timer);
  }, [isRunning]);
  useEffect(() => {
    if (state?.state === "done") announce(`${state.name} is checked.`);
  }, [isRunning]);
  useEffect(loadAllowanceSoon, [state?.state]);
  if (state === undefined) return { fault, look };
  const change = async (name: string, body: object): Promise<void> => {
    setBusy(true);
    try {
      await take(call("POST", `lists/${id}/${name}`, body));
    } finally {
      setBusy(false);
    }
  };
  const remove = async (): Promise<void> => {
    await call("DELETE", `lists/${id}`);
    go("lists");
  };
  return { known: { state, busy, change, remove }, fault, look };
}

function OneList({ id }: { id: string }): VNode {
  const { known, fault, look } = useList(id);
  if (fault instanceof ApiFault && fault.status === 404) return GONE;
  if (known === undefined) {
    return (
      <>
        <PageHead title="List" />
        {fault ? <Failed message={faultText(fault)} retry={look} /> : <Bones lines={6} />}
      </>
    );
  }
  const { state } = known.state;
  const Part = state === "chosen" ? ListRead : state === "done" ? ListResult : Running;
  return (
    <>
      {fault ? <Fault text={faultText(fault)} /> : null}
      <Part {...known} />
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

/** Where a list begins: dropped, picked or pasted. */
function Start(): VNode {
  const { busy, fault, run } = useAction();
  const send = (file: File | undefined): void => {
    if (file !== undefined) run(() => upload(file));
  };
  useEffect(() => send(takeBroughtFile()), []);
  return (
    <>
      <PageHead
        title="Check a list"
        lead="The file goes to this server, which shows what it read. Nothing is charged before you press Check, and everything is deleted after 15 minutes."
      />
      <Fault text={fault} />
      <div class="even">
        <Drop onFile={send} busy={busy} />
        <Paste onFile={send} busy={busy} />
      </div>
      <AllLists />
    </>
  );
}

interface FileProps {
  onFile: (file: File | undefined) => void;
  busy: boolean;
}

function Drop({ onFile, busy }: FileProps): VNode {
  const isOver = useDroppedFile(onFile);
  const input = useRef<HTMLInputElement>(null);
  return (
    <section class={isOver ? "sheet drop over" : "sheet drop"}>
      <p>Drop a file on this page, or</p>
      <button type="button" class="main" disabled={busy} onClick={() => input.current?.click()}>
        {busy ? "Reading the file…" : "Choose a file"}
      </button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label="File with the list"
        onChange={(event) => {
          onFile(event.currentTarget.files?.[0]);
          event.currentTarget.value = "";
        }}
      />
      <span class="note">CSV, Excel (.xlsx), JSON lines or text, up to 20 MB</span>
    </section>
  );
}

function Paste({ onFile, busy }: FileProps): VNode {
  const [text, setText] = useState("");
  return (
    <form
      class="sheet stack"
      onSubmit={(event) => {
        event.preventDefault();
        onFile(new File([text.replaceAll("\0", "\ufffd")], "pasted.txt"));
      }}
    >
      <label class="field">
        <span class="label">Or paste addresses and domains</span>
        <textarea
          rows={5}
          value={text}
          spellcheck={false}
          placeholder="One a line, or with commas between"
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <div class="bar">
        <button type="submit" disabled={busy || text.trim() === ""}>
          Look at the list
        </button>
      </div>
    </form>
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
