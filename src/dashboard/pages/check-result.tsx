import type { VNode } from "preact";
import { SIGNALS } from "../../core/signals.ts";
import type { CheckStep, EvidenceShape } from "../api/shapes.ts";
import { session } from "../app/session.ts";
import { Code } from "../parts/copy.tsx";
import { Meter } from "../parts/meter.tsx";
import { Postmark } from "../parts/postmark.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { curlOf } from "../words/samples.ts";
import { factsOf, reasonOf, verdictOf } from "../words/verdict.ts";
import { MailServers, MailSetUp } from "./check-mail.tsx";

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
                content: () => (
                  <Code
                    wrap
                    what="curl command"
                    text={curlOf(session.value?.public_url ?? location.origin, entry)}
                  />
                ),
              },
            ]}
          />
        </section>
      </div>
    </>
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
  const reason = reasonOf(piece);
  return (
    <li class="signal">
      <div>
        <code>{piece.signal}</code>
        <p>{reason === "" ? SIGNALS[piece.signal].means : reason}</p>
      </div>
      <Weight weight={piece.weight} />
    </li>
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
