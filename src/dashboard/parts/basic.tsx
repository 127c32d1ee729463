import { signal } from "@preact/signals";
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { call, faultText } from "../lib/client.ts";
import { countdown, exactTime, nowMs, relativeTime, timeMs } from "../lib/format.ts";
import { path } from "../lib/router.ts";
import { type Loadable, type Loading, loadedPart, loadPart } from "../lib/load.ts";
import type { MarkKind } from "../words/verdict.ts";

export type { MarkKind };

/** A shape for each meaning, so that the colour comes second. */
const SHAPES: Readonly<Record<MarkKind, string>> = {
  yes: "M8 0a8 8 0 1 0 0 16A8 8 0 0 0 8 0ZM7 11.6 3.6 8.3l1.1-1.1L7 9.4l4.4-4.4 1.1 1.1z",
  unsure: "M8 .7 16 15H0zM7.2 5.5v5h1.6v-5zm0 6.2v1.6h1.6v-1.6z",
  no: "M4.7 0h6.6L16 4.7v6.6L11.3 16H4.7L0 11.3V4.7zM5.6 4.5 4.5 5.6 6.9 8l-2.4 2.4 1.1 1.1L8 9.1l2.4 2.4 1.1-1.1L9.1 8l2.4-2.4-1.1-1.1L8 6.9z",
  quiet: "M8 0a8 8 0 1 0 0 16A8 8 0 0 0 8 0ZM4.5 7.25h7v1.5h-7z",
};

/** A finding: its shape and its word. */
export function Mark({ mark, words }: { mark: MarkKind; words: string }): VNode {
  return (
    <span class={`mark ${mark}`}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d={SHAPES[mark]} fill-rule="evenodd" />
      </svg>
      {words}
    </span>
  );
}

/** A bar from 0 to 1. The figure is beside it as text, so screen readers skip the bar. */
export function Meter({ share }: { share: number }): VNode {
  const width = `${String(Math.max(0, Math.min(100, share * 100)))}%`;
  return (
    <div class="meter" aria-hidden="true">
      <i style={{ width }} />
    </div>
  );
}

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

/** The link of a page, and of the pages below it. */
export function PageLink(props: {
  href: string;
  /** Not of the pages below it. */
  exact?: true;
  children: ComponentChildren;
}): VNode {
  const { href, exact, children } = props;
  const own = href === "./" ? "" : href;
  const isBelow = exact !== true && own !== "" && path.value.startsWith(`${own}/`);
  const isHere = path.value === own || isBelow;
  return (
    <a href={href} {...(isHere && { "aria-current": "page" as const })}>
      {children}
    </a>
  );
}

/** A part of a page; `aside` stands at the end of its heading's line. */
export function Sheet(props: {
  title: string;
  aside?: ComponentChildren;
  children: ComponentChildren;
}): VNode {
  const { title, aside } = props;
  return (
    <section class="sheet stack">
      {aside === undefined ? (
        <h2>{title}</h2>
      ) : (
        <div class="bar">
          <h2>{title}</h2>
          <div class="bar push">{aside}</div>
        </div>
      )}
      {props.children}
    </section>
  );
}

/** How many parts of the page are on their way: what stands below them waits, too. */
export const waiting = signal(0);

/** Lines in the place of what is on its way, so that the layout stays still. */
export function Bones({ lines = 3 }: { lines?: number }): VNode {
  useLayoutEffect(() => {
    waiting.value += 1;
    return () => {
      waiting.value -= 1;
    };
  }, []);
  return (
    <div class="bones" role="status">
      <span class="unseen">Loading</span>
      {Array.from({ length: lines }, (_, at) => (
        <i key={at} />
      ))}
    </div>
  );
}

/** What failed, and the way on. */
export function Failed({ message, retry }: { message: string; retry: () => void }): VNode {
  return (
    <div class="notice no" role="alert">
      <span>{message}</span>
      <button type="button" class="small" onClick={retry}>
        Try again
      </button>
    </div>
  );
}

/** A list with nothing in it teaches what would be there. */
export function Empty(props: { title: string; children: ComponentChildren }): VNode {
  return (
    <div class="empty">
      <h2>{props.title}</h2>
      <p>{props.children}</p>
    </div>
  );
}

/** Shows `children` of what was loaded, or why it is not there. */
export function Shown<Value>(props: {
  loading: Loading<Value>;
  lines?: number;
  children: (value: Value) => ComponentChildren;
}): VNode {
  const { loaded, reload } = props.loading;
  if (loaded.state === "loading") return <Bones lines={props.lines ?? 3} />;
  if (loaded.state === "failed") return <Failed message={loaded.message} retry={reload} />;
  return <>{props.children(loaded.value)}</>;
}

