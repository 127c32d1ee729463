import type { VNode } from "preact";
import { check, checkRun, type Shown, typed } from "../../app/check-run.ts";
import { PageHead } from "../../parts/page-head.tsx";
import { BlankPostmark } from "../../parts/postmark.tsx";
import { Bones, Failed } from "../../parts/states.tsx";
import { CheckResult } from "./result.tsx";

/** Longest text that is sent: no entry is longer, and a pasted novel is a mistake. */
const ENTRY_MAX_CHARACTERS = 2_000;

export function CheckPage(): VNode {
  const { text, shown } = checkRun.value;
  return (
    <>
      <PageHead title="Check an address or a domain" />
      <Ask text={text} />
      <div class="stack wide">
        <Answer shown={shown} />
      </div>
    </>
  );
}

function Ask({ text }: { text: string }): VNode {
  return (
    <form
      class="ask"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        check(text);
      }}
    >
      <input
        aria-label="Address or domain"
        placeholder="name@domain or domain"
        value={text}
        onInput={(event) => typed(event.currentTarget.value)}
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

function Answer({ shown }: { shown: Shown }): VNode {
  switch (shown.state) {
    case "nothing":
      return <Teach />;
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
function Teach(): VNode {
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
