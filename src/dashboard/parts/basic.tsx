import { signal } from "@preact/signals";
import type { ComponentChildren, ComponentType, VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { count, counted, exactTime, relativeTime, timeMs } from "../lib/format.ts";
import { path } from "../lib/router.ts";
import type { Loading } from "../lib/load.ts";
import type { MarkKind } from "../words/verdict.ts";
import { Button, Fault } from "./form.tsx";

/** A shape for each meaning, so that the colour comes second. */
const SHAPES: Readonly<Record<MarkKind, string>> = {
  yes: "M8 0a8 8 0 1 0 0 16A8 8 0 0 0 8 0ZM7 11.6 3.6 8.3l1.1-1.1L7 9.4l4.4-4.4 1.1 1.1z",
  unsure: "M8 .7 16 15H0zM7.2 5.5v5h1.6v-5zm0 6.2v1.6h1.6v-1.6z",
  no: "M4.7 0h6.6L16 4.7v6.6L11.3 16H4.7L0 11.3V4.7zM5.6 4.5 4.5 5.6 6.9 8l-2.4 2.4 1.1 1.1L8 9.1l2.4 2.4 1.1-1.1L9.1 8l2.4-2.4-1.1-1.1L8 6.9z",
  quiet: "M8 0a8 8 0 1 0 0 16A8 8 0 0 0 8 0ZM4.5 7.25h7v1.5h-7z",
};

/** The colour of a part of a picture, by the name of its token. */
export const ink = (colour: string): Record<string, string> => ({ "--k": `var(--${colour})` });

export function Mark({ mark, words }: { mark: MarkKind; words: string }): VNode {
  return (
    <span class="mark" style={ink(mark)}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d={SHAPES[mark]} fill-rule="evenodd" />
      </svg>
      {words}
    </span>
  );
}

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

interface PageHeadProps {
  title: string;
  lead?: ComponentChildren;
  children?: ComponentChildren;
}

/** The title of a page, one sentence about it and its main button. Takes the focus at first. */
export function PageHead({ title, lead, children }: PageHeadProps): VNode {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => void (document.title = `${title} · Gatepost`), [title]);
  useEffect(() => {
    // A form that took the focus itself keeps it.
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div class="bar head">
      <div class="stack close">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {lead && <p class="prose">{lead}</p>}
      </div>
      {children && <div class="bar">{children}</div>}
    </div>
  );
}

interface LinkProps {
  href: string;
  /** Not of the pages below it. */
  exact?: true;
  children: ComponentChildren;
}

export function PageLink({ href, exact, children }: LinkProps): VNode {
  const own = href === "./" ? "" : href;
  const isBelow = exact !== true && own !== "" && path.value.startsWith(`${own}/`);
  return (
    <a href={href} aria-current={path.value === own || isBelow ? "page" : undefined}>
      {children}
    </a>
  );
}

export const GateTabs = (): VNode => (
  <nav class="bar tabs" aria-label="Gate">
    <PageLink href="gate" exact>
      Policy
    </PageLink>
    <PageLink href="gate/decisions">Decisions</PageLink>
    <PageLink href="gate/hooks">Hooks and keys for pages</PageLink>
  </nav>
);

interface SheetProps {
  title?: string | undefined;
  aside?: ComponentChildren;
  children: ComponentChildren;
}

export const Sheet = ({ title, aside, children }: SheetProps): VNode => (
  <section class="sheet stack">
    {title && (
      <div class="bar">
        <h2>{title}</h2>
        {aside && <div class="bar push">{aside}</div>}
      </div>
    )}
    {children}
  </section>
);

/**
 * How many parts of the page are on their way: what stands below them waits, too. The class that follows has Chromium look
 * again at its `:has`, whose old answer it keeps at times.
 */
export const waiting = signal(0);

/** Lines in the place of what is on its way, so that the layout stays still. */
export function Bones({ lines = 3 }: { lines?: number | undefined }): VNode {
  useLayoutEffect(() => {
    waiting.value += 1;
    return () => void (waiting.value -= 1);
  }, []);
  return (
    <div class="bones stack" role="status">
      <span class="unseen">Loading</span>
      {Array.from({ length: lines }, (_, at) => (
        <i key={at} />
      ))}
    </div>
  );
}

interface ShownProps<Value> {
  loading: Loading<Value>;
  lines?: number;
  children: (value: Value) => ComponentChildren;
}

export function Shown<Value>({ loading, lines, children }: ShownProps<Value>): VNode {
  const { value, fault, reload, atMs = 0 } = loading;
  if (value === undefined && fault === "") return <Bones lines={lines} />;
  const stale = fault !== "" && value !== undefined;
  const text = stale ? `${fault} What follows is from ${relativeTime(atMs)}.` : fault;
  return (
    <>
      <Fault {...{ text, stale }} retry={reload} />
      {value === undefined ? null : children(value)}
    </>
  );
}

export const LoadedSheet = <Value,>(
  props: Omit<SheetProps, "children"> & ShownProps<Value>,
): VNode => (
  <Sheet title={props.title} aside={props.aside}>
    <Shown {...props} />
  </Sheet>
);

const NOT_LOADED =
  "This page could not be loaded: reload it. The service may have been updated, or be out of reach.";

/** Fetches the code of a page. */
export type Loader = () => Promise<{ readonly Page: ComponentType }>;

export function Lazy({ load }: { load: Loader }): VNode {
  const [Content, setContent] = useState<ComponentType>();
  const [fault, setFault] = useState("");
  useLayoutEffect(() => {
    load().then(
      ({ Page }) => setContent(() => Page),
      () => setFault(NOT_LOADED),
    );
  }, []);
  if (Content !== undefined) return <Content />;
  if (fault === "") return <Bones lines={6} />;
  return <Fault text={fault} retry={() => location.reload()} />;
}

/** Grows while the dashboard is open, so that "just now" does not stay so. */
const ticks = signal(0);

setInterval(() => (ticks.value += 1), 30_000);

interface TimeProps {
  at: string | null;
  words?: string;
  never?: string;
}

/** "3 minutes ago", with the exact time on hover; `never` where there is none. */
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

interface TableProps {
  label: string;
  head: readonly string[];
  rows: readonly (readonly ComponentChildren[])[];
  /** The columns of figures; a column without a name has buttons. */
  numbers?: readonly number[];
  picked?: number;
  tall?: true;
  none?: ComponentChildren;
}

/** A table whose rows become blocks where it is narrow. */
export function Table({ label, head, rows, numbers = [], picked, tall, none }: TableProps): VNode {
  if (rows.length === 0 && none !== undefined) return <p class="prose">{none}</p>;
  const kindOf = (at: number): string => {
    if (at === picked) return "picked";
    return head[at] === "" ? "act" : numbers.includes(at) ? "number" : "";
  };
  return (
    <div class={tall ? "scroll tall" : "scroll"} tabIndex={0} role="region" aria-label={label}>
      <table class="folds">
        <thead>
          <tr>
            {head.map((name, at) => (
              <th key={at} scope="col" class={kindOf(at)}>
                {name === "" ? <span class="unseen">Change</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map((cell, at) => (
                <td key={at} class={kindOf(at)} data-label={at > 0 ? head[at] : undefined}>
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

export type NamedValue = readonly [name: ComponentChildren, value: ComponentChildren];

export const Pairs = (props: {
  rows: readonly NamedValue[];
  cells?: true;
  label?: string;
}): VNode => (
  <dl class={props.cells ? "cells" : "pairs"} aria-label={props.label}>
    {props.rows.map(([name, value], at) => (
      <div key={at}>
        <dt class="note">{name}</dt>
        <dd>{value === "" ? "\u00a0" : value}</dd>
      </div>
    ))}
  </dl>
);

/** One line each: what grows, and what stands at its end; `none` in place of no lines. */
export const Lines = ({ rows, none }: { rows: readonly NamedValue[]; none?: string }): VNode => (
  <ul class="lines">
    {rows.length === 0 && none && <li class="note">{none}</li>}
    {rows.map(([name, value], at) => (
      <li key={at}>
        <span class="grow">{name}</span>
        {value}
      </li>
    ))}
  </ul>
);

interface LinesSheetProps {
  title: string;
  aside?: ComponentChildren;
  rows: readonly NamedValue[];
  none?: string;
}

export const LinesSheet = ({ title, aside, ...lines }: LinesSheetProps): VNode => (
  <Sheet title={title} aside={aside}>
    <Lines {...lines} />
  </Sheet>
);

export const More = (props: { summary: string; children: ComponentChildren }): VNode => (
  <details>
    <summary>{props.summary}</summary>
    {props.children}
  </details>
);

export const Go = (props: { to: string; act: string; class?: string }): VNode => (
  <a class={`button ${props.class ?? ""}`} href={props.to}>
    {props.act}
  </a>
);

interface TurnsProps {
  from: number;
  size: number;
  total: number;
  of: string;
  onFrom: (from: number) => void;
}

export function Turns({ from, size, total, of, onFrom }: TurnsProps): VNode {
  const end = Math.min(from + size, total);
  const pages = Math.ceil(total / size);
  const jump = ({ currentTarget: box }: { currentTarget: HTMLInputElement }): void => {
    const page = Math.min(Math.max(Math.trunc(Number(box.value)) || 1, 1), pages);
    box.value = String(page);
    onFrom((page - 1) * size);
  };
  return (
    <div class="bar">
      <span class="note grow" role="status">
        {count(Math.min(from + 1, end))} to {count(end)} of {counted(total, of)}
      </span>
      {pages > 2 ? (
        <label class="bar note">
          Page
          <input
            class="page"
            type="number"
            min={1}
            max={pages}
            value={from / size + 1}
            onChange={jump}
          />
          of {count(pages)}
        </label>
      ) : null}
      <Button act="Previous" disabled={from === 0} onClick={() => onFrom(from - size)} />
      <Button act="Next" disabled={end >= total} onClick={() => onFrom(from + size)} />
    </div>
  );
}
