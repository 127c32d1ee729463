import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiFault, call, faultText, isEnded } from "./client.ts";
import { nowMs } from "./format.ts";
import { changes, ownerId } from "./session.ts";

interface Loaded<Value> {
  readonly path: string;
  /** Stays until the next one is there. */
  readonly value?: Value;
  readonly atMs?: number;
  /** Why the last question got no answer; "" when it got one, and while the first is on its way. */
  readonly fault: string;
  /** There is no such thing, or not any more. */
  readonly isGone: boolean;
}

export type Loading<Value> = Omit<Loaded<Value>, "path"> & { readonly reload: () => void };

/**
 * Fetches `path` under `account/` when the component appears, and again when an argument changes: the stamp does so
 * after all that is done, unless it is another one.
 */
export function useLoad<Value>(
  path: string,
  stamp: string | number = changes.value,
): Loading<Value> {
  const [loaded, setLoaded] = useState<Loaded<Value>>({ path, fault: "", isGone: false });
  const [turn, setTurn] = useState(0);
  // Who signs in again finds the page as it was, and what got no answer is asked for again.
  const isAway = isEnded.value && ownerId() !== "";
  // Before the page is painted: the question is on its way meanwhile.
  useLayoutEffect(() => {
    if (isAway) return undefined;
    let stale = false;
    const fail = (error: unknown): void => {
      const status = error instanceof ApiFault ? error.status : 0;
      if (stale || status === 401) return;
      const failed = { path, fault: faultText(error), isGone: status === 404 };
      setLoaded((known) => ({ ...(known.path === path && known), ...failed }));
    };
    call<Value>("GET", path).then(
      (value) => stale || setLoaded({ path, value, atMs: nowMs(), fault: "", isGone: false }),
      fail,
    );
    return () => {
      stale = true;
    };
  }, [path, stamp, turn, isAway]);
  const reload = useCallback(() => setTurn((known) => known + 1), []);
  return { ...loaded, reload };
}

interface Action {
  readonly busy: boolean;
  readonly fault: string;
  /** Runs `work` unless it is running already; what the page shows is asked for again afterwards. */
  readonly run: (work: () => Promise<unknown>) => void;
  readonly clear: () => void;
}

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

export function usePolling(isOn: boolean, look: () => void, everyMs = 3_000): void {
  const latest = useRef(look);
  latest.current = look;
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setInterval(() => document.hidden || latest.current(), everyMs);
    return () => clearInterval(timer);
  }, [isOn, everyMs]);
}
