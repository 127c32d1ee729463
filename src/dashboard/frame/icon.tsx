import type { VNode } from "preact";

const PATHS = {
  check: "M3 9.5l4 4L15 4.5",
  lists: "M3 4.5h12M3 9h12M3 13.5h8",
  usage: "M3 15V9M7 15V3M11 15v-4M15 15V6",
  policy: "M9 2l6 2.5v4c0 4-2.6 6.3-6 7.5-3.4-1.2-6-3.5-6-7.5v-4z",
  more: "M3 9h.01M9 9h.01M15 9h.01",
} as const;
export type IconName = keyof typeof PATHS;

/** A small drawing beside a word that says the same. */
export function Icon({ name }: { name: IconName }): VNode {
  return (
    <svg class="icon" viewBox="0 0 18 18" aria-hidden="true">
      <path d={PATHS[name]} {...(name === "more" && { "stroke-width": "2.8" })} />
    </svg>
  );
}
