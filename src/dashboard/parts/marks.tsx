import { signal } from "@preact/signals";
import type { ComponentChildren, VNode } from "preact";
import { exactTime, relativeTime, timeMs } from "../lib/format.ts";
import type { MarkKind, MarkWords } from "../words/verdict.ts";

const SHAPES: Readonly<Record<MarkKind, string>> = {
  yes: "M8 0a8 8 0 1 0 0 16A8 8 0 0 0 8 0ZM7 11.6 3.6 8.3l1.1-1.1L7 9.4l4.4-4.4 1.1 1.1z",
  unsure: "M8 .7 16 15H0zM7.2 5.5v5h1.6v-5zm0 6.2v1.6h1.6v-1.6z",
  no: "M4.7 0h6.6L16 4.7v6.6L11.3 16H4.7L0 11.3V4.7zM5.6 4.5 4.5 5.6 6.9 8l-2.4 2.4 1.1 1.1L8 9.1l2.4 2.4 1.1-1.1L9.1 8l2.4-2.4-1.1-1.1L8 6.9z",
  quiet: "M8 0a8 8 0 1 0 0 16A8 8 0 0 0 8 0ZM4.5 7.25h7v1.5h-7z",
};

export const ink = (colour: string): Record<string, string> => ({ "--k": `var(--${colour})` });

export function Mark({ mark, words }: MarkWords): VNode {
  return (
    <span class="mark" style={ink(mark)}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d={SHAPES[mark]} fill-rule="evenodd" />
      </svg>
      {words}
    </span>
  );
}

/** An address or a name that may break behind its "@" and before a dot, and elsewhere only where one part is too long. */
export const breakable = (name: string): readonly (string | VNode)[] =>
  name.split(/(?<=@)|(?=\.\w)/).flatMap((part, at) => (at === 0 ? [part] : [<wbr />, part]));

export const noted = (first: ComponentChildren, ...note: readonly ComponentChildren[]): VNode => (
  <>
    {first}
    <div class="note">{note}</div>
  </>
);

export const Chip = ({ mark, words }: { mark?: MarkKind | "tip" | ""; words: string }): VNode => (
  <span class={`chip note ${mark ?? ""}`}>{words}</span>
);

/** A bar from 0 to 1. The figure is beside it as text, so screen readers skip the bar. */
export const Meter = ({ share }: { share: number }): VNode => (
  <div class="meter" aria-hidden="true">
    <i style={{ width: `${String(Math.min(100, share * 100))}%` }} />
  </div>
);

/** Grows while the dashboard is open, so that "just now" does not stay so. */
const ticks = signal(0);

setInterval(() => (ticks.value += 1), 30_000);

interface TimeProps {
  at: string | null;
  words?: string;
  never?: string;
}

export function Time({ at, words = "", never = "never" }: TimeProps): VNode {
  if (at === null) return <span>{`${words} ${never}`}</span>;
  const ms = timeMs(at);
  void ticks.value; // it is drawn anew with each
  return (
    <>
      {words && `${words} `}
      <time dateTime={at} title={exactTime(ms)}>
        {relativeTime(ms)}
      </time>
    </>
  );
}
