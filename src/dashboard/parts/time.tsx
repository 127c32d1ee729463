import type { VNode } from "preact";
import { exactTime, nowMs, relativeTime, timeMs } from "../app/clock.ts";

/** "3 minutes ago", with the exact time on hover; `never` where there is none. */
export function Time({ at, never = "never" }: { at: string | null; never?: string }): VNode {
  if (at === null) return <span>{never}</span>;
  const ms = timeMs(at);
  return (
    <time dateTime={at} title={exactTime(ms)}>
      {relativeTime(ms, nowMs())}
    </time>
  );
}
