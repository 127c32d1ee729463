/**
 * The check that an opened link names. The page's first script runs this file before all others, so that the answer comes
 * while they run. It imports nothing, because an import would run before it.
 */

interface Asked {
  readonly entry: string;
  readonly answer: Promise<Response>;
}

/** Path under which the dashboard is served, with a slash at its end: the page says it in its `base`. */
export const BASE = new URL(document.baseURI).pathname;

/** What stands behind "#" in the address bar, decoded; "" for none. */
export function readFragment(): string {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return ""; // a stray "%"
  }
}

/** Drops white space at both ends, as the server does; its own, see above. */
export const trimEntry = (text: string): string =>
  text.replace(/^[\s\u0085\u200b]+|[\s\u0085\u200b]+$/g, "");

/** Whether a link's "#" names an entry. */
export const isEntry = (linked: string): boolean => trimEntry(linked) !== "";

/** Sends one check. */
export const fetchCheck = (entry: string, signal?: AbortSignal): Promise<Response> =>
  fetch("account/check", {
    method: "POST",
    credentials: "same-origin",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ entry, features: ["all"] }),
    ...(signal === undefined ? {} : { signal }),
  });

function askLinked(): Asked | undefined {
  const linked = readFragment();
  if (location.pathname !== BASE || !isEntry(linked)) return undefined;
  const entry = trimEntry(linked);
  // A reload finds the answer in the history.
  if ((history.state as { entry?: string } | null)?.entry === entry) return undefined;
  const answer = fetchCheck(entry);
  answer.catch(() => undefined); // reported by the check that takes it
  return { entry, answer };
}

let asked = askLinked();

/** The answer on its way, for the page's first check alone; undefined when that is about another entry. */
export function takeAsked(entry: string): Promise<Response> | undefined {
  const known = asked;
  asked = undefined;
  return known?.entry === entry ? known.answer : undefined;
}
