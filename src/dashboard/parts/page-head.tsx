import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** The title of a page, one sentence about it, and its main button. Takes the focus when the page opens. */
export function PageHead(props: {
  title: string;
  lead?: ComponentChildren;
  children?: ComponentChildren;
}): VNode {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${props.title} · Gatepost`;
  }, [props.title]);
  useEffect(() => {
    // A form that took the focus itself keeps it.
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div class="head">
      <div>
        <h1 ref={heading} tabIndex={-1}>
          {props.title}
        </h1>
        {props.lead === undefined ? null : <p>{props.lead}</p>}
      </div>
      {props.children === undefined ? null : <div class="bar">{props.children}</div>}
    </div>
  );
}
