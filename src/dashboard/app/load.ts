import { useCallback, useLayoutEffect, useState } from "preact/hooks";
import { ApiFault, call, faultText } from "../api/client.ts";
import { signIns } from "./session.ts";

export type Loaded<Value> =
  | { readonly state: "loading" }
  | { readonly state: "failed"; readonly message: string }
  | { readonly state: "ready"; readonly value: Value };

export interface Loading<Value> {
  readonly loaded: Loaded<Value>;
  /** Asks again; what is shown stays until the new answer is there. */
  readonly reload: () => void;
}

/** Fetches `path` under `/account/` when the component appears and when `path` changes. */
export function useLoad<Value>(path: string): Loading<Value> {
  const [loaded, setLoaded] = useState<Loaded<Value>>({ state: "loading" });
  const [turn, setTurn] = useState(0);
  // Before the page is painted: the question is on its way meanwhile.
  useLayoutEffect(() => {
    let stale = false;
    const fail = (error: unknown): void => {
      // Who signs in again finds the page as it was.
      if (stale || (error instanceof ApiFault && error.status === 401)) return;
      setLoaded({ state: "failed", message: faultText(error) });
    };
    call<Value>("GET", path).then((value) => stale || setLoaded({ state: "ready", value }), fail);
    return () => {
      stale = true;
    };
  }, [path, turn, signIns.value]);
  const reload = useCallback(() => setTurn((known) => known + 1), []);
  return { loaded, reload };
}

export interface Action {
  readonly busy: boolean;
  /** What went wrong last time; "" when nothing did. */
  readonly fault: string;
  /** Runs `work` unless it is running already. */
  readonly run: (work: () => Promise<void>) => void;
  /** Takes the fault away, because what it was about has changed. */
  readonly clear: () => void;
}

/** One thing that a button does: busy while it runs, with its own fault text. */
export function useAction(): Action {
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState("");
  const run = (work: () => Promise<void>): void => {
    if (busy) return;
    setBusy(true);
    setFault("");
    work()
      .catch((error: unknown) => setFault(faultText(error)))
      .finally(() => setBusy(false));
  };
  return { busy, fault, run, clear: () => setFault("") };
}
