import type { VNode } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { FrontPage } from "../../http/account/shapes.ts";
import { type Answered, check, checkLinked, shownCheck, typed } from "../lib/check-run.ts";
import { stampTime, timeMs } from "../lib/format.ts";
import { type Loading, useLoad } from "../lib/load.ts";
import { has } from "../lib/session.ts";
import { BASE, fragment } from "../lib/router.ts";
import { Bones, Chip, ink, Lazy, Time, PageHead, Sheet } from "../parts/basic.tsx";
import { Button, Copy, Fault } from "../parts/form.tsx";
import { factsOf, type Verdict, verdictOf } from "../words/verdict.ts";

/** Longest text that is sent: no entry is longer, and a pasted novel is a mistake. */
const ENTRY_MAX_CHARACTERS = 2_000;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest("input, textarea, select, dialog") !== null;

/** The one field of the page, which has the focus. "/" brings it back. */
export function Ask(): VNode {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const isWide = matchMedia("(min-width: 901px)").matches; // a phone would open its keyboard
    if (isWide && fragment.value === "") input.current?.focus({ preventScroll: true });
    const focus = (event: KeyboardEvent): void => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || isTyping(event.target)) return;
      event.preventDefault();
      input.current?.select();
    };
    document.addEventListener("keydown", focus);
    return () => document.removeEventListener("keydown", focus);
  }, []);
  const submit = (event: Event): void => {
    event.preventDefault();
    check(typed.value);
  };
  return (
    <form class="ask" role="search" onSubmit={submit}>
      <input
        ref={input}
        aria-label="Address or domain"
        aria-keyshortcuts="/"
        placeholder="name@domain"
        value={typed.value}
        onFocus={() => void details().catch(() => undefined)}
        onInput={(event) => (typed.value = event.currentTarget.value)}
        maxLength={ENTRY_MAX_CHARACTERS}
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        inputMode="email"
        enterkeyhint="go"
        required
      />
      <button type="submit" class="main">
        {shownCheck.value.state === "checking" ? "Checking" : "Check"}
      </button>
    </form>
  );
}

/** Checks what a link names behind "#": of an opened page before it is drawn, so that nothing is drawn for nothing. */
export function useDeepLink(): void {
  useState(checkLinked);
  useEffect(checkLinked, [fragment.value]);
}

export function Answer(): VNode | null {
  const shown = shownCheck.value;
  if (shown.state === "nothing") return null;
  if (shown.state === "answered") {
    // What stands below does not move when the rest comes.
    const room = <div style={{ minHeight: "100vh" }} />;
    return (
      <>
        <VerdictSheet {...shown} />
        <Lazy load={details} wait={room} />
      </>
    );
  }
  if (shown.state === "failed") {
    return <Fault text={shown.message} retry={() => check(shown.entry)} />;
  }
  return (
    <section class="sheet verdict">
      <div>
        <code class="subject prose">{shown.entry}</code>
        <h2 class="say">Asking its name servers…</h2>
        <Bones lines={2} />
      </div>
      <svg class="postmark blank" viewBox="0 0 200 200" aria-hidden="true">
        <circle cx="100" cy="100" r="97" />
      </svg>
    </section>
  );
}

/** Why, and what was found: fetched when a check is near, and shown once the verdict is seen. */
const details = () => import("./details.tsx");

type ResultProps = Pick<Answered, "entry" | "step" | "atMs">;

const fixButton = (kind: string, meant = ""): VNode | null =>
  meant === "" ? null : (
    <Button act={`Did you mean ${meant}?`} class={kind} onClick={() => check(meant)} />
  );

function VerdictSheet({ entry, step, atMs }: ResultProps): VNode {
  const { suggestion, ...verdict } = verdictOf(step, entry);
  return (
    <section class="sheet verdict">
      <div>
        <code class="subject prose">{entry}</code>
        <h2 class="say">{verdict.sentence}</h2>
        {verdict.reason === "" ? null : <p class="break">{verdict.reason}</p>}
        <div class="bar facts">
          {factsOf(step.result).map(([mark, words]) => (
            <Chip key={words} {...{ mark, words }} />
          ))}
        </div>
        <div class="bar acts">
          {fixButton("main", suggestion)}
          <Button act="Check again" onClick={() => check(entry)} />
          <Copy
            text={`${location.origin}${BASE}#${encodeURIComponent(entry)}`}
            what="Link"
            act="Copy link"
            otherwise="The address bar has the link."
          />
        </div>
      </div>
      <Postmark key={`${entry} ${verdict.stamp}`} {...verdict} atMs={atMs} />
    </section>
  );
}

