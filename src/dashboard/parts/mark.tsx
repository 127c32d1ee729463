import type { VNode } from "preact";
import type { Mark as Kind } from "../words/verdict.ts";

/** A shape for each meaning, so that the colour comes second. */
const SHAPES: Readonly<Record<Kind, string>> = {
  yes: "M8 0a8 8 0 1 0 0 16A8 8 0 0 0 8 0ZM7 11.6 3.6 8.3l1.1-1.1L7 9.4l4.4-4.4 1.1 1.1z",
  unsure: "M8 .7 16 15H0zM7.2 5.5v5h1.6v-5zm0 6.2v1.6h1.6v-1.6z",
  no: "M4.7 0h6.6L16 4.7v6.6L11.3 16H4.7L0 11.3V4.7zM5.6 4.5 4.5 5.6 6.9 8l-2.4 2.4 1.1 1.1L8 9.1l2.4 2.4 1.1-1.1L9.1 8l2.4-2.4-1.1-1.1L8 6.9z",
  quiet: "M8 0a8 8 0 1 0 0 16A8 8 0 0 0 8 0ZM4.5 7.25h7v1.5h-7z",
};

/** A finding: its shape and its word. */
export function Mark({ mark, words }: { mark: Kind; words: string }): VNode {
  return (
    <span class={`mark ${mark}`}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d={SHAPES[mark]} fill-rule="evenodd" />
      </svg>
      {words}
    </span>
  );
}
