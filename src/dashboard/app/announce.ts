import { signal } from "@preact/signals";

/** Short announcements to a screen reader: "Copied.", "Key revoked." */
export const announcement = signal("");

export function announce(text: string): void {
  announcement.value = "";
  requestAnimationFrame(() => {
    announcement.value = text;
  });
}
