import type { VNode } from "preact";

/** A bar from 0 to 1. The figure is beside it as text, so screen readers skip the bar. */
export function Meter({ share, big = false }: { share: number; big?: boolean }): VNode {
  const width = `${String(Math.max(0, Math.min(100, share * 100)))}%`;
  return (
    <div class={big ? "meter big" : "meter"} aria-hidden="true">
      <i style={{ width }} />
    </div>
  );
}
