import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { countdown, nowMs } from "../app/clock.ts";

/** `words` with the time that is left in place of {time}; `past` when it is over. */
export function Countdown(props: { untilMs: number; words: string; past: string }): VNode {
  const [now, setNow] = useState(nowMs);
  useEffect(() => {
    const timer = setInterval(() => setNow(nowMs()), 1_000);
    return () => clearInterval(timer);
  }, []);
  if (now >= props.untilMs) return <>{props.past}</>;
  return <>{props.words.replace("{time}", countdown(props.untilMs - now))}</>;
}
