import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { count, counted, nowMs } from "../../lib/format.ts";
import type { ListState } from "../../lib/shapes.ts";
import { announce } from "../../lib/state.ts";
import { Mark, PageHead, Sheet } from "../../parts/basic.tsx";
import { SplitWithLegend } from "../../parts/chart.tsx";
import { Ask } from "../../parts/form.tsx";
import { ALL_LISTS, CLASSES, type Known } from "./list-parts.tsx";

/** Before that the speed is not known well enough to say when it ends. */
const RECKONED_AFTER_MS = 3_000;

/** "Left: about 17 s.", "Left: about 2 min."; "" until it is known. */
function useTimeLeft(processed: number, entries: number): string {
  const since = useRef({ ms: nowMs(), processed });
  const tookMs = nowMs() - since.current.ms;
  const done = processed - since.current.processed;
  if (done <= 0 || tookMs < RECKONED_AFTER_MS) return "";
  const seconds = Math.ceil(((entries - processed) * tookMs) / done / 1_000);
  const [many, unit] = seconds > 90 ? [Math.ceil(seconds / 60), "min"] : [seconds, "s"];
  return `Left: about ${count(many)} ${unit}.`;
}

/** A check under way; every tab and browser of the account shows the same. */
export function Running({ state, change }: Known): VNode {
  const { processed, entries, newest = [] } = state;
  const isStopping = state.state === "stopping";
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
        {ALL_LISTS}
        {isStopping ? (
          <button type="button" disabled>
            Stopping…
          </button>
        ) : (
          <Ask
            {...{ act: "Cancel", class: "", yes: "Cancel it" }}
            title="Cancel the check?"
            send={() => change("stop", {})}
          >
            {counted(processed, "entry is", "entries are")} checked so far. They stay, and so does
            their charge. What has not begun is not charged, and you can check it later.
          </Ask>
        )}
      </PageHead>
      <Progress {...state} />
      {newest.length === 0 ? null : (
        <Sheet title="Newest results">
          <ul class="lines">
            {newest.map(({ entry, class: name, why }) => (
              <li key={entry}>
                <span class="mono grow">{entry}</span>
                <Mark {...CLASSES[name]} />
                <span class="note grow">{why}</span>
              </li>
            ))}
          </ul>
        </Sheet>
      )}
    </>
  );
}

function Progress({ state, processed, entries, so_far: soFar }: ListState): VNode {
  const { good, disposable } = soFar ?? { good: 0, disposable: 0 };
  const left = useTimeLeft(processed, entries);
  return (
    <section class="sheet stack" aria-label="Progress">
      <p class="say">
        {count(processed)} of {counted(entries, "entry", "entries")} checked
      </p>
      <SplitWithLegend
        parts={[
          ["good", "k-yes", good],
          ["disposable", "k-no", disposable],
          ["something else", "k-quiet", Math.max(0, processed - good - disposable)],
          ["still to check", "rest", entries - processed],
        ]}
      />
      <p class="note" role="status">
        {state === "stopping" ? "The entries that have begun are being finished." : left}
      </p>
    </section>
  );
}
