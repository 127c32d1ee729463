import { signal } from "@preact/signals";
import { readFragment } from "../api/asked.ts";

/** The path in the address bar, without a trailing slash; "/" for the first page. */
export const path = signal(readPath());

function readPath(): string {
  return location.pathname.replace(/(.)\/+$/, "$1");
}

/** What follows "#" in the address bar, decoded; "" for none. */
export const fragment = signal(readFragment());

/** Goes to a page of the dashboard; `to` may have a query and a fragment. */
export function go(to: string): void {
  if (to !== location.pathname + location.search + location.hash) {
    history.pushState(null, "", to);
    letGoOfFocus();
  }
  follow();
  scrollTo(0, 0);
}

/** Names what the page shows in the address bar, so that the link to it can be shared. */
export function setFragment(text: string): void {
  const hash = text === "" ? "" : `#${encodeURIComponent(text)}`;
  history.replaceState(null, "", location.pathname + location.search + hash);
  fragment.value = text;
}

function follow(): void {
  path.value = readPath();
  fragment.value = readFragment();
}

/** The page that a visitor asked for before signing in; `fallback` when there is none. */
export function wantedPage(fallback: string): string {
  const wanted = new URLSearchParams(location.search).get("next") ?? "";
  const isOurs = URL.canParse(wanted, location.origin) && wanted.startsWith("/");
  const url = isOurs ? new URL(wanted, location.origin) : undefined;
  // "//host" and "/\\host" are other sites.
  return url?.origin === location.origin ? url.pathname + url.search + url.hash : fallback;
}

/** The sign-in or sign-up page, which leads back to the page of now. */
export function doorTo(door: "/sign-in" | "/sign-up"): string {
  void path.value; // links are drawn anew on each page
  const here = location.pathname + location.search + location.hash;
  if (path.value === "/" && location.hash === "") return door;
  const next = path.value.startsWith("/sign-") ? wantedPage("") : here;
  return next === "" ? door : `${door}?next=${encodeURIComponent(next)}`;
}

/** Links of the rail stay when their page comes: without the focus, its heading can take it and is read out. */
function letGoOfFocus(): void {
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
}

/** Paths that the server answers with something else than this page. */
const ELSEWHERE = /^\/(?:docs|openapi\.json|account|api)(?:\/|$)/;

function isPlainClick(event: MouseEvent): boolean {
  const { button, metaKey, ctrlKey, shiftKey, altKey } = event;
  return button === 0 && !metaKey && !ctrlKey && !shiftKey && !altKey && !event.defaultPrevented;
}

/** Follows links inside the dashboard without loading it again. */
export function startRouter(): void {
  addEventListener("popstate", follow);
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (
      link === null ||
      !isPlainClick(event) ||
      link.target !== "" ||
      link.hasAttribute("download")
    )
      return;
    if (link.origin !== location.origin || ELSEWHERE.test(link.pathname)) return;
    if (link.pathname === location.pathname && link.hash !== "") return;
    event.preventDefault();
    go(link.pathname + link.search + link.hash);
  });
}