/** The fault of a form or a button; nothing when there is none. */
export function Fault({ text }: { text: string }): VNode | null {
  if (text === "") return null;
  return (
    <p class="notice no" role="alert">
      {text}
    </p>
  );
}

const NOT_LOADED = "This page could not be loaded. The service may have been updated: reload.";

/** A file that does not come is gone after an update, or the server is out of reach. */
const whyNotLoaded = (): Promise<string> =>
  call("GET", "session").then(() => NOT_LOADED, faultText);

/** A part of the dashboard whose code comes when it is shown; `wait` stands in its place until then. */
export function Lazy({ part, wait }: { part: Loadable; wait?: VNode }): VNode {
  const [Content, setContent] = useState(() => loadedPart(part));
  const [fault, setFault] = useState("");
  const load = (): void => {
    setFault("");
    void loadPart(part).then(async (component) => {
      if (component === undefined) setFault(await whyNotLoaded());
      else setContent(() => component);
    });
  };
  useLayoutEffect(() => {
    if (Content === undefined) load();
  }, []);
  if (Content !== undefined) return <Content />;
  if (fault === "") return wait ?? <Bones lines={6} />;
  return (
    <Failed message={fault} retry={() => (fault === NOT_LOADED ? location.reload() : load())} />
  );
}

const TICK_MS = 30_000;

/** Grows while the dashboard is open, so that "just now" does not stay so. */
const ticks = signal(0);

setInterval(() => (ticks.value += 1), TICK_MS);

/** "3 minutes ago", with the exact time on hover; `never` where there is none. */
export function Time({ at, never = "never" }: { at: string | null; never?: string }): VNode {
  if (at === null) return <span>{never}</span>;
  const ms = timeMs(at);
  void ticks.value; // it is drawn anew with each
  return (
    <time dateTime={at} title={exactTime(ms)}>
      {relativeTime(ms, nowMs())}
    </time>
  );
}

/** `words` with the time that is left in place of {time}; `past` when it is over. */
export function Countdown(props: { untilMs: number; words: string; past: string }): VNode {
  const [now, setNow] = useState(nowMs);
  useEffect(() => {
    const timer = setInterval(() => setNow(nowMs()), 1_000);
    return () => clearInterval(timer);
  }, []);
  if (now >= props.untilMs) return <>{props.past}</>;
  return <>{props.words.replace("{time}", countdown(props.untilMs - now))}</>;
}

/**
 * A table whose rows become blocks where it is narrow. `numbers` are the columns of figures; a column without a name
 * has buttons.
 */
export function Table(props: {
  label: string;
  head: readonly string[];
  rows: readonly (readonly ComponentChildren[])[];
  numbers?: readonly number[];
  tall?: true;
}): VNode {
  const { label, head, rows, numbers = [], tall } = props;
  const kindOf = (at: number): string =>
    head[at] === "" ? "act" : numbers.includes(at) ? "number" : "";
  return (
    <div class={tall ? "scroll tall" : "scroll"} tabIndex={0} role="region" aria-label={label}>
      <table class="folds">
        <thead>
          <tr>
            {head.map((name, at) => (
              <th key={name} scope="col" class={kindOf(at)}>
                {name === "" ? <span class="unseen">Change</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map((cell, at) => (
                <td key={at} class={kindOf(at)} {...(at > 0 && { "data-label": head[at] })}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

type Row = readonly [name: ComponentChildren, value: ComponentChildren];
type Rows = readonly (Row | null)[];

const there = (rows: Rows): readonly Row[] => rows.filter((row) => row !== null);

/** Names with their values; null rows are left out. */
export function Pairs({ rows }: { rows: Rows }): VNode {
  return (
    <dl class="pairs">
      {there(rows).map(([name, value], at) => (
        <div key={at}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Large figures with their names. */
export function Cells({ rows, label }: { rows: Rows; label?: string }): VNode {
  return (
    <dl class="cells" aria-label={label}>
      {there(rows).map(([name, value], at) => (
        <div key={at}>
          <dt>{name}</dt>
          <dd>{value === "" ? "\u00a0" : value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** One line each: what grows, and what stands at its end. */
export function Lines({ rows }: { rows: Rows }): VNode {
  return (
    <ul class="lines">
      {there(rows).map(([name, value], at) => (
        <li key={at}>
          <span class="grow">{name}</span>
          {value}
        </li>
      ))}
    </ul>
  );
}
