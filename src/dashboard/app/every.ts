import { useEffect, useRef } from "preact/hooks";

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
