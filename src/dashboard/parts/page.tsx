import { signal } from "@preact/signals";
import type { ComponentChildren, ComponentType, VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { relativeTime } from "../lib/format.ts";
import { type Loading, useLoad } from "../lib/load.ts";
import { path } from "../lib/router.ts";
import { Fault } from "./button.tsx";
import { breakable } from "./marks.tsx";

interface PageHeadProps {
  title: string;
  lead?: ComponentChildren;
  children?: ComponentChildren;
}

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
          {breakable(title)}
        </h1>
        {lead && <p class="prose">{lead}</p>}
      </div>
      {children && <div class="bar">{children}</div>}
    </div>
  );
}

interface PageLinkProps {
  to: string;
  below?: true;
  children: ComponentChildren;
}

export function PageLink({ to, below, children }: PageLinkProps): VNode {
  const isOpen = path.value === to || (below && to !== "" && path.value.startsWith(`${to}/`));
  return (
    <a href={to || "./"} aria-current={isOpen ? "page" : undefined}>
      {children}
    </a>
  );
}

export const GateTabs = (): VNode => (
  <nav class="bar tabs" aria-label="Gate">
    <PageLink to="gate">Policy</PageLink>
    <PageLink to="gate/decisions">Decisions</PageLink>
    <PageLink to="gate/hooks">Hooks and keys for pages</PageLink>
  </nav>
);

interface SheetProps {
  title?: string | undefined;
  aside?: ComponentChildren;
  children: ComponentChildren;
}

/** Props of a sheet that holds one part alone. */
export type Titled<Props> = Omit<SheetProps, "children"> & Props;

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

export function Skeleton({ lines = 3 }: { lines?: number | undefined }): VNode {
  useLayoutEffect(() => {
    waiting.value += 1;
    return () => void (waiting.value -= 1);
  }, []);
  return (
    <div class="skeleton stack" role="status">
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
  /** Stands above the fault of a page that brings its own heading. */
  heading?: string;
  children: (value: Value) => ComponentChildren;
}

export function Shown<Value>({ loading, lines, heading, children }: ShownProps<Value>): VNode {
  const { value, fault, reload, atMs = 0 } = loading;
  if (value === undefined && fault === "") return <Skeleton lines={lines} />;
  const stale = fault !== "" && value !== undefined;
  const text = stale ? `${fault} What follows is from ${relativeTime(atMs)}.` : fault;
  return (
    <>
      {value === undefined && heading && <PageHead title={heading} />}
      <Fault {...{ text, stale }} retry={reload} />
      {value === undefined ? null : children(value)}
    </>
  );
}

interface LoadedProps<Value> extends Omit<ShownProps<Value>, "loading"> {
  path: string;
  stamp?: string | number;
}

export const Loaded = <Value,>({ path, stamp, ...shown }: LoadedProps<Value>): VNode => (
  <Shown {...shown} loading={useLoad<Value>(path, stamp)} />
);

export const LoadedSheet = <Value,>(props: Titled<LoadedProps<Value>>): VNode => (
  <Sheet title={props.title} aside={props.aside}>
    <Loaded {...props} />
  </Sheet>
);

const NOT_LOADED =
  "This page could not be loaded: reload it. The service may have been updated, or be out of reach.";

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
  if (fault === "") return <Skeleton lines={6} />;
  return <Fault text={fault} retry={() => location.reload()} />;
}

export const Go = (props: { to: string; act: string; class?: string }): VNode => (
  <a class={`button ${props.class ?? ""}`} href={props.to}>
    {props.act}
  </a>
);
