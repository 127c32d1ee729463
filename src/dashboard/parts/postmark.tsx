import type { VNode } from "preact";
import type { Mark } from "../words/verdict.ts";

/** The verdict, once, large: the one ornament of the product. */
export function Postmark(props: { mark: Mark; stamp: string; small: string }): VNode {
  const { mark, stamp, small } = props;
  return (
    <div class={`postmark ${mark}`} role="img" aria-label={`Verdict: ${stamp}, ${small}`}>
      <b>{stamp}</b>
      <small>{small}</small>
    </div>
  );
}

/** Its place while nothing is known yet. */
export function BlankPostmark(): VNode {
  return <div class="postmark blank" aria-hidden="true" />;
}