export const hasExamples = ({ value, fault }: Loading<FrontPage>): boolean =>
  value === undefined ? fault === "" : value.examples.length > 0;

/** Results that this server found a few minutes ago, or their room; one that is no longer true is not shown. */
export function Examples({ front }: { front: FrontPage | undefined }): VNode {
  const at = front?.checked_at ?? "";
  return (
    <section class="stack">
      <div class="bar dated">
        <h2>Results of this server</h2>
        <span class="note">{front && <Time words="checked" at={at} />}</span>
      </div>
      <div class="even examples-grid">
        {front?.examples.map((example) => (
          <Example key={example.entry} {...example} atMs={timeMs(at)} />
        )) ?? [0, 1, 2].map((key) => <article key={key} class="sheet" aria-hidden="true" />)}
      </div>
    </section>
  );
}

function Example({ entry, step, atMs }: ResultProps): VNode {
  const at = entry.indexOf("@") + 1;
  const { suggestion, ...verdict } = verdictOf(step, entry);
  return (
    <article class="sheet">
      <div class="example-top">
        <code>
          {entry.slice(0, at)}
          <wbr />
          {entry.slice(at)}
        </code>
        <Postmark {...verdict} atMs={atMs} />
      </div>
      <h3>{verdict.sentence}</h3>
      <p class="prose">{verdict.reason}</p>
      {fixButton("small fix", suggestion)}
      <Button act="See why" of={entry} class="link" onClick={() => check(entry)} />
    </article>
  );
}

const WAVES = [72, 88, 104, 120]
  .map((y) => `M-118 ${String(y)}q12-9 24 0t24 0 24 0 24 0 10-2`)
  .join("");

/** Words are fitted to the ring, so that no font overflows it; those of fewer letters are not stretched. */
const fitted = (words: string, from: number) =>
  words.length < from ? {} : { textLength: 124, lengthAdjust: "spacingAndGlyphs" as const };

type PostmarkProps = Pick<Verdict, "mark" | "stamp" | "small"> & { atMs: number };

function Postmark({ mark, stamp, small, atMs }: PostmarkProps): VNode {
  const id = useId();
  const label = `Verdict: ${stamp}, ${small}`;
  return (
    <svg class="postmark" style={ink(mark)} viewBox="0 0 200 200" role="img" aria-label={label}>
      <path class="waves" d={WAVES} />
      <circle cx="100" cy="100" r="97" />
      <circle class="thin" cx="100" cy="100" r="74" />
      <path id={`${id}0`} d="M19 100a81 81 0 0 1 162 0" fill="none" />
      <path id={`${id}1`} d="M11 100a89 89 0 0 0 178 0" fill="none" />
      {["Checked by Gatepost", stampTime(atMs)].map((words, at) => (
        <text key={at} aria-hidden="true">
          <textPath href={`#${id}${String(at)}`} startOffset="50%">
            {words}
          </textPath>
        </text>
      ))}
      <text
        class={stamp.length > 12 ? "verdict-word long" : "verdict-word"}
        x="100"
        y="103"
        {...fitted(stamp, 8)}
      >
        {stamp}
      </text>
      <text class="verdict-figure" x="100" y="127" {...fitted(small, 16)}>
        {small}
      </text>
    </svg>
  );
}

export function Page(): VNode {
  useDeepLink();
  return (
    <>
      <PageHead title="Check" lead="One address or domain. No mail is sent to it.">
        {has("lists") ? <a href="lists">Check a whole list instead</a> : null}
      </PageHead>
      <Ask />
      {shownCheck.value.state === "nothing" ? <Teach /> : <Answer />}
    </>
  );
}

/** The page before the first check: results of this server, or an entry to try where it has none. */
function Teach(): VNode {
  const front = useLoad<FrontPage>("front", 0);
  if (hasExamples(front)) return <Examples front={front.value} />;
  return (
    <Sheet title="What you will see">
      <p class="prose">
        Whether it can receive mail, whether it is disposable or misspelt, and the reason: which
        list, since when, which word.
      </p>
      <Button act={`Try ${TRIED}`} class="link" onClick={() => check(TRIED)} />
    </Sheet>
  );
}

const TRIED = "someone@mailinator.com";
