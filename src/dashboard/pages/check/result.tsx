import type { VNode } from "preact";
import { SIGNALS } from "../../../core/evidence/signals.ts";
import type { SaidBy } from "../../../core/validate/explain.ts";
import type { CheckStep, EvidenceShape, ListBehind } from "../../api/shapes.ts";
import { shownDay } from "../../app/clock.ts";
import { freshKey } from "../../app/fresh-key.ts";
import { session } from "../../app/session.ts";
import { Code } from "../../parts/copy.tsx";
import { Meter } from "../../parts/meter.tsx";
import { Postmark } from "../../parts/postmark.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { Time } from "../../parts/time.tsx";
import { curlOf } from "../../words/samples.ts";
import { factsOf, reasonOf, verdictOf } from "../../words/verdict.ts";
import { MailServers, MailSetUp } from "./mail.tsx";

/** The verdict, why, and what was found; `step` "core" still waits for the premium part. */
export function CheckResult({ entry, step }: { entry: string; step: CheckStep }): VNode {
  return (
    <>
      <VerdictSheet entry={entry} step={step} />
      <div class="two">
        <div class="stack wide">
          <Why step={step} />
          <MailSetUp step={step} />
        </div>
        <section class="sheet" aria-label="What was found">
          <Tabs
            label="What was found"
            tabs={[
              { name: "Mail servers", content: () => <MailServers result={step.result} /> },
              {
                name: "JSON",
                content: () => (
                  <Code what="JSON result" text={JSON.stringify(step.result, null, 2)} />
                ),
              },
              {
                name: "curl",
                content: () => <Curl entry={entry} />,
              },
            ]}
          />
        </section>
      </div>
    </>
  );
}

/** The same check as a command. */
function Curl({ entry }: { entry: string }): VNode {
  return (
    <div class="stack close">
      <Code
        wrap
        what="curl command"
        text={curlOf(session.value?.public_url ?? location.origin, entry, freshKey.value?.api_key)}
      />
      <p class="note">
        {freshKey.value === undefined
          ? "Without a key it counts as an anonymous check."
          : "It holds the key that you have just made."}
      </p>
    </div>
  );
}

function VerdictSheet({ entry, step }: { entry: string; step: CheckStep }): VNode {
  const verdict = verdictOf(step);
  return (
    <section class="sheet">
      <div class="verdict">
        <Postmark {...verdict} />
        <div>
          <code class="subject">{entry}</code>
          <h2>{verdict.sentence}</h2>
          {verdict.reason === "" ? null : <p>{verdict.reason}</p>}
          <div class="facts">
            {factsOf(step.result).map(({ mark, words }) => (
              <span key={words} class={`chip ${mark}`}>
                {words}
              </span>
            ))}
          </div>
        </div>
      </div>
    </section>
  );
}

function Why({ step }: { step: CheckStep }): VNode {
  const { evidence } = step;
  if (evidence.length === 0) {
    return (
      <section class="sheet">
        <h2>Why</h2>
        <p class="prose">
          {step.result.format
            ? "Nothing speaks against it: no list, no tell-tale word, no suspicious mail server."
            : "The format was wrong, so nothing else was looked at."}
        </p>
      </section>
    );
  }
  return (
    <section class="sheet">
      <h2>Why</h2>
      <ul class="rows">
        {evidence.map((piece) => (
          <SignalRow key={piece.signal} piece={piece} />
        ))}
      </ul>
    </section>
  );
}

function SignalRow({ piece }: { piece: EvidenceShape }): VNode {
  const reason = reasonOf({ ...piece, lists: [] }); // each has a line of its own below
  return (
    <li class="signal">
      <div>
        <code>{piece.signal}</code>
        <p>{reason === "" ? SIGNALS[piece.signal].means : reason}</p>
        <Provenance piece={piece} />
      </div>
      <Weight weight={piece.weight} />
    </li>
  );
}

const SAYERS: Partial<Record<SaidBy, string>> = {
  operator: "The operator of this service says so.",
  learned: "Learned from the mail servers of listed domains.",
};

/** Who says so: each list with since when it holds the name, and when it was fetched. */
function Provenance({ piece: { by, lists } }: { piece: EvidenceShape }): VNode | null {
  if (lists.length === 0) {
    const words = by === undefined ? undefined : SAYERS[by];
    return words === undefined ? null : <p class="note">{words}</p>;
  }
  return (
    <ul class="sources">
      {lists.map((list) => (
        <li key={list.id}>
          <code>{list.id}</code> {list.curated ? "curated, " : ""}
          <Dated list={list} />
        </li>
      ))}
    </ul>
  );
}

function Dated({ list: { since, fetched_at: fetchedAt } }: { list: ListBehind }): VNode {
  if (fetchedAt === null) return <>came with this version of the program</>;
  return (
    <>
      {since === null ? null : <>listed since {shownDay(since.slice(0, 10))}, </>}
      fetched <Time at={fetchedAt} />
    </>
  );
}

/** How much a signal speaks for "disposable"; a note speaks neither for nor against. */
function Weight({ weight }: { weight: number }): VNode {
  if (weight === 0) return <div class="note">a note only</div>;
  return (
    <div class="weight" title="How strongly this speaks for a throw-away inbox, of 100">
      <Meter share={weight / 100} />
      {weight}
    </div>
  );
}
