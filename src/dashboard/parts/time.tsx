import { signal } from "@preact/signals";
import type { VNode } from "preact";
import { t } from "../app/i18n.ts";
import { exactTime, nowMs, relativeTime, timeMs } from "../app/clock.ts";

const TICK_MS = 30_000;

/** Grows while the dashboard is open, so that "just now" does not stay so. */
const ticks = signal(0);

setInterval(() => (ticks.value += 1), TICK_MS);

/** "3 minutes ago", with the exact time on hover; `never` where there is none. */
export function Time({ at, never = t("never") }: { at: string | null; never?: string }): VNode {
  if (at === null) return <span>{never}</span>;
  const ms = timeMs(at);
  void ticks.value; // it is drawn anew with each
  return (
    <time dateTime={at} title={exactTime(ms)}>
      {relativeTime(ms, nowMs())}
    </time>
  );
}
