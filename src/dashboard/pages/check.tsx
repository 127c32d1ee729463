import type { VNode } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Advice } from "../../core/validate/explain.ts";
import type { CheckStep, EvidenceShape, FrontPage, ResultJson } from "../../http/account/shapes.ts";
import { type AnsweredCheck, check, checkLinked, shownCheck, typed } from "../lib/check-run.ts";
import { capital, shownDay, stampTime, timeMs } from "../lib/format.ts";
import { type Loading, useLoad } from "../lib/load.ts";
import { session } from "../lib/session.ts";
import { BASE, fragment } from "../lib/router.ts";
import { Button, Code, Copy, Fault } from "../parts/button.tsx";
import { Chip, ink, Mark, Time } from "../parts/marks.tsx";
import { Skeleton, PageHead, Sheet } from "../parts/page.tsx";
import { Lines, More } from "../parts/rows.tsx";
import { curlOf } from "../words/samples.ts";
import {
  factsOf,
  type MarkKind,
  type MarkWords,
  reasonOf,
  sharesOf,
  titleOf,
  type ShownVerdict,
  verdictOf,
} from "../words/verdict.ts";

const ENTRY_MAX_CHARACTERS = 2_000;

/** The one field of the page, which has the focus. */
export function Ask(): VNode {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const isWide = matchMedia("(min-width: 901px)").matches; // a phone would open its keyboard
    if (isWide && fragment.value === "") input.current?.focus({ preventScroll: true });
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
        placeholder="name@domain"
        value={typed.value}
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
    const { entry, step } = shown;
    const { public_url: url } = session.value;
    return (
      <>
        {verdictSheet(shown)}
        {why(step)}
        {step.result.format && mailSetUp(shown)}
        <details class="sheet unprinted">
          <summary>For programs: the request and its JSON</summary>
          <div class="stack">
            <Code what="curl" text={curlOf(url, entry)} />
            <Code what="JSON" text={JSON.stringify(step.result, null, 2)} />
          </div>
        </details>
      </>
    );
  }
  if (shown.state === "failed") {
    return <Fault text={shown.message} retry={() => check(shown.entry)} />;
  }
  return (
    // With a key none of its elements stays in the answer: one that stays would count as moved.
    <section key="asking" class="sheet verdict">
      <div>
        <code class="subject prose">{shown.entry}</code>
        <h2 class="say">Asking its name servers…</h2>
        <Skeleton lines={2} />
      </div>
      <svg class="postmark blank" viewBox="0 0 200 200" aria-hidden="true">
        <circle cx="100" cy="100" r="97" />
      </svg>
    </section>
  );
}

type ResultProps = Pick<AnsweredCheck, "entry" | "step" | "atMs">;

const fixButton = (kind: string, meant?: string) =>
  meant && <Button act={`Did you mean ${meant}?`} class={kind} onClick={() => check(meant)} />;

