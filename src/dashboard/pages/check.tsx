import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useRef } from "preact/hooks";
import { checkAsAccount, checkAsVisitor } from "../api/check.ts";
import { faultText } from "../api/client.ts";
import type { CheckStep } from "../api/shapes.ts";
import { loadAllowance, session } from "../app/session.ts";
import { PageHead } from "../parts/page-head.tsx";
import { BlankPostmark } from "../parts/postmark.tsx";
import { Bones, Failed } from "../parts/states.tsx";
import { CheckResult } from "./check-result.tsx";

type Shown =
  | { readonly state: "nothing" }
  | { readonly state: "checking"; readonly entry: string }
  | { readonly state: "failed"; readonly entry: string; readonly message: string }
  | { readonly state: "answered"; readonly entry: string; readonly step: CheckStep };

/** Longest text that is sent: no entry is longer, and a pasted novel is a mistake. */
const ENTRY_MAX_CHARACTERS = 2_000;

export function CheckPage(): VNode {
  const shown = useSignal<Shown>({ state: "nothing" });
  const text = useSignal("");
  const running = useRef<AbortController | null>(null);
  const check = (given: string): void => {
    const entry = given.trim();
    if (entry === "") return;
    running.current?.abort();
    const abort = new AbortController();
    running.current = abort;
    text.value = entry;
    shown.value = { state: "checking", entry };
    const ask = session.value?.account === undefined ? checkAsVisitor : checkAsAccount;
    const take = (step: CheckStep): void => {
      if (running.current === abort) shown.value = { state: "answered", entry, step };
    };
    ask(entry, take, abort.signal).then(loadAllowanceOfAccount, (error: unknown) => {
      if (running.current !== abort) return;
      shown.value = { state: "failed", entry, message: faultText(error) };
    });
  };
  return (
    <>
      <PageHead title="Check an address or a domain" />
      <Ask text={text.value} onText={(value) => (text.value = value)} onCheck={check} />
      <div class="stack wide" aria-live="polite">
        <Answer shown={shown.value} check={check} />
      </div>
    </>
  );
}

/** The server's books are up to a quarter of a second behind. */
const BOOKED_AFTER_MS = 400;

const loadAllowanceOfAccount = (): void => {
  if (session.value?.account !== undefined) setTimeout(() => void loadAllowance(), BOOKED_AFTER_MS);
};

function Ask(props: {
  text: string;
  onText: (text: string) => void;
  onCheck: (text: string) => void;
}): VNode {
  return (
    <form
      class="ask"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        props.onCheck(props.text);
      }}
    >
      <input
        aria-label="Address or domain"
        placeholder="name@domain or domain"
        value={props.text}
        onInput={(event) => props.onText(event.currentTarget.value)}
        maxLength={ENTRY_MAX_CHARACTERS}
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        inputMode="email"
        enterkeyhint="go"
        required
      />
      <button type="submit" class="main">
        Check
      </button>
    </form>
  );
}

function Answer({ shown, check }: { shown: Shown; check: (text: string) => void }): VNode {
  switch (shown.state) {
    case "nothing":
      return <Teach check={check} />;
    case "checking":
      return <Checking entry={shown.entry} />;
    case "failed":
      return <Failed message={shown.message} retry={() => check(shown.entry)} />;
    case "answered":
      return <CheckResult entry={shown.entry} step={shown.step} />;
  }
}

const EXAMPLES = [
  ["someone@mailinator.com", "a throw-away inbox that anybody can read"],
  ["maria@gmial.com", "a slip of the keyboard"],
  ["info@iana.org", "an address shared by an organisation"],
] as const;

/** The page before the first check. */
function Teach({ check }: { check: (text: string) => void }): VNode {
  return (
    <section class="sheet">
      <h2>What you will see</h2>
      <p class="prose">
        Whether it can receive mail, whether it is a throw-away inbox, and why we think so. No mail
        is sent and nobody learns that you asked. Try one:
      </p>
      <ul class="rows examples">
        {EXAMPLES.map(([entry, words]) => (
          <li key={entry} class="ease">
            <button type="button" class="link mono" onClick={() => check(entry)}>
              {entry}
            </button>
            <span class="note">{words}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Checking({ entry }: { entry: string }): VNode {
  return (
    <section class="sheet">
      <div class="verdict">
        <BlankPostmark />
        <div>
          <code class="subject">{entry}</code>
          <h2>Asking its name servers…</h2>
          <Bones lines={2} />
        </div>
      </div>
    </section>
  );
}
