import type { VNode } from "preact";
import type { CheckStep, FrontPage as Front } from "../../api/shapes.ts";
import { timeMs } from "../../app/clock.ts";
import { check } from "../../app/check-run.ts";
import { t } from "../../app/i18n.ts";
import { Postmark } from "../../parts/postmark.tsx";
import { Time } from "../../parts/time.tsx";
import { verdictOf } from "../../words/verdict.ts";

/** Results that this server found a few minutes ago; one that is no longer true is not shown. */
export function FrontExamples(props: {
  front: Front | undefined;
  isLoading: boolean;
}): VNode | null {
  const { front, isLoading } = props;
  if (front?.examples.length === 0 || (front === undefined && !isLoading)) return null;
  return (
    <section class="stack">
      <div class="bar dated">
        <h2>{t("Results of this server")}</h2>
        <span class="note">
          {front === undefined ? (
            ""
          ) : (
            <>
              {t("checked")} <Time at={front.checked_at} />
            </>
          )}
        </span>
      </div>
      <div class="even examples-grid">
        {front === undefined
          ? [0, 1, 2].map((at) => (
              <article key={at} class="sheet">
                <div aria-hidden="true"></div>
              </article>
            ))
          : front.examples.map(({ entry, step }) => (
              <Example key={entry} entry={entry} step={step} atMs={timeMs(front.checked_at)} />
            ))}
      </div>
    </section>
  );
}

function Example(props: { entry: string; step: CheckStep; atMs: number }): VNode {
  const { entry, step, atMs } = props;
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
      <p>{verdict.reason}</p>
      {suggestion === undefined ? null : (
        <button type="button" class="small fix" onClick={() => check(suggestion)}>
          {t("Did you mean {name}?", { name: suggestion })}
        </button>
      )}
      <div class="bar">
        <button type="button" class="link push" onClick={() => check(entry)}>
          {t("See why")}
          <span class="unseen"> {entry}</span>
        </button>
      </div>
    </article>
  );
}
