import { signal } from "@preact/signals";

/**
 * Path under which the dashboard is served, with a slash at its end: the page says it in its `base`. Links, requests and
 * files are relative to it: "keys", "account/session"; "./" is the first page.
 */
export const BASE = new URL(document.baseURI).pathname;

function readFragment(): string {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return ""; // a stray "%"
  }
}

export const path = signal(readPath());

function readPath(): string {
  const { pathname } = location;
  const own = pathname.startsWith(BASE) ? pathname.slice(BASE.length) : pathname;
  return own.replace(/^\/+|\/+$/g, "");
}

export const fragment = signal(readFragment());

export const query = signal(location.search.slice(1));

export const queried = (name: string): string => new URLSearchParams(query.value).get(name) ?? "";

/** Changes parts of it, "" for none; as a step that Back leaves again, unless it is typed letter by letter. */
export function setQuery(changed: Readonly<Record<string, string>>, isStep = true): void {
  const parts = new URLSearchParams(query.value);
  for (const [name, value] of Object.entries(changed)) {
    if (value === "") parts.delete(name);
    else parts.set(name, value);
  }
  const next = parts.toString();
  if (next === query.value) return;
  const url = location.pathname + (next === "" ? "" : `?${next}`) + location.hash;
  if (isStep) history.pushState(null, "", url);
  else history.replaceState(history.state, "", url);
  query.value = next;
}

const here = (): string => location.pathname.slice(BASE.length) + location.search + location.hash;

export function go(to: string): void {
  const url = new URL(to === "" ? "./" : to, document.baseURI);
  if (url.href !== location.href) {
    history.pushState(null, "", url);
    // A link of the rail stays when its page comes: without the focus, its heading can take it and is read out.
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  }
  follow();
  scrollTo(0, 0);
}

/** Names what the page shows in the address bar, as a step of its own that Back leaves again. */
export function setFragment(text: string): void {
  const hash = text === "" ? "" : `#${encodeURIComponent(text)}`;
  if (text !== fragment.value) {
    history.pushState(null, "", location.pathname + location.search + hash);
  }
  fragment.value = text;
}

function follow(): void {
  path.value = readPath();
  query.value = location.search.slice(1);
  fragment.value = readFragment();
}

/** The page that a visitor asked for before signing in; `fallback` when there is none. */
export function wantedPage(fallback: string): string {
  const wanted = new URLSearchParams(location.search).get("next") ?? "";
  if (wanted === "" || !URL.canParse(wanted, document.baseURI)) return fallback;
  const url = new URL(wanted, document.baseURI);
  // "//host" and "/\\host" are other sites.
  const isOurs = url.origin === location.origin && url.pathname.startsWith(BASE);
  return isOurs ? url.pathname.slice(BASE.length) + url.search + url.hash : fallback;
}

/** The sign-in or sign-up page, which leads back to the page of now. */
export function doorTo(door: "sign-in" | "sign-up"): string {
  if (path.value === "" && location.hash === "") return door;
  const next = path.value.startsWith("sign-") ? wantedPage("") : here();
  return next === "" ? door : `${door}?next=${encodeURIComponent(next)}`;
}

const ELSEWHERE = /^(?:docs|openapi\.json|account|api)(?:\/|$)/;

function isPlainClick(event: MouseEvent): boolean {
  const { button, metaKey, ctrlKey, shiftKey, altKey } = event;
  return button === 0 && !metaKey && !ctrlKey && !shiftKey && !altKey && !event.defaultPrevented;
}

export function startRouter(): void {
  addEventListener("popstate", follow);
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link === null || !isPlainClick(event)) return;
    if (link.target !== "" || link.hasAttribute("download")) return;
    if (link.origin !== location.origin || !link.pathname.startsWith(BASE)) return;
    const to = link.pathname.slice(BASE.length) + link.search + link.hash;
    if (ELSEWHERE.test(to)) return;
    event.preventDefault();
    go(to);
  });
}