function verdictSheet({ entry, step, atMs }: ResultProps): VNode {
  const verdict = verdictOf(step, entry);
  return (
    <section class="sheet verdict">
      <div>
        <code class="subject prose">{entry}</code>
        <h2 class="say">{verdict.sentence}</h2>
        {verdict.reason && <p class="break">{verdict.reason}</p>}
        <div class="bar facts">
          {factsOf(step.result).map(([mark, words]) => (
            <Chip key={words} {...{ mark, words }} />
          ))}
        </div>
        <div class="bar acts">
          {fixButton("main", step.meant)}
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

function why({ evidence, result }: CheckStep): VNode {
  const score = result.confidence;
  const shares = sharesOf(evidence, score).filter(({ points }) => points > 0);
  const counting = new Set(shares.map(({ piece }) => piece));
  const notes = evidence.filter((piece) => !counting.has(piece));
  const lead = !result.format
    ? "The format is wrong, so nothing else was checked."
    : shares.length > 0
      ? "Disposable from 50. Each bar begins where the one above ends."
      : "Nothing found against it: no list, no word, no suspicious mail server.";
  return (
    <Sheet>
      <div>
        <h2>{score > 0 ? `Why ${String(score)} of 100` : "Why"}</h2>
        <p class="note">{lead}</p>
      </div>
      {shares.length > 0 && (
        <ol class="fall">
          {shares.map(({ piece, points, from }) => (
            <li key={piece.signal}>
              <div>
                <h3>{titleOf(piece)}</h3>
                <p class="note">
                  {reasonOf(piece)} {sourceWords(piece)} <code>{piece.signal}</code>
                </p>
                {removalPages(piece)}
              </div>
              {bar(from, points, `+${String(points)}`, `adds ${String(points)}`)}
            </li>
          ))}
          {shares.length > 1 && (
            <li class="sum">
              <div>Sum</div>
              {bar(0, score, String(score), `${String(score)} of 100`)}
            </li>
          )}
        </ol>
      )}
      {notes.length > 0 && (
        <div>
          <h3>Also noted, adds 0</h3>
          <Lines
            rows={notes.map((piece) => [reasonOf(piece), <code class="note">{piece.signal}</code>])}
          />
        </div>
      )}
    </Sheet>
  );
}

const bar = (from: number, points: number, words: string, label: string): VNode => (
  <div class="fall-bar" role="img" aria-label={label}>
    <span>
      <i style={{ left: `${String(from)}%`, width: `max(${String(points)}%, 3px)` }} />
      <u />
    </span>
    <b>{words}</b>
  </div>
);

function removalPages({ lists }: EvidenceShape): VNode | false {
  const links = lists.flatMap(({ id, removal }) =>
    removal === undefined ? (
      []
    ) : (
      <a key={id} href={removal} rel="noreferrer">
        {id}
      </a>
    ),
  );
  return links.length > 0 && <p class="note bar">Have the name taken off: {links}</p>;
}

function sourceWords({ lists, by }: EvidenceShape): string {
  if (lists.length === 0)
    return by === "learned" ? "Learned from the mail servers of listed domains." : "";
  const days = lists.flatMap(({ fetched_at: at }) => at?.slice(0, 10) ?? []).sort();
  const newest = days.at(-1);
  return newest === undefined
    ? "The list came with this version."
    : `Fetched on ${shownDay(newest)}.`;
}

function mailSetUp({ step: { result, advice, step }, atMs }: ResultProps): VNode {
  const isWaiting = step === "core";
  return (
    <section class="stack close" aria-labelledby="set-up">
      <div class="bar">
        <h2 id="set-up">How its mail is set up</h2>
        <span class="push note">asked {stampTime(atMs)}</span>
      </div>
      <ul class="facts-grid">
        {serversCard(result)}
        {advice.map(adviceCard)}
        {isWaiting &&
          Array.from({ length: 7 }, (_, at) => (
            <li key={at}>
              <Skeleton lines={3} />
            </li>
          ))}
        {!isWaiting && advice.length === 0 && (
          <li>
            <p>
              SPF, DKIM, DMARC, age, mailbox provider, a score and spam traps come with the Pro
              plan. {session.value.account !== undefined && <a href="usage">See your plan</a>}
            </p>
          </li>
        )}
      </ul>
    </section>
  );
}

const card = (title: string, mark: MarkWords, says: string, more?: VNode): VNode => (
  <li key={title}>
    <h3>{title}</h3>
    <Mark {...mark} />
    <p class="note">{says}</p>
    {more && <More summary="Details">{more}</More>}
  </li>
);

function serversCard({ mx_info: hosts = [], signals, domain, ...result }: ResultJson): VNode {
  const parent = result.domain_info?.parent_domain;
  const more = (
    <>
      {hosts.length > 0 && <pre>{hosts.join("\n")}</pre>}
      <p>
        Domain: {domain}
        {parent && `, part of ${parent}`}
      </p>
    </>
  );
  const servers = (mark: MarkKind, words: string, says: string): VNode =>
    card("Mail servers", { mark, words }, says, more);
  if (hosts.length > 0)
    return servers("yes", `${String(hosts.length)} found`, "The domain can receive mail.");
  if (signals.includes("dns_indeterminate"))
    return servers("quiet", "Unknown", "DNS did not answer. Check again in a minute.");
  return signals.includes("implicit_mx")
    ? servers("unsure", "None named", "It has a web address, which seldom takes mail.")
    : servers("no", "None", "None that can be used.");
}

const MARKS: Readonly<Record<Advice["state"], MarkWords>> = {
  good: { mark: "yes", words: "Good" },
  warn: { mark: "unsure", words: "Weak" },
  bad: { mark: "no", words: "Bad" },
  unknown: { mark: "quiet", words: "Unknown" },
};

function adviceCard({ title, state, figure, record, says, fix }: Advice): VNode {
  const mark = { ...MARKS[state], ...(figure !== undefined && { words: capital(figure) }) };
  const more = (
    <>
      {record && <pre>{record}</pre>}
      {fix && <p>If the domain is yours: {fix}</p>}
    </>
  );
  return card(title, mark, says, (fix ?? record) ? more : undefined);
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
  const verdict = verdictOf(step, entry);
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
      {fixButton("small fix", step.meant)}
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

type PostmarkProps = Pick<ShownVerdict, "mark" | "stamp" | "small"> & { atMs: number };

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
        <a href="lists">Check a whole list instead</a>
      </PageHead>
      <Ask />
      {shownCheck.value.state === "nothing" ? <Teach /> : <Answer />}
    </>
  );
}

export const TRIED = "someone@mailinator.com";

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
