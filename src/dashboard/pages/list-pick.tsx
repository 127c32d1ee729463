import type { VNode } from "preact";
import { useRef, useState } from "preact/hooks";
import { decodeFile, FILE_MAX_BYTES, readPasted, readTable, type Table } from "../app/list-file.ts";
import { listRun } from "../app/list-run.ts";
import { PageHead } from "../parts/page-head.tsx";
import { Fault } from "../parts/states.tsx";

const EXAMPLE = "maria@gmial.com\nsomeone@mailinator.com\ninfo@iana.org\nnot an address";

/** Browsers need long to lay such a text out, and nobody edits it there. */
const LARGE_PASTE_CHARACTERS = 50_000;

function choose(name: string, table: Table, complain: (text: string) => void): void {
  if (table.rows.length === 0) complain("There is nothing in it.");
  else listRun.value = { step: "chosen", name, table };
}

/** Where a list begins: dropped, picked or pasted. */
export function ListPick(): VNode {
  const [fault, setFault] = useState("");
  const readFile = (file: File | undefined): void => {
    if (file === undefined) return;
    if (file.size > FILE_MAX_BYTES) {
      setFault("The file is larger than 20 MB. Split it, or use the API.");
      return;
    }
    file.arrayBuffer().then(
      (buffer) => choose(file.name, readTable(decodeFile(new Uint8Array(buffer))), setFault),
      () => setFault("The file could not be read."),
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
        <Drop onFile={readFile} />
      </section>
      <Paste onText={(text) => choose("Pasted list", readPasted(text), setFault)} />
    </>
  );
}

function Drop({ onFile }: { onFile: (file: File | undefined) => void }): VNode {
  const [isOver, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const over = (event: DragEvent, shown: boolean): void => {
    event.preventDefault();
    setOver(shown);
  };
  return (
    <div
      class={isOver ? "drop over" : "drop"}
      onDragOver={(event) => over(event, true)}
      onDragLeave={(event) => over(event, false)}
      onDrop={(event) => {
        over(event, false);
        onFile(event.dataTransfer?.files[0]);
      }}
    >
      <p>Drop a file here, or</p>
      <button type="button" class="main" onClick={() => input.current?.click()}>
        Choose a file
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
