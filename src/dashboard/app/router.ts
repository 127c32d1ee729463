import { signal } from "@preact/signals";

/** The path in the address bar, without a trailing slash; "/" for the first page. */
export const path = signal(readPath());

function readPath(): string {
  return location.pathname.replace(/(.)\/+$/, "$1");
}

/** Goes to a page of the dashboard. */
export function go(to: string): void {
  if (to !== location.pathname) {
    history.pushState(null, "", to);
    letGoOfFocus();
  }
  path.value = readPath();
  scrollTo(0, 0);
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
  addEventListener("popstate", () => {
    path.value = readPath();
  });
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
    go(link.pathname);
  });
}
