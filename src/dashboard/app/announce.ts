import { signal } from "@preact/signals";

/** What a screen reader is told in passing: "Copied.", "Key revoked." */
export const announcement = signal("");

export function announce(text: string): void {
  announcement.value = "";
  requestAnimationFrame(() => {
    announcement.value = text;
  });
}
