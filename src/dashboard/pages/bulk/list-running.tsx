import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { count, counted, nowMs } from "../../lib/format.ts";
import { announce } from "../../lib/state.ts";
import { Mark, PageHead } from "../../parts/basic.tsx";
import { Ask } from "../../parts/form.tsx";
import { CLASSES, type Known } from "./list-parts.tsx";

/** Before that the speed is not known well enough to say when it ends. */
const RECKONED_AFTER_MS = 3_000;

/** "about 17 s", "about 2 min"; "" until it is known. */
function useTimeLeft(processed: number, entries: number): string {
  const since = useRef({ ms: nowMs(), processed });
  const tookMs = nowMs() - since.current.ms;
  const done = processed - since.current.processed;
  if (done <= 0 || tookMs < RECKONED_AFTER_MS) return "";
  const seconds = Math.ceil(((entries - processed) * tookMs) / done / 1_000);
  return seconds > 90 ? `about ${count(Math.ceil(seconds / 60))} min` : `about ${count(seconds)} s`;
}

/** A check under way; every tab and browser of the account shows the same. */
export function Running({ state, change }: Known): VNode {
  const { processed, entries, newest = [] } = state;
  const quarters = entries === 0 ? 0 : Math.floor((processed / entries) * 4);
  // A screen reader hears of every quarter; each second would be too much.
  useEffect(() => {
    if (quarters > 0 && quarters < 4) announce(`${String(quarters * 25)} % checked.`);
  }, [quarters]);
  return (
    <>
      <PageHead
        title={state.name}
        lead="You can leave this page: the check goes on, and every tab shows it."
      >
        <a class="button plain" href="lists">
          All lists
        </a>
        {state.state === "stopping" ? (
          <button type="button" disabled>
            Stopping…
          </button>
        ) : (
          <Ask
            act="Cancel"
            class=""
            title="Cancel the check?"
            yes="Cancel it"
            work={() => change("stop", {})}
          >
            {counted(processed, "entry is", "entries are")} checked so far. They stay, and so does
            their charge. What has not begun is not charged, and you can check it later.
          </Ask>
        )}
      </PageHead>
      <Progress state={state} />
      {newest.length === 0 ? null : (
        <section class="sheet stack">
          <h2>Newest results</h2>
          <ul class="lines">
            {newest.map(({ entry, class: name, why }) => (
              <li key={entry}>
                <span class="mono grow">{entry}</span>
                <Mark mark={CLASSES[name].mark} words={CLASSES[name].word} />
                <span class="note grow">{why}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function Progress({ state }: Pick<Known, "state">): VNode {
  const { processed, entries, so_far: soFar = { good: 0, disposable: 0 } } = state;
  const left = useTimeLeft(processed, entries);
  const others = Math.max(0, processed - soFar.good - soFar.disposable);
  const parts = [
    ["k-yes", soFar.good, "good"],
    ["k-no", soFar.disposable, "disposable"],
    ["k-quiet", others, "something else"],
    ["rest", entries - processed, "still to check"],
  ] as const;
  return (
    <section class="sheet stack" aria-label="Progress">
      <p class="say">
        {count(processed)} of {counted(entries, "entry", "entries")} checked
      </p>
      <div
        class="split"
        role="img"
        aria-label={parts.map(([, many, words]) => `${count(many)} ${words}`).join(", ")}
      >
        {parts.map(([colour, many, words]) =>
          many > 0 ? (
            <i key={words} class={colour} style={{ flex: `${String(many)} 1 0` }} />
          ) : null,
        )}
      </div>
      <div class="list-legend">
        {parts.map(([colour, many, words]) => (
          <div key={words}>
            <b>{count(many)}</b>
            <span class={`key ${colour}`}>{words}</span>
          </div>
        ))}
      </div>
      <p class="note" role="status">
        {state.state === "stopping"
          ? "The entries that have begun are being finished."
          : left === ""
            ? ""
            : `Left: ${left}.`}
      </p>
    </section>
  );
}
