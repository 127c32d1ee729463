import type { VNode } from "preact";
import type { Advice } from "../../core/validate/reasons.ts";
import type { CheckStep, EvidenceShape, Result } from "../../http/account/shapes.ts";
import { shownCheck } from "../lib/check-run.ts";
import { capital, shownDay, stampTime } from "../lib/format.ts";
import { freshKey } from "../lib/state.ts";
import { session } from "../lib/session.ts";
import { Bones, Lines, Mark, More } from "../parts/basic.tsx";
import { Code } from "../parts/form.tsx";
import { curlOf } from "../words/samples.ts";
import { type MarkKind, reasonOf, sharesOf, titleOf } from "../words/verdict.ts";

export function Page(): VNode | null {
  const shown = shownCheck.value;
  if (shown.state !== "answered") return null;
  const { entry, step, atMs } = shown;
  return (
    <>
      <Why step={step} />
      <MailSetUp step={step} atMs={atMs} />
      <details class="sheet unprinted">
        <summary>For programs: the request and its JSON</summary>
        <div class="stack">
          <Code
            what="curl"
            text={curlOf(session.value.public_url, entry, freshKey.value?.api_key)}
          />
          <Code what="JSON" text={JSON.stringify(step.result, null, 2)} />
        </div>
      </details>
    </>
  );
}

function Why({ step: { evidence, result } }: { step: CheckStep }): VNode {
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
    <section class="sheet stack">
      <div>
        <h2>{score > 0 ? `Why ${String(score)} of 100` : "Why"}</h2>
        <p class="note">{lead}</p>
      </div>
      {shares.length === 0 ? null : (
        <ol class="fall">
          {shares.map(({ piece, points, from }) => (
            <li key={piece.signal}>
              <div>
                <h3>{titleOf(piece)}</h3>
                <p class="note">
                  {reasonOf(piece)} {sourceWords(piece)} <code>{piece.signal}</code>
                </p>
              </div>
              {bar(from, points, `+${String(points)}`, `adds ${String(points)}`)}
            </li>
          ))}
          {shares.length === 1 ? null : (
            <li class="sum">
              <div>Sum</div>
              {bar(0, score, String(score), `${String(score)} of 100`)}
            </li>
          )}
        </ol>
      )}
      {notes.length === 0 ? null : (
        <div>
          <h3>Also noted, adds 0</h3>
          <Lines
            rows={notes.map((piece) => [reasonOf(piece), <code class="note">{piece.signal}</code>])}
          />
        </div>
      )}
    </section>
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

/** When the copies in use were fetched, or that they came with the program. */
function sourceWords({ lists, by }: EvidenceShape): string {
  if (lists.length === 0)
    return by === "learned" ? "Learned from the mail servers of listed domains." : "";
  const newest = lists
    .flatMap(({ fetched_at: at }) => at ?? [])
    .sort()
    .at(-1);
  if (newest === undefined) return "The list came with this version.";
  return `Fetched on ${shownDay(newest.slice(0, 10))}.`;
}

function MailSetUp({ step, atMs }: { step: CheckStep; atMs: number }): VNode | null {
  const { result, advice } = step;
  if (!result.format) return null;
  const isWaiting = step.step === "core";
  return (
    <section class="stack close" aria-labelledby="set-up">
      <div class="bar">
        <h2 id="set-up">How its mail is set up</h2>
        <span class="push note">asked {stampTime(atMs)}</span>
      </div>
      <ul class="facts-grid">
        {serversCard(result)}
        {advice.map(adviceCard)}
        {isWaiting
          ? Array.from({ length: 7 }, (_, at) => (
              <li key={at}>
                <Bones lines={3} />
              </li>
            ))
          : null}
        {isWaiting || advice.length > 0 ? null : (
          <li>
            <p>
              SPF, DKIM, DMARC, age, mailbox provider, a score and spam traps come with the Pro
              plan.{" "}
              <a href={session.value.account === undefined ? "pricing" : "usage"}>See plans</a>
            </p>
          </li>
        )}
      </ul>
    </section>
  );
}

const card = (title: string, mark: VNode, says: string, more?: VNode | ""): VNode => (
  <li key={title}>
    <h3>{title}</h3>
    {mark}
    <p class="note">{says}</p>
    {more && <More summary="Details">{more}</More>}
  </li>
);

function serversCard({ mx_info: hosts = [], signals, domain, domain_info: info }: Result): VNode {
  const parent = info?.parent_domain ?? null;
  const [mark, words, says]: readonly [MarkKind, string, string] =
    hosts.length > 0
      ? ["yes", `${String(hosts.length)} found`, "The domain can receive mail."]
      : signals.includes("dns_indeterminate")
        ? ["quiet", "Unknown", "DNS did not answer. Check again in a minute."]
        : signals.includes("implicit_mx")
          ? ["unsure", "None named", "It has a web address, which seldom takes mail."]
          : ["no", "None", "None that can be used."];
  const more = (
    <>
      {hosts.length === 0 ? null : <pre>{hosts.join("\n")}</pre>}
      <p>
        Domain: {domain}
        {parent === null ? "" : `, part of ${parent}`}
      </p>
    </>
  );
  return card("Mail servers", <Mark {...{ mark, words }} />, says, more);
}

const MARKS: Readonly<Record<Advice["state"], readonly [MarkKind, string]>> = {
  good: ["yes", "Good"],
  warn: ["unsure", "Weak"],
  bad: ["no", "Bad"],
  unknown: ["quiet", "Unknown"],
};

function adviceCard({ title, state, figure, record, says, fix }: Advice): VNode {
  const [mark, usual] = MARKS[state];
  const words = figure === undefined ? usual : capital(figure);
  const more = (fix ?? record) && (
    <>
      {record && <pre>{record}</pre>}
      {fix && <p>If the domain is yours: {fix}</p>}
    </>
  );
  return card(title, <Mark {...{ mark, words }} />, says, more);
}
