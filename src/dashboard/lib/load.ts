import type { ComponentType } from "preact";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiFault, call, faultText } from "./client.ts";
import { changes } from "./session.ts";

export interface Loading<Value> {
  readonly value?: Value;
  /** Why there is no value; "" while it is on its way. */
  readonly fault: string;
  /** Asks again; what is shown stays until the new answer is there. */
  readonly reload: () => void;
}

/** Fetches `path` under `account/` when the component appears, when `path` changes, and after all that is done. `stamp`
 * changes when the answer may have. */
export function useLoad<Value>(path: string, stamp = ""): Loading<Value> {
  const [loaded, setLoaded] = useState<{ value?: Value; fault: string }>({ fault: "" });
  const [turn, setTurn] = useState(0);
  // Before the page is painted: the question is on its way meanwhile.
  useLayoutEffect(() => {
    let stale = false;
    const fail = (error: unknown): void => {
      // Who signs in again finds the page as it was.
      if (stale || (error instanceof ApiFault && error.status === 401)) return;
      setLoaded({ fault: faultText(error) });
    };
    call<Value>("GET", path).then((value) => stale || setLoaded({ value, fault: "" }), fail);
    return () => {
      stale = true;
    };
  }, [path, stamp, turn, changes.value]);
  const reload = useCallback(() => setTurn((known) => known + 1), []);
  return { ...loaded, reload };
}

interface Action {
  readonly busy: boolean;
  /** What went wrong last time; "" when nothing did. */
  readonly fault: string;
  /** Runs `work` unless it is running already; what the page shows is asked for again afterwards. */
  readonly run: (work: () => Promise<unknown>) => void;
  /** Takes the fault away, because what it was about has changed. */
  readonly clear: () => void;
}

/** One thing that a button does: busy while it runs, with its own fault text. */
export function useAction(): Action {
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState("");
  const run = (work: () => Promise<unknown>): void => {
    if (busy) return;
    setBusy(true);
    setFault("");
    work()
      .then(() => (changes.value += 1))
      .catch((error: unknown) => setFault(faultText(error)))
      .finally(() => setBusy(false));
  };
  return { busy, fault, run, clear: () => setFault("") };
}

const EVERY_MS = 3_000;
/** Ten minutes; after that a reload looks again. */
const LOOKS_MAX = 200;

/** Looks every few seconds while `isOn` and the page is in sight. A look that fails is made up for by the next. */
export function useLooks(isOn: boolean, look: () => void | Promise<void>): void {
  const latest = useRef(look);
  latest.current = look;
  useEffect(() => {
    if (!isOn) return undefined;
    let looks = 0;
    const timer = setInterval(() => {
      if (document.hidden) return;
      looks += 1;
      if (looks >= LOOKS_MAX) clearInterval(timer);
      void Promise.resolve(latest.current()).catch(() => undefined);
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [isOn]);
}

/** How long typing has to rest before a search is sent. */
const REST_MS = 200;

/** `text` as it was when typing last rested, without blanks around it. */
export function useRested(text: string): string {
  const [rested, setRested] = useState(text.trim());
  useEffect(() => {
    const timer = setTimeout(() => setRested(text.trim()), REST_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return rested;
}

/** A page, or a part of one, whose code is fetched when it is wanted. */
export interface Loadable {
  readonly load: () => Promise<ComponentType>;
}

const parts = new Map<Loadable, ComponentType>();

/** The component whose code is here already. */
export const loadedPart = (part: Loadable): ComponentType | undefined => parts.get(part);

/** Fetches the code; undefined when that fails, or for no part at all. */
export async function loadPart(part: Loadable | undefined): Promise<ComponentType | undefined> {
  if (part === undefined) return undefined;
  try {
    const component = await part.load();
    parts.set(part, component);
    return component;
  } catch {
    return undefined;
  }
}
