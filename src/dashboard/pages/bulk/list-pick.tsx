import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import {
  decodeFile,
  FILE_MAX_BYTES,
  NO_TEXT,
  readPasted,
  readTable,
  type Table,
} from "../../app/list-file.ts";
import { listRun } from "../../app/list-run.ts";
import { PageHead } from "../../parts/page-head.tsx";
import { Fault } from "../../parts/states.tsx";

const EXAMPLE = "maria@gmial.com\nsomeone@mailinator.com\ninfo@iana.org\nnot-an-address@";

/** Browsers need long to lay out such a text, and users do not edit it there. */
const LARGE_PASTE_CHARACTERS = 50_000;

/** Comes once the page shows what was set before: reading a large file then holds it still for a second. */
const nextPaint = (): Promise<void> =>
  new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));

function choose(name: string, table: Table, complain: (text: string) => void): void {
  if (table.rows.length === 0) complain("The file is empty.");
  else listRun.value = { step: "chosen", name, table };
}

/** Where a list begins: dropped, picked or pasted. */
export function ListPick(): VNode {
  const [fault, setFault] = useState("");
  const [isReading, setReading] = useState(false);
  const readFile = (file: File | undefined): void => {
    if (file === undefined) return;
    if (file.size > FILE_MAX_BYTES) {
      setFault("The file is larger than 20 MB. Split it, or use the API.");
      return;
    }
    setFault("");
    setReading(true);
    Promise.all([file.arrayBuffer(), nextPaint()]).then(
      ([buffer]) => {
        setReading(false);
        const text = decodeFile(new Uint8Array(buffer));
        if (text === undefined) setFault(NO_TEXT);
        else choose(file.name, readTable(text), setFault);
      },
      () => {
        setReading(false);
        setFault("The file could not be read.");
      },
    );
  };
  return (
    <>
      <PageHead
        title="Check a list"
        lead="A CSV or text file stays in your browser: only the column you choose is sent, and its results are forgotten after 15 minutes."
      />
      <Fault text={fault} />
      <section class="sheet stack">
        <Drop onFile={readFile} isReading={isReading} />
      </section>
      <Paste onText={(text) => choose("Pasted list", readPasted(text), setFault)} />
    </>
  );
}

/**
 * Takes a file that is dropped anywhere on the page: beside a smaller target the browser would open it in the
 * page's place. True while one is held over the page.
 */
function useDroppedFile(onFile: (file: File | undefined) => void): boolean {
  const [isOver, setOver] = useState(false);
  const take = useRef(onFile);
  take.current = onFile;
  useEffect(() => {
    const listener = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes("Files") !== true) return;
      event.preventDefault();
      setOver(event.type === "dragover");
      if (event.type === "drop") take.current(event.dataTransfer.files[0]);
    };
    const kinds = ["dragover", "dragleave", "drop"] as const;
    for (const kind of kinds) document.addEventListener(kind, listener);
    return () => {
      for (const kind of kinds) document.removeEventListener(kind, listener);
    };
  }, []);
  return isOver;
}

function Drop(props: { onFile: (file: File | undefined) => void; isReading: boolean }): VNode {
  const { onFile, isReading } = props;
  const isOver = useDroppedFile(onFile);
  const input = useRef<HTMLInputElement>(null);
  return (
    <div class={isOver ? "drop over" : "drop"}>
      <p>Drop a file on this page, or</p>
      <button
        type="button"
        class="main"
        disabled={isReading}
        onClick={() => input.current?.click()}
      >
        {isReading ? "Reading the file…" : "Choose a file"}
      </button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label="File with the list"
        accept=".csv,.txt,.tsv,text/csv,text/plain"
        onChange={(event) => {
          onFile(event.currentTarget.files?.[0]);
          event.currentTarget.value = "";
        }}
      />
      <span class="note">CSV or text, up to 20 MB</span>
    </div>
  );
}

function Paste({ onText }: { onText: (text: string) => void }): VNode {
  const [text, setText] = useState("");
  return (
    <form
      class="sheet stack"
      onSubmit={(event) => {
        event.preventDefault();
        onText(text);
      }}
    >
      <label class="field">
        <span class="label">Or paste addresses and domains</span>
        <textarea
          rows={6}
          value={text}
          spellcheck={false}
          placeholder="One a line, or with commas between"
          onInput={(event) => setText(event.currentTarget.value)}
          onPaste={(event) => {
            const pasted = event.clipboardData?.getData("text/plain") ?? "";
            if (pasted.length < LARGE_PASTE_CHARACTERS) return;
            event.preventDefault();
            onText(`${text}\n${pasted}`);
          }}
        />
      </label>
      <div class="bar">
        <button type="submit" disabled={text.trim() === ""}>
          Look at the list
        </button>
        <button type="button" class="plain" onClick={() => setText(EXAMPLE)}>
          Put an example in
        </button>
      </div>
    </form>
  );
}
