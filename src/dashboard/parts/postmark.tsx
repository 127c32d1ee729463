import type { VNode } from "preact";
import { useId } from "preact/hooks";
import { nowMs, stampTime } from "../lib/format.ts";
import type { MarkKind } from "./basic.tsx";

const WAVES = [72, 88, 104, 120]
  .map((y) => `M-118 ${String(y)}q12-9 24 0t24 0 24 0 24 0 10-2`)
  .join("");

/** Words are fitted to the ring, so that no font overflows it; those of fewer letters are not stretched. */
const fitted = (words: string, from: number) =>
  words.length < from ? {} : { textLength: 124, lengthAdjust: "spacingAndGlyphs" as const };

/** The verdict, once, large: the one ornament of the product. */
export function Postmark(props: {
  mark: MarkKind;
  stamp: string;
  small: string;
  atMs?: number;
}): VNode {
  const { mark, stamp, small, atMs = nowMs() } = props;
  const id = useId();
  const label = `Verdict: ${stamp}, ${small}`;
  return (
    <svg class={`postmark ${mark}`} viewBox="0 0 200 200" role="img" aria-label={label}>
      <path class="waves" d={WAVES} />
      <circle cx="100" cy="100" r="97" />
      <circle class="thin" cx="100" cy="100" r="74" />
      <path id={`${id}u`} d="M19 100a81 81 0 0 1 162 0" fill="none" />
      <path id={`${id}l`} d="M11 100a89 89 0 0 0 178 0" fill="none" />
      <text aria-hidden="true">
        <textPath href={`#${id}u`} startOffset="50%">
          Checked by Gatepost
        </textPath>
      </text>
      <text aria-hidden="true">
        <textPath href={`#${id}l`} startOffset="50%">
          {stampTime(atMs)}
        </textPath>
      </text>
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

/** Its place while nothing is known yet. */
export const BLANK = (
  <svg class="postmark blank" viewBox="0 0 200 200" aria-hidden="true">
    <circle cx="100" cy="100" r="97" />
  </svg>
);
